"""Typical mistakes in Python: each is refused in words that name the argument, the value and what is accepted."""

import jax.numpy as jnp
import numpy as np
import pytest

import lissom as ls
from lissom.analyse.validity.validity_warning import ValidityWarning
from lissom.runs.sources import scenario_from


def bar(name, **joint):
    body = {"mass": 1.0, "com": [0.2, 0, 0], "inertia": [0.01, 0.02, 0.02]}
    turning = {"type": "revolute", "origin": {}, "axis": [0, 0, 1]} | joint
    return {"name": name, "joint": turning, "rigid": body | {"tip": [0.4, 0, 0]}}


OUTER = bar("fore", origin={"xyz": [0.4, 0, 0]})
ARM = ls.Robot.from_dict({"name": "arm", "links": [bar("upper"), OUTER]})
MODEL = ls.Model(ARM)


@pytest.fixture(scope="module")
def run():
    return ls.simulate(MODEL, [0.1, 0.2], t_end=0.02, output_dt=0.01)


def simulate(**options):
    return ls.simulate(MODEL, **{"t_end": 0.01, "output_dt": 0.005} | options)


def spring(p):
    return jnp.eye(1), jnp.zeros((1, 1)), (4.0 + p[0]) * jnp.eye(1)


# What is done, and what the message says of it.
CALLS = {
    "a number for a robot": (lambda: ls.modes(3), ["robot: 3", "Robot", "name"]),
    "nothing for a robot": (lambda: ls.Model(None), ["robot: None", "path"]),
    "a misspelt robot": (
        lambda: ls.Model("double-pendulun"),
        ["double-pendulun", "double-pendulum"],
    ),
    "a formulation that is not": (
        lambda: ls.Model(ARM, "erls"),
        ["formulation", "'erls'", "erls-fem"],
    ),
    "a basis that is not": (
        lambda: ls.Model(ARM, basis="nodes"),
        ["basis", "'nodes'", "nodal"],
    ),
    "a reference that is not": (
        lambda: ls.Model(ARM, reference="tip"),
        ["reference", "'tip'", "minimum-norm"],
    ),
    "modes of a nodal basis": (
        lambda: ls.Model(ARM, "erls-fem", modes=5),
        ["modes: 5", "nodal", "craig-bampton"],
    ),
    "fewer modes than none": (lambda: ls.Model(ARM, modes=-1), ["modes", "-1", "all"]),
    "modes in words": (lambda: ls.Model(ARM, modes="few"), ["modes", "'few'", "all"]),
    "a pose that is too short": (lambda: MODEL.at([0.1]), ["q", "2", "upper, fore"]),
    "a pose that is too long": (lambda: MODEL.static([1, 2, 3]), ["q", "2", "(3,)"]),
    "a pose in words": (lambda: MODEL.at("home"), ["q: home", "number", "joint"]),
    "a pose that is no number": (
        lambda: MODEL.static([np.nan, 0.0]),
        ["q", "nan", "finite"],
    ),
    "a run of no length": (lambda: simulate(t_end=0), ["t_end: 0", "positive", "sec"]),
    "a run back in time": (lambda: simulate(t_end=-1), ["t_end: -1", "positive"]),
    "a duration in words": (lambda: simulate(t_end="1 s"), ["t_end: 1 s", "number"]),
    "no output step": (lambda: simulate(output_dt=0), ["output_dt: 0", "positive"]),
    "an output step beyond the end": (
        lambda: simulate(output_dt=1.0),
        ["output_dt: 1.0", "0.01 s"],
    ),
    "a misspelt option": (
        lambda: simulate(solver={"rtoll": 1e-8}),
        ["solver.rtoll", "1e-08", "'rtol'"],
    ),
    "a method that is not": (
        lambda: simulate(solver={"method": "rk4"}),
        ["solver.method", "rk4", "radau"],
    ),
    "a solver in words": (lambda: simulate(solver="radau"), ["solver: radau", "rtol"]),
    "too few torques": (
        lambda: simulate(torque=[1.0]),
        ["torque", "2", "upper, fore", "(1,)"],
    ),
    "a torque in words": (lambda: simulate(torque="none"), ["torque: 'none'", "joint"]),
    "a law of the wrong size": (
        lambda: simulate(torque=lambda t, state: jnp.zeros(3)),
        ["torque", "2", "upper, fore", "(3,)"],
    ),
    "a law of time alone": (
        lambda: simulate(torque=lambda t: jnp.zeros(2)),
        ["torque", "(t, state)"],
    ),
    "a law that returns nothing": (
        lambda: simulate(torque=lambda t, state: None),
        ["torque", "None", "return"],
    ),
    "gains for too few joints": (
        lambda: simulate(torque=ls.PD([5.0], [0.1], [0.0, 0.0])),
        ["kp", "2", "upper, fore", "(1,)"],
    ),
    "a reference in words": (
        lambda: ls.PD([5.0, 5.0], [0.1, 0.1], "home"),
        ["reference", "'home'", "Table"],
    ),
    "torque and inputs together": (
        lambda: simulate(torque=[0.0, 0.0], inputs=ls.Inputs(2)),
        ["torque or inputs", "give either"],
    ),
    "a state of another model": (
        lambda: simulate(state=ls.Model("simple-pendulum").at([0.1])),
        ["state", "another model", "2 joints"],
    ),
    "a table with a value too few": (
        lambda: ls.Table([0.0, 1.0], [[0.0, 0.0]]),
        ["value", "[[0.0, 0.0]]", "each of the 2 times", "not 1"],
    ),
    "a table that goes back in time": (
        lambda: ls.Table([0.0, 1.0, 0.5], [0, 1, 2]),
        ["t: [0.0, 1.0, 0.5]", "not decrease"],
    ),
    "a table of cubics": (
        lambda: ls.Table([0, 1], [0, 1], "cubic"),
        ["interpolation", "'cubic'", "linear, hold"],
    ),
    "inputs of a joint that is not": (
        lambda: ls.Inputs(2, torque=[(2, ls.Table([0, 1], [0, 1]))]),
        ["torque", "0 to 1", "Table"],
    ),
    "a torque of several values": (
        lambda: ls.Inputs(2, torque=[(0, ls.Table([0, 1], [[0, 1], [1, 2]]))]),
        ["torque", "0 to 1", "Table of single values"],
    ),
    "a wrench with too few parts": (
        lambda: ls.Inputs(2, wrenches=[(0, 1, ls.Table([0.0], [[0.0] * 6]))]),
        ["wrenches: (0, 1, Table", "in world axes", "find_node"],
    ),
    "a wrench with too few components": (
        lambda: ls.Inputs(2, wrenches=[(0, 1, True, ls.Table([0.0], [[1.0] * 3]))]),
        ["wrenches: (0, 1, True, Table", "six values (fx, fy, fz, mx, my, mz)"],
    ),
    "a wrench that is a table": (
        lambda: ls.Inputs(2, wrenches=[ls.Table([0.0], [[0.0] * 6])]),
        ["wrenches: Table", "(link, node, in world axes, Table)"],
    ),
    "a wrench on no node": (
        lambda: simulate(
            inputs=ls.Inputs(2, wrenches=[(1, 7, True, ls.Table([0.0], [[0.0] * 6]))])
        ),
        ["wrenches: link 1, node 7", "no such node", "find_node"],
    ),
    "inputs of another robot": (
        lambda: simulate(inputs=ls.Inputs(3)),
        ["inputs", "of 3 joints", "2 moving joints (upper, fore)"],
    ),
    "steps that are no times": (
        lambda: ls.rollout(MODEL, t_end=0.01, steps=np.array([0.0, 0.01, 0.005])),
        ["steps", "step_times", "do not decrease"],
    ),
    "steps in words": (
        lambda: ls.rollout(MODEL, t_end=0.01, steps="few"),
        ["steps: few", "step_times"],
    ),
    "a list for an expansion point": (
        lambda: ls.parametric_eigenpairs(spring, ["p0"], order=1, at=[0.1]),
        ["at: [0.1]", "mapping", "{'p0': 1.0}"],
    ),
    "an expansion point in words": (
        lambda: ls.parametric_eigenpairs(spring, ["p0"], at={"p0": "small"}),
        ["at: p0: small", "must be a number"],
    ),
    "a text for a list of parameters": (
        lambda: ls.parametric_eigenpairs(spring, "p0", at={"p0": 0.1}),
        ["parameters: p0", "['p0']"],
    ),
    "a text for a list of parameters of a robot": (
        lambda: ls.parametric_modes(MODEL, "fore"),
        ["parameters: fore", "['fore']"],
    ),
    "half a range": (
        lambda: ls.parametric_eigenpairs(spring, ["p0"], over={"p0": 0.5}),
        ["over: p0: 0.5", "(low, high)"],
    ),
    "no order": (
        lambda: ls.parametric_eigenpairs(spring, ["p0"], order=-1, at={"p0": 0.1}),
        ["order: -1", "0 or more"],
    ),
    "two matrices for three": (
        lambda: ls.parametric_eigenpairs(lambda p: (p, p), ["p0"], at={"p0": 0.1}),
        ["matrices", "three square matrices (M, C, K)"],
    ),
    "a scenario by position": (
        lambda: ls.Scenario("double-pendulum"),
        ["double-pendulum", "robot=", "load"],
    ),
    "a number for a scenario": (
        lambda: ls.run_scenario(3),
        ["scenario: 3", "Scenario", "path"],
    ),
    "a misspelt entry of a scenario": (
        lambda: ls.Scenario(robot=ARM, t_endd=1.0),
        ["t_endd", "'t_end'", "output_dt"],
    ),
    "a misspelt entry of a solver": (
        lambda: ls.Solver(rtoll=1e-8),
        ["rtoll", "'rtol'", "atol"],
    ),
    "no modes": (lambda: ls.modes(MODEL, count=0), ["count: 0", "positive"]),
    "an output that is not": (
        lambda: ls.linearize(MODEL, outputs=["fore/tip.aw"]),
        ["fore/tip.aw", "fore/tip.wz"],
    ),
    "an input that is not": (
        lambda: ls.linearize(MODEL, inputs=["fore.torqe"]),
        ["fore.torqe"],
    ),
    "a map over a mapping": (
        lambda: ls.mode_map(MODEL, {"fore": [0, 1]}),
        ["q", "fore", "array"],
    ),
    "a node that is not": (
        lambda: MODEL.fkine([0, 0], "fore/tpi"),
        ["fore/tpi", "fore/tip"],
    ),
    "a path that is not": (
        lambda: ARM.replace({"links.uper.rigid.mass": 1.0}),
        ["uper", "upper"],
    ),
    "a name that is not": (lambda: ls.simulat, ["simulat", "'simulate'"]),
}
QUESTIONS = {
    "a link that is not": (lambda run: run.position("foo/tip"), ["foo", "fore/tip"]),
    "a node beyond the last": (lambda run: run.position("fore/9"), ["fore/9", "node"]),
    "an energy that is not": (lambda run: run.energy("heat"), ["heat", "kinetic"]),
    "a quantity that is not": (lambda run: run.values("torqe"), ["torqe", "'torque'"]),
    "a column that is not": (lambda run: run.to_pandas("qdd"), ["qdd", "'qd'"]),
    "a time that is not": (lambda run: run.state(99), ["99", "3 output times"]),
}


