"""Dual screws: the first-order expansion of `nonlinear`, derived twice; rigid limit, energy, order of what is left."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from arms import arm
from helpers import compiled_once, motion_of, relative, rigid_robot
from lissom import Model
from lissom.dynamics import engine
from lissom.dynamics.formulation import Rates
from lissom.dynamics.nodes import node_poses, node_wrench

MODES = {"arm-4": 6, "arm-6": 5}
ARMS = pytest.mark.parametrize("name", list(MODES))
WRENCH = jnp.array([1.0, -2.0, 3.0, 0.4, 0.5, -0.6])
NODE = 1  # of the last link


@functools.cache
def formulation(name, kind, terms="consistent"):
    return Model(arm(name), formulation=kind, modes=MODES[name], terms=terms).formulation


def parts(f, x, xd, xdd):
    """Generalised forces one by one: accelerations, speeds, weight, strain, wrenches on a node (world and link axes)."""
    zero = jnp.zeros_like(x)
    soft = eqx.tree_at(lambda f: (f.links.stiffness,), f, (0.0 * jnp.asarray(f.links.stiffness),))
    soft = eqx.tree_at(lambda f: (f.bent.stiffness,), soft, (0.0 * jnp.asarray(f.bent.stiffness),)) if hasattr(f, "bent") else soft
    weightless = eqx.tree_at(lambda f: f.gravity, soft, jnp.zeros(3))
    none = jnp.zeros(f.n_joints)
    weight, strain, _ = engine.resting_forces(f, x, none)

    def load(in_world):
        on_links = node_wrench(f, f.configuration(x), len(f.links.points) - 1, NODE, WRENCH, in_world)
        return engine.needed_force(weightless, x, zero, zero) - engine.needed_force(weightless, x, zero, zero, on_links)

    return {
        "M": engine.inertia(f, x),
        "M xdd": engine.needed_force(weightless, x, zero, xdd),
        "C u": engine.needed_force(weightless, x, xd, zero),
        "weight": weight,
        "K q": strain,
        "wrench": load(True),
        "wrench in link axes": load(False),
        "all": engine.needed_force(f, x, xd, xdd),
    }


@compiled_once
def itself(f, x, xd, xdd):
    return parts(f, x, xd, xdd)


@compiled_once
def expanded(f, x, xd, xdd):
    """Value without elastic motion, and the derivative along it: forward differentiation, elastic motion dual."""
    j = f.n_joints
    still, bent = (lambda v: v.at[j:].set(0.0)), (lambda v: v.at[:j].set(0.0))
    return jax.jvp(lambda x, xd: parts(f, x, xd, xdd), (still(x), still(xd)), (bent(x), bent(xd)))


@functools.cache
def states(name, bend):
    f = formulation(name, "dual-screw")
    return motion_of(f, seed=5, bend=bend, speed=1.7)


@ARMS
@pytest.mark.parametrize("bend", [1e-3, 0.2])
def test_published_terms_are_the_first_order_expansion_of_nonlinear(name, bend):
    # Far beyond small bending too: linear is linear.
    state = states(name, bend)
    found = itself(formulation(name, "dual-screw", "published"), *state)
    real, dual = expanded(formulation(name, "nonlinear"), *state)
    for part, value in found.items():
        assert relative(value, real[part] + dual[part]) < 1e-11, part
        if np.abs(dual[part]).max() > 0:
            assert relative(value - real[part], dual[part]) < 1e-10 / bend, part


@ARMS
def test_consistent_terms_have_the_same_first_order_expansion(name):
    state = states(name, 1e-3)
    found = expanded(formulation(name, "dual-screw"), *state)
    expected = expanded(formulation(name, "nonlinear"), *state)
    for order in (0, 1):
        for part in found[order]:
            assert relative(found[order][part], expected[order][part]) < 1e-10, (order, part)
