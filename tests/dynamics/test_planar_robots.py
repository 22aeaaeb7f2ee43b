"""Planar robots are spatial ones that stay in their plane: the same numbers, fewer coordinates."""

import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import lissom as ls
from helpers import compiled_once, motion_of
from lissom.dynamics import engine

# A bent beam, a slider, a rigid hand and every kind of inertia, in a plane and without anything that would leave it.
BEAM = {"material": {"E": 7.1e10, "nu": 0.31, "density": 2750}, "elements": 2}
FLAT = {
    "name": "flat",
    "gravity": [1.3, -9.2, 0],
    "damping": {"alpha": 0.9, "beta": 1.7e-4},
    "links": [
        {
            "name": "base",
            "joint": {
                "type": "revolute",
                "origin": {"xyz": [0.1, -0.2, 0], "rpy": [0, 0, 0.7]},
                "motor": {"inertia": 2e-3},
                "friction": {"viscous": 0.3},
            },
            "beam": {
                "path": [[0, 0, 0], [0.31, 0.08, 0], [0.35, 0.27, 0]],
                "section": {"shape": "rectangle", "y": 0.009, "z": 0.013},
                **BEAM,
            },
            "masses": [{"node": 1, "mass": 0.23, "inertia": [3e-4, 2e-4, 4e-4]}],
        },
        {
            "name": "slider",
            "joint": {
                "type": "prismatic",
                "origin": {"rpy": [3.141592653589793, 0, 0.4]},
                "axis": [0.5, 0.8, 0],
            },
            "rigid": {
                "mass": 1.7,
                "com": [0.06, -0.02, 0],
                "inertia": [2e-3, 3e-3, 2.5e-3],
                "tip": [0.13, 0.04, 0],
            },
        },
        {
            "name": "hand",
            "joint": {"type": "revolute", "axis": [0, 0, -1]},
            "beam": {
                "path": [[0, 0, 0], [0.26, -0.11, 0]],
                "section": {"shape": "rectangle", "y": 0.011, "z": 0.006},
                "up": [0.3, 1, 0],
                "theory": "timoshenko",
                **BEAM,
            },
        },
    ],
    "payload": {"mass": 0.41, "inertia": [4e-4, 6e-4, 5e-4], "offset": [0.02, 0.05, 0]},
}


def twins(reference="tangent", terms="consistent"):
    return [
        ls.Model(
            ls.Robot.from_dict({**FLAT, "planar": planar}),
            "erls-fem",
            reference=reference,
            terms=terms,
        )
        for planar in (True, False)
    ]


def embedding(flat, space):
    """Columns that put the coordinates of the planar model among those of its spatial twin."""
    names = [(*model.joint_names, *model.coordinate_names) for model in (flat, space)]
    return np.array([[float(a == b) for b in names[0]] for a in names[1]])


@compiled_once
def forces(formulation, x, xd, xdd):
    return engine.needed_force(
        formulation, formulation.motion(x, xd, xdd)
    ), engine.inertia_at(formulation, x)


@pytest.mark.parametrize(
    "reference, terms",
    [
        ("tangent", "consistent"),
        ("tangent", "published"),
        ("minimum-norm", "consistent"),
        ({"zeroed": ["base/tip.rz", "slider/tip.x", "hand/0.rz"]}, "consistent"),
    ],
)
def test_forces_and_inertia_are_those_of_the_spatial_twin_and_nothing_leaves_the_plane(
    reference, terms
):
    flat, space = twins(reference, terms)
    P = embedding(flat, space)
    motion = motion_of(flat.formulation, seed=3)
    force, M = forces(flat.formulation, *motion)
    whole, M_s = forces(space.formulation, *(jnp.asarray(P @ part) for part in motion))
    assert_allclose(P.T @ whole, force, rtol=0, atol=1e-12 * np.abs(force).max())
    assert_allclose(whole - P @ (P.T @ whole), 0, atol=1e-9 * np.abs(force).max())
    assert_allclose(P.T @ M_s @ P, M, rtol=0, atol=1e-12 * np.abs(M).max())


@pytest.mark.slow
def test_a_run_is_that_of_the_spatial_twin():
    options = {
        "t_end": 0.05,
        "output_dt": 0.01,
        "solver": {"rtol": 1e-9, "atol": 1e-11},
    }
    flat, space = (
        ls.simulate(model, model.static(q=[0.3, 0.05, -0.8]), **options)
        for model in twins()
    )
    assert_allclose(flat.data.position, space.data.position, atol=1e-9)
    assert_allclose(flat.data.position[..., 2], 0, atol=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["nonlinear", "dual-screw", "erls-cms"])
def test_every_formulation_sags_and_vibrates_as_its_spatial_twin(formulation):
    counts = {
        True: [12, 0, 6],
        False: [24, 0, 12],
    }  # every mode: both span all displacements of their nodes
    models = [
        ls.Model(
            ls.Robot.from_dict({**FLAT, "planar": planar}),
            formulation=formulation,
            modes=counts[planar],
        )
        for planar in (True, False)
    ]
    flat, space = (model.static(q=[0.3, 0.05, -0.8]) for model in models)
    assert_allclose(flat.torque, space.torque, rtol=1e-9)
    tips = [
        model.position(state, "hand/tip")
        for model, state in zip(models, (flat, space), strict=True)
    ]
    assert_allclose(tips[0], tips[1], atol=1e-10)
    found = ls.modes(models[0], flat, locked=True, count=6).frequency_hz
    others = ls.modes(models[1], space, locked=True, count=36).frequency_hz
    assert np.all(np.abs(found[:, None] / others - 1).min(axis=1) < 1e-8)
