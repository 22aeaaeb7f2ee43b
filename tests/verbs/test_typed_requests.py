"""Verbs called from Python: numbers in, typed results out, one model for a request and nothing compiled twice."""

import json
import sys

import jax
import numpy as np
import pytest
from pydantic import ValidationError

import lissom as ls
from lissom.bodies import link_body
from lissom.describe import DescriptionError, Scenario
from lissom.runs import run  # noqa: F401  (in place before they are counted)
from lissom.runs.robot_table import robot_table
from lissom.runs.saved_run import saved_run
from lissom.show import robot_scene  # noqa: F401
from lissom.solve.model import Model
from lissom.verbs.declared import request_type, schema_of
from lissom.verbs.registry import verb_named, verbs
from performed import performed

COMPILING = "/jax/core/compile/backend_compile_duration"


@pytest.mark.parametrize("name", verbs())
def test_every_verb_has_a_json_schema(name):
    json.dumps(request_type(verb_named(name)).model_json_schema())
    json.dumps(schema_of(verb_named(name)))


def test_modes_take_numbers_and_give_numbers():
    found = performed("modes", "double-pendulum", q=(0.0, 1.57), locked=True, count=2)
    modes = found.result
    assert modes.frequency_hz.shape == (2,) and modes.frequency_hz[0] > 1.0
    answer = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert answer["locked"] and answer["q"]["lower"] == 1.57
    assert answer["frequency_hz"] == modes.frequency_hz.tolist()


def test_arrays_are_joint_coordinates_too():
    request = request_type(verb_named("static"))(q=np.array([0.1, 0.2]))
    assert request.model_dump()["q"] == (0.1, 0.2)


def test_torques_of_held_joints_and_a_mode_that_is_not_there_are_refused(tmp_path):
    with pytest.raises(DescriptionError, match="only free joints"):
        performed("static", "double-pendulum", torque=(1.0, 0.0))
    page = str(tmp_path / "mode.html")
    with pytest.raises(DescriptionError, match="at most 2"):
        performed("modes", "double-pendulum", count=2, mode=3, animate=page)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "request_with, message",
    [
        (lambda: request_type(verb_named("modes"))(q="0,1.57"), "tuple"),
        (lambda: request_type(verb_named("modes"))(locket=True), "locket"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused_when_it_is_made(
    request_with, message
):
    with pytest.raises(ValidationError, match=message):
        request_with()


def test_a_map_wants_axes_or_a_run_and_says_so():
    with pytest.raises(DescriptionError, match="say over what"):
        performed("mode-map", "double-pendulum")
    with pytest.raises(DescriptionError, match="points: 0: must be one or more"):
        ls.MapAxis("upper", 0.0, 1.0, 0)


@pytest.mark.parametrize("unused", [{"kp": 1.0}, {"kd": 1.0}, {"frozen": True}])
def test_what_polynomials_do_not_use_is_refused(unused):
    axis = {"name": "upper", "start": 0.0, "stop": 1.0}
    with pytest.raises(DescriptionError, match="polynomials are of the robot alone"):
        performed("mode-map", "planar-2r", over=(axis,), polynomial=1, **unused)


# --- built once, compiled once -------------------------------------------------------------------------------------


@pytest.fixture
def built(monkeypatch):
    """How many models, and how many bodies of each link, were built."""
    counts = {"models": 0, "bodies": {}}
    make_model, make_body = Model.__init__, link_body.body_of

    def counting_model(self, *args, **kwargs):
        counts["models"] += 1
        make_model(self, *args, **kwargs)

    def counting_body(robot, i):
        name = robot.links[i].name
        counts["bodies"][name] = counts["bodies"].get(name, 0) + 1
        return make_body(robot, i)

    monkeypatch.setattr(Model, "__init__", counting_model)
    # Modules import the function by its name: each of them has one to be replaced.
    for module in modules_that_import("body_of", make_body):
        monkeypatch.setattr(module, "body_of", counting_body)
    return counts


def modules_that_import(name, function):
    loaded = [module for key, module in sys.modules.items() if key.startswith("lissom")]
    return [module for module in loaded if getattr(module, name, None) is function]


def a_millisecond():
    changes = {"t_end": 0.001, "output_dt": 0.001}
    return saved_run("anthropomorphic", changes=changes)


def test_a_simulation_builds_one_model(built):
    # Its zeroed displacements are checked on a model before the run, which goes on with the same one.
    assert isinstance(Scenario.load("anthropomorphic").reference, dict)
    assert a_millisecond().complete
    assert built["models"] == 1


def test_a_simulation_builds_the_body_of_each_link_once(built):
    assert a_millisecond().complete
    assert built["bodies"] == {"column": 1, "upper": 1, "fore": 1}


def test_a_picture_of_a_closed_chain_takes_one_model(built, tmp_path):
    robot_table("four-bar").plot(tmp_path / "four-bar.png")
    assert built["models"] == 1


@pytest.fixture
def compilations():
    """What is compiled from now on."""
    names = []

    def listen(event, duration, **_):
        if event == COMPILING:
            names.append(event)

    jax.monitoring.register_event_duration_secs_listener(listen)
    yield names
    jax.monitoring.unregister_event_duration_listener(listen)


def test_a_second_request_with_the_same_structure_compiles_nothing(
    compilations, tmp_path
):
    def ask(q, stiffness):
        robot = {
            "robot": "double-pendulum",
            "q": q,
            "changes": {"links.upper.beam.material.E": stiffness},
        }
        performed("static", **robot)
        picture = str(tmp_path / "picture.png")
        robot_table("double-pendulum", q, changes=robot["changes"]).plot(picture)
        performed("modes", **robot, locked=True, count=2, plot=picture)

    jax.jit(lambda x: x + 1.0)(0.0)
    assert compilations  # the listener hears
    ask((0.1, 0.2), 2e11)
    compilations.clear()
    ask((0.3, -0.2), 1e11)
    assert not compilations
