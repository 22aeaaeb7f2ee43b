"""How a robot is modelled, in the words of every summary."""

import pytest

import lissom as ls
from lissom.describe.modelled import modelled, modelled_run, modelled_scenario


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "nonlinear, craig-bampton, 12 modes"),
        ({"modes": 1}, "nonlinear, craig-bampton, 1 mode"),
        ({"modes": "all"}, "nonlinear, craig-bampton, all modes"),
        ({"modes": [4, "all"]}, "nonlinear, craig-bampton, modes of the links 4, all"),
        (
            {"modes": {"count": 8, "ranking": "free"}},
            "nonlinear, craig-bampton, 8 modes (ranking free)",
        ),
        ({"formulation": "erls-fem"}, "erls-fem, nodal, all modes"),
        ({"formulation": "dual-screw"}, "dual-screw, assumed, 12 modes"),
        ({"basis": "nodal"}, "nonlinear, nodal, all modes"),
    ],
)
def test_formulation_basis_and_modes_are_named(changes, words):
    scenario = ls.Scenario(robot=ls.Robot.load("double-pendulum")).replace(changes)
    told = modelled_scenario(scenario)
    assert str(told) == words
    model = ls.Model.of_scenario(scenario)
    assert model.modelled == told
    assert words in str(model)


def test_a_run_says_the_same_as_its_model():
    model = ls.Model("simple-pendulum", modes=[3])
    run = ls.simulate(model, t_end=0.002)
    assert modelled_run(run.facts) == model.modelled
    assert "nonlinear, craig-bampton, modes of the links 3" in str(run)


def test_a_result_of_version_0_1_names_its_formulation_alone():
    assert str(modelled_run({"formulation": "erls-cms"})) == "erls-cms"


def test_a_reduction_of_python_is_described_in_words():
    told = modelled("erls-cms", None, ls.Reduction(modes=4))
    assert str(told).startswith("erls-cms, craig-bampton, modes Reduction(modes=4")


def test_modes_say_what_they_are_of():
    found = ls.modes(ls.Model("simple-pendulum", "erls-fem"), count=1)
    assert "erls-fem, nodal, all modes" in str(found)
