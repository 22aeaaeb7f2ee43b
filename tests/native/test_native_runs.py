"""Both back ends give the same equations, the same analyses and the same runs, for every robot of the library."""

import logging

import jax
import numpy as np
import pytest

import lissom as ls
from jaxnative.compilation import CompiledAhead
from jaxnative.compiled import NativeAhead, compiling, using
from lissom.describe.scenario import Scenario
from lissom.files.description_files import library_names
from lissom.runs.start import start_scenario
from lissom.solve.inputs import Inputs
from lissom.solve.march import DrivenRobot
from lissom.solve.signals import Spline, Table
from sampled_laws import DESCRIBED, pendulum, sampled_law
from solve.mechanisms import slider_driven

SHORT = 0.02  # [s]
METHODS = ("radau", "generalised-alpha", "dopri5", "dopri8", "tsit5")
SHOWN = ("q", "qd", "position", "torque", "energy")
# Errors count for nothing, and every step is the longest one allowed.
FIXED = {"rtol": 0.1, "atol": 1e6, "max_step": 1e-3, "first_step": 1e-3}
# Explicit methods are stable where steps are shorter than the fastest vibration of the links.
EXPLICIT = ("dopri5", "dopri8", "tsit5")
SHORT_STEPS = {"max_step": 1e-6, "first_step": 1e-6, "t_end": 2e-3}


@pytest.fixture
def only_native(caplog):
    """A function that fails where something was left to XLA."""
    caplog.set_level(logging.INFO, "lissom.native")

    def check():
        assert not caplog.records

    return check


def assert_close(value, wanted, share):
    """Arrays agree to a share of their largest number."""
    value, wanted = np.asarray(value), np.asarray(wanted)
    scale = np.max(np.abs(wanted), initial=0.0, where=np.isfinite(wanted)) + 1e-9
    np.testing.assert_allclose(value, wanted, rtol=0, atol=share * scale)


# --- equations -----------------------------------------------------------------------------------------------------


def equations(robot, joints, t, x, xd, xdd):
    """The residual of a motion, and its derivatives."""
    problem = robot.on_piece(0).on_branch_near(joints)
    tangents, _ = problem.matrices(t, x, xd)
    derivatives = (tangents.M, tangents.D, tangents.K)
    return problem.residual(t, x, xd, xdd), derivatives


@pytest.mark.slow
@pytest.mark.parametrize("name", library_names())
def test_residuals_and_matrices_agree(name, only_native):
    scenario = Scenario.load(name)
    start = start_scenario(scenario)
    model, state = start.model, start.state
    schedule = start.inputs.schedule(scenario.t_end)
    robot = DrivenRobot(model.formulation, schedule)
    rng = np.random.default_rng(3)
    n, j = model.formulation.size, model.formulation.n_joints
    bent = np.concatenate([np.zeros(j), 1e-4 * rng.normal(size=n - j)])
    motion = (np.asarray(state.x) + bent, rng.normal(size=n), rng.normal(size=n))
    arguments = (robot, np.asarray(state.q), np.asarray(0.0), *motion)
    native = NativeAhead(equations, lambda robot, *_: robot.formulation)(*arguments)
    only_native()
    xla = CompiledAhead(equations)(*arguments)
    for value, wanted in zip(
        jax.tree.leaves(native), jax.tree.leaves(xla), strict=True
    ):
        assert_close(value, wanted, 1e-12)


# --- analyses ------------------------------------------------------------------------------------------------------


