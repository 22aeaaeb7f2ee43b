"""Formulation, basis and modes of a scenario: always named, in files that outlive the defaults too."""

import pytest

from lissom.describe import DescriptionError, Robot, Scenario, library_scenarios
from lissom.describe.old_files import NAMED
from lissom.files.description_files import find_file
from lissom.files.document import read_document


@pytest.mark.parametrize("name", library_scenarios())
def test_every_library_scenario_names_its_formulation_and_basis(name):
    data = read_document(find_file(name, scenario=True)).data
    assert {"formulation", "basis"} <= set(data)


def test_a_scenario_that_names_nothing_is_nonlinear_with_craig_bampton_modes():
    scenario = Scenario(robot=Robot.load("double-pendulum"))
    assert (scenario.formulation, scenario.basis) == ("nonlinear", "craig-bampton")
    assert scenario.modes == 12
    assert {"formulation", "basis", "modes"} <= set(scenario.to_dict())


def test_a_saved_scenario_names_what_it_was_run_with(tmp_path):
    scenario = Scenario(robot=Robot.load("double-pendulum"))
    scenario.save(tmp_path / "saved.yaml")
    data = read_document(tmp_path / "saved.yaml").data
    assert [data[name] for name in NAMED] == ["nonlinear", "craig-bampton", 12]
    again = Scenario.load(tmp_path / "saved.yaml")
    assert again == scenario and not again.is_old


def test_another_formulation_takes_its_own_basis_and_modes():
    scenario = Scenario(robot=Robot.load("double-pendulum"))
    nodal = scenario.replace({"formulation": "erls-fem"})
    assert (nodal.basis, nodal.modes) == ("nodal", "all")
    back = nodal.replace({"formulation": "erls-cms"})
    assert (back.basis, back.modes) == ("craig-bampton", 12)
    few = scenario.replace({"modes": 6}).replace({"formulation": "dual-screw"})
    assert (few.basis, few.modes) == ("assumed", 6)
    chosen = scenario.replace({"modes": {"method": "guyan"}})
    assert chosen.replace({"formulation": "erls-fem"}).modes == "all"


def old_file(tmp_path, **choices):
    """A scenario as version 0.1 saved it: what was its default is left out."""
    scenario = Scenario(robot=Robot.load("simple-pendulum"), formulation="erls-fem")
    data = {"lissom": 1, "robot": scenario.to_dict()["robot"], **choices, "t_end": 0.1}
    file = tmp_path / "old.yaml"
    file.write_text("".join(f"{key}: {value!r}\n" for key, value in data.items()))
    return file


def test_a_file_saved_by_0_1_runs_as_it_did_then(tmp_path):
    old = Scenario.load(old_file(tmp_path))
    assert old.is_old and (old.formulation, old.basis) == ("erls-fem", "nodal")
    modal = Scenario.load(old_file(tmp_path, formulation="erls-cms", modes=7))
    # Version 0.1 kept the lowest modes of the free link.
    assert modal.modes.count == 7 and modal.modes.ranking == "free"
    assumed = Scenario.load(old_file(tmp_path, formulation="nonlinear"))
    assert assumed.basis == "assumed"
    # A change keeps the record, until it names the formulation.
    assert old.replace({"t_end": 0.2}).is_old
    assert not old.replace({"formulation": "nonlinear"}).is_old


def test_a_new_file_by_hand_gets_the_new_default(tmp_path):
    file = tmp_path / "new.yaml"
    file.write_text("robot: simple-pendulum\nt_end: 0.1\n")
    scenario = Scenario.load(file)
    assert scenario.formulation == "nonlinear" and not scenario.is_old


def problem(**choices):
    with pytest.raises(DescriptionError) as caught:
        Scenario.from_dict({"robot": "double-pendulum", **choices})
    (found,) = caught.value.problems
    return str(found)


def test_modes_that_make_no_sense_are_refused_with_what_is_accepted():
    assert "mapping selects component modes, but the basis is nodal" in problem(
        basis="nodal", modes={"method": "guyan"}
    )
    assert "did you mean 'method'?" in problem(modes={"metod": "guyan"})
    assert "must be one of interface, free" in problem(modes={"ranking": "free-ish"})
    assert "number of assumed modes is unlimited" in problem(
        basis="assumed", modes="all"
    )
    assert "a frequency limit applies to free modes" in problem(
        modes={"below": 100, "ranking": "interface"}
    )
    assert "or a list with one of these for each link" in problem(modes="some")
    assert "must have one number for each of the 2 links" in problem(modes=[1, 2, 3])
