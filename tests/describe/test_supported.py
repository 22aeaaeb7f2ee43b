"""What formulations can do is one table: a scenario that asks for more is refused when it is read."""

import pytest

from helpers import DATA
from lissom.describe import DescriptionError, Robot, Scenario
from lissom.describe.supported import (
    SUPPORT,
    Support,
    check_structure,
    register,
    structure_findings,
)

TANGENT = "takes tangent only: its joint coordinates are what the encoders read"
MODEST = Support(
    name="modest",
    bases=("nodal", "assumed"),
    default_basis="assumed",
    references=("tangent", "zeroed"),
    default_reference="tangent",
    trees=True,
)


@pytest.fixture
def modest():
    """A formulation from outside, taken back after the test."""
    register(MODEST)
    yield MODEST
    del SUPPORT["modest"]


def problems(robot="double-pendulum", **choices):
    data = {"robot": Robot.load(robot).to_dict(), **choices}
    with pytest.raises(DescriptionError) as caught:
        Scenario.from_dict(data)
    return [str(problem) for problem in caught.value.problems]


def test_four_formulations_come_with_the_package():
    # Tests may have registered more: those come after the package's own.
    assert list(SUPPORT)[:4] == ["erls-fem", "erls-cms", "dual-screw", "nonlinear"]
    assert all(name == support.name for name, support in SUPPORT.items())


CASES = [
    ({"formulation": "nonlinear", "reference": "minimum-norm"}, f"nonlinear {TANGENT}"),
    (
        {
            "formulation": "dual-screw",
            "reference": {"zeroed": ["upper/tip.rz", "lower/0.rz"]},
        },
        f"dual-screw {TANGENT}",
    ),
    (
        {"formulation": "nonlinear", "terms": "published"},
        "terms: published: nonlinear has only consistent terms: leave out terms, or set consistent",
    ),
    (
        {
            "formulation": "nonlinear",
            "reference": {"zeroed": ["upper/tip.rz", "lower/0.rz"]},
        },
        "what the encoders read. Set reference: tangent, or for zeroed choose erls-fem or erls-cms",
    ),
    (
        {"formulation": "erls-cms", "basis": "assumed"},
        "basis: assumed: erls-cms takes craig-bampton: for assumed choose dual-screw or nonlinear",
    ),
    (
        {"formulation": "erls-fem", "terms": "published-planar"},
        "terms: published-planar: these terms are published for planar mechanisms: "
        "set planar: true in the robot, or choose",
    ),
    (
        {"formulation": "dual-screw", "terms": "published-planar"},
        "terms: published-planar: dual-screw takes consistent or published; published-planar belongs to erls-fem",
    ),
    (
        {"formulation": "erls-fem", "stiffening": "geometric", "terms": "published"},
        "stiffening: geometric: published terms have no geometric stiffening: leave it out, or use consistent terms",
    ),
]


@pytest.mark.parametrize("choices, message", CASES)
def test_a_choice_that_the_formulation_does_not_offer_is_refused(choices, message):
    (found,) = problems(**choices)
    assert message in found


def test_a_closed_chain_is_refused_when_the_scenario_is_read():
    (found,) = problems("five-bar", formulation="dual-screw")
    assert (
        found == "loops: the formulation dual-screw takes open chains only: "
        "use erls-fem or erls-cms or nonlinear"
    )


def test_solids_without_second_order_displacements_are_not_stiffened():
    arm = Robot.load("solid-arm").to_dict()
    # As `reduce` of 0.1 wrote it.
    arm["links"][0]["fe"]["file"] = str(DATA / "fe" / "solid-arm-0.1.npz")
    choices = {"formulation": "nonlinear", "stiffening": "geometric"}
    with pytest.raises(DescriptionError) as caught:
        Scenario.from_dict({"robot": arm, **choices})
    assert "the file of link upper has none: write it again by `lissom" in str(
        caught.value
    )


def branched_robot():
    five = Robot.load("five-bar").to_dict()
    for key in ("loops", "independent", "assembly"):
        del five[key]
    return five


def test_a_tree_is_refused_with_the_key_that_makes_it_one():
    tree = Robot.from_dict(branched_robot())
    serial = Support("serial", default_basis="nodal")
    with pytest.raises(
        DescriptionError, match="parent: the formulation serial takes serial chains"
    ):
        check_structure(serial, tree)
    for support in SUPPORT.values():
        if support.trees:
            check_structure(support, tree)


def test_a_closed_chain_in_error_elsewhere_is_refused_with_all_its_errors():
    data = Robot.load("four-bar").to_dict() | {"gravity": [0, 0]}
    with pytest.raises(DescriptionError) as caught:
        Scenario.from_dict({"robot": data, "formulation": "dual-screw"})
    fields = {problem.field for problem in caught.value.problems}
    assert fields == {"robot.gravity", "loops"}


def test_an_unknown_formulation_is_the_only_problem_of_its_choices():
    (found,) = problems(formulation="nonlinaer", basis="nodal")
    assert "did you mean 'nonlinear'?" in found


@pytest.mark.parametrize("value", [3, ["nonlinear"], {"name": "nonlinear"}])
def test_a_formulation_is_named_by_text(value):
    (found,) = problems(formulation=value)
    assert "must be one of erls-fem, erls-cms, dual-screw, nonlinear" in found


def test_a_registered_formulation_can_be_named_in_scenarios(modest):
    robot = Robot.load("double-pendulum")
    scenario = Scenario(robot=robot, formulation="modest", basis="nodal")
    assert scenario.formulation == "modest"


def test_a_registered_formulation_is_held_to_what_it_declares(modest):
    (found,) = problems(formulation="modest", basis="craig-bampton")
    assert found.startswith("basis: craig-bampton: modest takes nodal or assumed: for")
    (found,) = problems(formulation="modest", stiffening="geometric")
    assert "modest has no geometric stiffening: choose erls-fem or erls-cms" in found
    (found,) = problems(formulation="modest", reference="minimum-norm")
    assert found == "reference: minimum-norm: modest takes tangent or zeroed only"
    (found,) = problems("five-bar", formulation="modest")
    assert (
        "modest takes open chains only: use erls-fem or erls-cms or nonlinear" in found
    )
    tree = Robot.from_dict(branched_robot())
    assert structure_findings(modest, tree.outline) == []


def test_two_formulations_cannot_share_a_name():
    other = Support("nonlinear", default_basis="nodal")
    with pytest.raises(ValueError, match="another formulation is called 'nonlinear'"):
        register(other)
    assert register(SUPPORT["nonlinear"]) is SUPPORT["nonlinear"]


def test_a_default_must_be_among_the_choices():
    with pytest.raises(
        ValueError, match="odd: default_basis must be one of nodal, got 'assumed'"
    ):
        Support("odd", default_basis="assumed", bases=("nodal",))


def test_a_formulation_that_names_its_basis_alone_has_no_other():
    least = Support("least", default_basis="nodal")
    assert least.bases == ("nodal",) and least.references == ("tangent",)
    assert not (least.trees or least.loops or least.stiffening)


@pytest.mark.parametrize("formulation", list(SUPPORT))
@pytest.mark.parametrize("wrong", [["nodal"], {"nodal": 1}, 3])
def test_a_basis_of_another_kind_is_refused_whatever_the_formulation(
    formulation, wrong
):
    found = problems(formulation=formulation, basis=wrong)
    assert any("must be one of assumed, craig-bampton, nodal" in text for text in found)