def check(call, words):
    with pytest.raises((ValueError, TypeError, AttributeError)) as refusal:
        call()
    message = str(refusal.value)
    assert "\n" not in message
    missing = [word for word in words if word not in message]
    assert not missing, message


@pytest.mark.parametrize(("call", "words"), CALLS.values(), ids=CALLS)
def test_a_wrong_call_is_refused_in_words(call, words):
    check(call, words)


@pytest.mark.parametrize(("ask", "words"), QUESTIONS.values(), ids=QUESTIONS)
def test_a_wrong_question_to_a_run_is_refused_in_words(run, ask, words):
    check(lambda: ask(run), words)


def test_names_files_robots_and_data_are_taken_for_models(tmp_path):
    file = tmp_path / "arm.yaml"
    ARM.save(file)
    expected = ls.modes(MODEL, [0.1, 0.2]).frequency_hz
    for given in (ARM, str(file), file, ARM.to_dict()):
        assert np.array_equal(ls.modes(given, [0.1, 0.2]).frequency_hz, expected)


def test_a_robot_and_a_pose_stand_for_a_model_and_a_state():
    state = MODEL.static([0.1, 0.2])
    assert ls.check(ARM, [0.1, 0.2]) == ls.check(MODEL, MODEL.at([0.1, 0.2]))
    expected = np.asarray(ls.natural_frequencies(MODEL, state))
    assert np.array_equal(ls.natural_frequencies(ARM, [0.1, 0.2]), expected)
    assert len(ls.Family(ARM, {"links.fore.rigid.mass": [1.0, 2.0]})) == 2


def test_names_files_robots_and_data_are_taken_for_scenarios(tmp_path):
    file = tmp_path / "fall.yaml"
    fall = ls.Scenario(robot=ARM)
    fall.save(file)
    for given in (fall, file, str(file), fall.to_dict(), ARM):
        assert scenario_from(given) == fall


def test_the_old_name_of_mode_polynomials_works_and_says_the_new_one():
    with pytest.warns(DeprecationWarning, match="lissom.ModePolynomials"):
        assert ls.ParametricModes is ls.ModePolynomials


def test_old_names_of_warnings_work_and_say_the_new_ones():
    with pytest.warns(DeprecationWarning, match="lissom.check"):
        assert ls.doubts is ls.check
    known = ValidityWarning("E", "link fore", "few", 1.0, 2.0, "More")
    with pytest.warns(DeprecationWarning, match="known_warnings"):
        run = ls.simulate(ARM, [0.1, 0.2], t_end=0.001, doubts=[known])
    assert "link fore: few. More" in run.warnings
