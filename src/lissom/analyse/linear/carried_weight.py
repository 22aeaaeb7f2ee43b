"""The second-order stiffness of carried weight at a point of a model, included on request."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from jaxnative.compiled import compiled_quickly

from ...dynamics.formulation import AbstractFormulation
from ...dynamics.weight_stiffness import (
    finite_rotation_model,
    lacks_weight_stiffness,
    weight_stiffness,
)
from ...files.errors import refused
from ...solve.model import Model
from ...types import Float
from .linear_matrices import LinearMatrices

_weight_stiffness = compiled_quickly(weight_stiffness)


def weight_stiffness_at(
    model: Model, formulation: AbstractFormulation, x: Float[Array, " n"]
) -> Float[np.ndarray, "n n"]:
    """Stiffness at x due to carried weight that first order leaves out; zero in formulations that include it."""
    if not lacks_weight_stiffness(formulation):
        return np.zeros((formulation.size, formulation.size))
    joints = formulation.mechanism.joint_coordinates(x)
    finite = finite_rotation_model(model.robot, model.bodies, model.choices, joints)
    return np.asarray(_weight_stiffness(formulation, finite, jnp.asarray(x)))


def require_consistent_terms(model: Model) -> None:
    """Refuse terms that must stay as a paper prints them.

    Raises:
        DescriptionError: with the field `weight_stiffness`.
    """
    if model.terms != "consistent":
        message = f"applies to consistent terms; {model.terms} terms stay as printed"
        raise refused("weight_stiffness", None, message)


def with_weight_stiffness(
    matrices: LinearMatrices,
    model: Model,
    formulation: AbstractFormulation,
    x: Float[Array, " n"],
) -> LinearMatrices:
    """The matrices of a linear model at x with the stiffness that first order leaves out."""
    K = np.asarray(matrices.K) + weight_stiffness_at(model, formulation, x)
    return matrices._replace(K=K)


def weight_note(model: Model) -> str | None:
    """Note on the carried weight that a linear model leaves out; None if nothing is."""
    has_weight = np.any(np.asarray(model.robot.gravity))
    if not has_weight or not lacks_weight_stiffness(model.formulation):
        return None
    adds = "weight_stiffness adds it"
    if model.terms != "consistent":
        adds = "weight_stiffness adds it to consistent terms"
    return (
        f"{model.formulation_name} leaves out the second-order stiffness of carried weight, which shifts low "
        f"frequencies by up to some percent: {adds}, and nonlinear has it"
    )
