"""Cases of the fuzz run that are kept: some of every kind, and those that once failed."""

from random import Random

import pytest

from fuzz import chaos, kinds
from fuzz.audits import energy_audit, motion_audit
from fuzz.outcome import Case
from fuzz.robots import AGENDA
from fuzz.structures import STRUCTURES

SEEDS = {
    "files": range(1000, 1400),
    "lines": range(100, 130),
    "schema": range(3),
}
TROUBLES = {trouble.__name__: trouble for trouble in chaos.TROUBLES}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("kind", SEEDS)
def test_stored_cases_end_well(folder, kind):
    bad = {}
    for seed in SEEDS[kind]:
        outcome = kinds.run(Case(kind, seed), folder)
        if not outcome.is_good:
            bad[seed] = outcome.text
    assert not bad


@pytest.mark.slow
@pytest.mark.parametrize(
    "entry", range(len(AGENDA)), ids=[" ".join(names) for names in AGENDA]
)
def test_robots_of_every_structure_pass_every_audit(folder, entry):
    outcome = kinds.run(Case("robots", entry), folder)
    assert outcome.is_good, outcome.text


@pytest.mark.slow
def test_a_robot_that_hardly_moves_keeps_its_energy():
    # 6 nJ change hands, of which steps at rtol 1e-9 lose 3e-6.
    structure = STRUCTURES["slider-crank"]
    (found,) = energy_audit(structure, structure.make(17948400000), 0)
    assert found.is_right


@pytest.mark.slow
def test_forces_that_nearly_cancel_give_accelerations_to_their_rounding():
    # 1e5 N of elastic force cancel; inertia asks for 1e-4 N.
    structure = STRUCTURES["four-bar"]
    found = motion_audit(structure, structure.make(17948420049), 17948420049)
    assert all(measured.is_right for measured in found)


@pytest.mark.slow
@pytest.mark.parametrize("trouble", TROUBLES)
def test_commands_in_trouble_end_in_words(folder, trouble):
    (folder / "reed.yaml").write_text(chaos.REED)
    for seed in range(2):
        assert not TROUBLES[trouble](folder, Random(seed))
