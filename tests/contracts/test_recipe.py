"""The recipe "How to add a formulation" of CONTRIBUTING.md, followed: one file gives a working formulation."""

import functools
from pathlib import Path

import numpy as np
import own_formulation
import pytest
from numpy.testing import assert_allclose

import lissom as ls
from lissom.dynamics.formulation import AbstractFormulation

Q = [0.3, -0.7]
ROUND = (
    1e-9  # two derivations of one motion, behind Newton's iteration and an eigenproblem
)


@functools.cache
def models():
    """The double pendulum in the own formulation, and in the one that writes the same motion by hand."""
    return (
        ls.Model("double-pendulum", "own"),
        ls.Model("double-pendulum", "nonlinear", basis="nodal"),
    )


def test_the_recipe_fits_in_sixty_lines_and_overrides_nothing_but_the_places():
    lines = Path(own_formulation.__file__).read_text().splitlines()
    assert len(lines) < 60
    own = vars(own_formulation.OwnFormulation)
    written = [name for name in vars(AbstractFormulation) if name in own]
    functions = [name for name in written if callable(own[name]) and name[0] != "_"]
    assert functions == ["configuration"]


def test_the_recipe_in_contributing_names_what_its_example_uses():
    root = Path(__file__).parents[2]
    recipe = (root / "CONTRIBUTING.md").read_text()
    recipe = recipe.partition("## How to add a formulation")[2].partition("\n## ")[0]
    example = Path(own_formulation.__file__).read_text()
    for name in (
        "Support",
        "AbstractFormulation",
        "configuration",
        "parts_of",
        "links_of",
        "register_formulation",
        "VirtualWork",
    ):
        assert name in recipe and name in example, name
    assert "tests/contracts/own_formulation.py" in recipe


def test_it_hangs_and_rings_as_the_formulation_that_was_derived_by_hand():
    own, other = models()
    states = [model.static(q=Q) for model in (own, other)]
    assert_allclose(states[0].x, states[1].x, atol=ROUND)
    assert_allclose(states[0].torque, states[1].torque, rtol=ROUND)
    tips = [
        model.position(state, "lower/tip")
        for model, state in zip((own, other), states, strict=True)
    ]
    assert_allclose(*tips, atol=ROUND)
    rings = [
        ls.modes(model, state, locked=True, count=4).frequency_hz
        for model, state in zip((own, other), states, strict=True)
    ]
    assert_allclose(*rings, rtol=ROUND)


@pytest.mark.slow
def test_it_is_linearised_like_the_other():
    small = [ls.linearize(model, Q, outputs=["lower/tip.px"]) for model in models()]
    for part in "ABCD":
        one, other = (np.asarray(getattr(model, part)) for model in small)
        assert_allclose(one, other, atol=1e-8 * (np.abs(other).max() + 1e-300))


@pytest.mark.slow
def test_it_swings_like_the_other():
    runs = [
        ls.simulate(model, model.static(q=Q), t_end=0.02, output_dt=0.01)
        for model in models()
    ]
    tips = [run.data["position"].values[-1, -1] for run in runs]
    # Both runs take steps to a relative tolerance of 1e-6, the same ones but for round-off.
    assert_allclose(*tips, atol=1e-9)
    assert np.abs(tips[0] - runs[0].data["position"].values[0, -1]).max() > 1e-4


def tree():
    """Both links of the double pendulum stand on the ground."""
    data = ls.Robot.load("double-pendulum").to_dict()
    data["links"][1]["parent"] = "ground"
    return ls.Robot.from_dict(data)


@pytest.mark.parametrize(
    "choice, message",
    [
        ({"stiffening": "geometric"}, "own has no geometric stiffening: choose erls"),
        ({"reference": "minimum-norm"}, "own takes tangent only"),
        ({"terms": "published"}, "own has only consistent terms"),
        (
            {"basis": "assumed"},
            "own takes nodal: for assumed choose dual-screw or nonlinear",
        ),
    ],
)
def test_what_it_does_not_declare_is_refused(choice, message):
    with pytest.raises(ValueError, match=message):
        ls.Model("double-pendulum", "own", **choice)


@pytest.mark.parametrize("robot, what", [("four-bar", "loops"), (None, "parent")])
def test_trees_and_loops_are_refused_where_they_are_not_declared(robot, what):
    message = f"{what}: the formulation own takes serial chains only: use erls-fem or"
    with pytest.raises(ValueError, match=message):
        ls.Model(robot or tree(), "own")