def analyses(model, q):
    """Equilibrium, torques, frequencies and linear model at a pose."""
    state = model.static(q)
    linear = ls.linearize(model, state)
    return {
        "x": state.x,
        "held": state.torque,
        "inverse dynamics": model.inverse_dynamics(q),
        "frequencies": ls.modes(model, state, count=None).frequency_hz,
        # Rows of C that are zero hold rounding times the largest number of A, which is 1e12 for stiff links.
        "A": linear.A,
        "B": linear.B,
        "mass matrix": model.mass_matrix(state),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", library_names())
def test_analyses_agree(name, only_native):
    scenario = Scenario.load(name)
    model = ls.Model.of_scenario(scenario)
    with using("native"):
        native = analyses(model, scenario.initial.q)
    only_native()
    with using("xla"):
        xla = analyses(model, scenario.initial.q)
    for quantity, wanted in xla.items():
        # Newton's iteration stops at 1e-11 of the unknowns; what rests on its result can be no closer.
        assert_close(native[quantity], wanted, 1e-9)


# --- runs ----------------------------------------------------------------------------------------------------------


def run_of(name, backend, t_end=SHORT, **changes):
    """A short run of a library scenario."""
    scenario = Scenario.load(name)
    solver = scenario.solver.model_copy(update={"backend": backend, **changes})
    short = scenario.model_copy(update={"t_end": t_end, "solver": solver})
    return ls.run_scenario(short)


def assert_same_runs(native, xla, share):
    assert native.data.attrs["steps"] == xla.data.attrs["steps"]
    assert native.data.attrs["independent"] == xla.data.attrs["independent"]
    for quantity in SHOWN:
        assert_close(native.data[quantity], xla.data[quantity], share)


@pytest.mark.slow
@pytest.mark.parametrize("name", library_names())
def test_runs_agree(name, only_native):
    native = run_of(name, "native")
    only_native()
    # Ten times closer than the tolerance of the runs, 1e-6.
    assert_same_runs(native, run_of(name, "xla"), 1e-7)
    with compiling(quickly=True):
        quick = run_of(name, "native")
    only_native()
    assert_same_runs(quick, native, 1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["simple-pendulum", "double-pendulum", "slider-crank"])
def test_runs_of_fixed_steps_agree(name, method, only_native):
    changes = FIXED | {"method": method}
    if method in EXPLICIT:
        changes |= SHORT_STEPS
    native = run_of(name, "native", **changes)
    only_native()
    assert_same_runs(native, run_of(name, "xla", **changes), 1e-10)


def runs(model, state, **options):
    """The same run on both back ends."""
    for backend in ("native", "xla"):
        solver = options.get("solver", {}) | {"backend": backend}
        yield ls.simulate(model, state, **options | {"solver": solver})


@pytest.mark.slow
@pytest.mark.parametrize("kind", DESCRIBED)
def test_runs_under_sampled_laws_agree(kind, only_native):
    model = pendulum()
    native, xla = runs(model, model.at([-1.4]), torque=sampled_law(kind), t_end=0.05)
    assert_same_runs(native, xla, 1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["table", "motion"])
def test_runs_under_tables_and_motions_agree(kind, only_native):
    model = ls.Model("double-pendulum")
    t = np.linspace(0.0, 0.05, 30)
    inputs = Inputs(model.n_joints, torque=[(0, Table(t, np.sin(40 * t), "linear"))])
    if kind == "motion":
        inputs = Inputs(model.n_joints, motion=[(0, Spline(t, 0.1 * np.cos(40 * t)))])
    state = model.at([0.1, 0.2])
    native, xla = runs(model, state, inputs=inputs, t_end=0.06)
    only_native()
    assert_same_runs(native, xla, 1e-7)


@pytest.mark.slow
def test_runs_that_exchange_joints_agree(only_native):
    model = ls.Model(ls.Robot.from_dict(slider_driven()), "erls-fem")
    state = model.at([0.4], [-3.0])
    solver = {"rtol": 1e-9, "atol": 1e-11}
    native, xla = runs(model, state, t_end=0.25, output_dt=0.005, solver=solver)
    only_native()
    assert "; " in native.data.attrs["independent"]
    assert_same_runs(native, xla, 1e-7)


def test_an_unknown_backend_is_refused_with_the_choices():
    with pytest.raises(ValueError, match="one of auto, native, xla"):
        ls.simulate(ls.Model("simple-pendulum"), solver={"backend": "fortran"})
