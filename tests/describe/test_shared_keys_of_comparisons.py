"""Keys that a comparison of controllers shares with its controllers stay what each controller says of them."""

import json

import pytest

from lissom.describe.control_study import ControlStudy
from lissom.files.description_files import library_studies

SCENARIO = {"robot": "simple-pendulum"}
MOTION = {"t": [0, 0.2], "value": [[-1.4], [-1.1]], "interpolation": "quintic"}
GAINS = {"kp": [20], "kd": [1]}
# Each has a key of its own that equals the default of its type, and not that of the study.
LAWS = {
    "shared": {"type": "pid", "gains": GAINS},
    "own sample": {"type": "pid", "gains": GAINS, "sample": 1e-3},
    "own feed-forward": {"type": "pid", "gains": GAINS, "feedforward": "quasi-static"},
    "continuous": {"type": "pd", **GAINS, "sample": None},
}
STUDY = {"scenario": SCENARIO, "motion": MOTION, "sample": 2e-4, "feedforward": "rigid"}


def shared(study: ControlStudy) -> dict:
    """Sample period and feed-forward of every controller."""
    return {
        name: (law.sample, getattr(law, "feedforward", None))
        for name, law in study.controllers.items()
    }


@pytest.fixture(scope="module")
def study():
    return ControlStudy.from_dict({**STUDY, "controllers": LAWS})


def test_a_controllers_own_key_outlives_saving(study):
    again = ControlStudy.from_dict(json.loads(json.dumps(study.to_dict())))
    assert again == study
    assert again.controllers["own sample"].sample == 1e-3
    assert again.controllers["continuous"].sample is None


def test_a_change_elsewhere_leaves_the_controllers_own_keys_alone(study):
    changed = study.replace({"payload.mass": 0.1, "motion.t.1": 0.3})
    assert shared(changed) == shared(study)


def test_a_change_of_a_shared_key_reaches_those_that_have_it_from_the_study(study):
    samples = {n: s for n, (s, _) in shared(study.replace({"sample": 5e-4})).items()}
    assert samples == {
        "shared": 5e-4,
        "own sample": 1e-3,
        "own feed-forward": 5e-4,
        "continuous": None,
    }


@pytest.mark.parametrize("name", library_studies())
def test_studies_of_the_library_keep_their_sample_periods(name):
    study = ControlStudy.load(name)
    assert shared(study.replace({"solver.rtol": 1e-8})) == shared(study)
