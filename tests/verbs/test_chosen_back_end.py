"""The back end that a scenario chooses is the one that every verb computes with."""

import pytest

from jaxnative.compiled import chosen_backend
from lissom.describe import Scenario
from lissom.describe.control_study import ControlStudy
from lissom.runs.controller_design import design_controller
from lissom.runs.dry_run import check_start
from lissom.runs.saved_run import saved_run
from lissom.solve.model import Model
from lissom.studies.controller_comparison import compare_controllers
from performed import performed

NAME = "double-pendulum"
XLA = {"solver.backend": "xla"}


def map_of_modes():
    axis = {"name": "upper", "start": 0.0, "stop": 1.0, "points": 2}
    performed("mode-map", NAME, XLA, over=(axis,))


def polynomials():
    axis = {"name": "upper", "start": 0.0, "stop": 1.0}
    performed("mode-map", NAME, XLA, over=(axis,), polynomial=1)


def linear_model():
    # A frequency response is that of this model.
    performed("linearize", NAME, XLA)


def dry_run():
    check_start(Scenario.load(NAME).replace(XLA))


def run():
    saved_run(NAME, changes=XLA)


def designed_law():
    scenario = Scenario.load("anthropomorphic-b").replace(XLA)
    design_controller(scenario)


def comparison():
    study = ControlStudy.load(NAME)
    changed = study.model_copy(update={"changes": {**study.changes, **XLA}})
    compare_controllers(changed)


class Reached(Exception):
    """Here the computation would begin."""


@pytest.mark.parametrize(
    "verb",
    [map_of_modes, polynomials, linear_model, dry_run, run, designed_law, comparison],
)
def test_a_verb_computes_with_the_back_end_of_its_scenario(verb, monkeypatch):
    def stop(scenario):
        raise Reached(chosen_backend("auto"))

    monkeypatch.setattr(Model, "of_scenario", stop)
    with pytest.raises(Reached, match="xla"):
        verb()
    assert chosen_backend("auto") == "auto"
