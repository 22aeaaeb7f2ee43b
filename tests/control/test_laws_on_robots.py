"""Every law of the kit on the full robot: small deviations as its linear model says, an energy audit that closes."""

import equinox as eqx
import numpy as np
import pytest

import lissom as ls
from lissom.control.real_loop import RealLoop
from lissom.control.references import reference_through
from lissom.runs.start import initial_state, inputs_of
from sampled_laws import (
    DESCRIBED,
    END,
    MOTION,
    SAMPLE,
    START,
    changed_law,
    pendulum,
    sampled_law,
)

pytestmark = pytest.mark.slow

TIGHT = {"rtol": 1e-9, "atol": 1e-11}


@pytest.mark.parametrize("kind", DESCRIBED)
def test_the_energy_audit_closes_with_the_work_of_the_law_in_it(kind):
    """To a millionth of the largest energy at a tight tolerance, to a ten-thousandth at that of a plain run."""
    law = sampled_law(kind)
    check_audit(law, law_start(law))


@pytest.mark.parametrize("sample", [None, SAMPLE])
def test_the_energy_audit_closes_under_a_joint_spring_and_damper(sample):
    """What a continuous law stores in its own spring is work put in, and no energy of the robot."""
    reference = reference_through(MOTION["t"], MOTION["value"], "quintic")
    formulation = pendulum().formulation
    law = ls.PD([20.0], [1.0], reference, compensate=formulation, sample=sample)
    check_audit(law, START)


def check_audit(law, start):
    model = pendulum()
    for solver, limit in ((TIGHT, 1e-6), ({}, 1e-4)):
        run = ls.simulate(
            model,
            model.static([start]),
            t_end=0.3,
            output_dt=1e-3,
            torque=law,
            solver=solver,
        )
        residual = np.abs(run.energy("residual")).max()
        largest = max(np.abs(run.energy(of)).max() for of in ("kinetic", "strain"))
        assert np.abs(run.energy("input")).max() > 0.1 * largest
        assert residual < limit * largest


def law_start(law):
    """Where the motion of a law begins."""
    inner = getattr(law, "inner", law)
    reference = (
        inner.reference if hasattr(inner, "reference") else inner.nominal.reference
    )
    return float(reference.value(0.0)[0])


@pytest.mark.parametrize("kind", ["pid", "lqg", "hybrid"])
def test_small_deviations_follow_the_linear_model_of_the_loop(kind):
    """A push of a thousandth of a radian: the sampled loop from `linearize` foretells the run to one per cent."""
    model = pendulum()
    hold = {"t": [0.0, 0.2], "value": [[END], [END]], "interpolation": "quintic"}
    law = changed_law(kind, reference=hold)
    rest = model.static([END])
    pushed = model.static([END + 1e-3])
    samples = 150
    run = ls.simulate(
        model,
        pushed,
        t_end=samples * SAMPLE,
        output_dt=SAMPLE,
        torque=law,
        solver=TIGHT,
    )
    encoder = run.data["encoder"].values[:, 0] - END
    linear = ls.linearize(
        model, rest, inputs=[], outputs=["rod.encoder"], controller=law
    )
    n = len(model.coordinate_names) + 1
    x = np.zeros(len(linear.A))
    x[:1] = 1e-3
    x[1:n] = np.asarray(pushed.elastic) - np.asarray(rest.elastic)
    if "rod.held" in linear.state_names:
        # Accelerations are measured under the torque that held the pushed arm.
        held = linear.state_names.index("rod.held")
        x[held] = float(pushed.torque[0] - rest.torque[0])
    foretold = []
    for _ in range(samples + 1):
        foretold.append(float((linear.C @ x)[0]))
        x = linear.A @ x
    away = np.abs(np.array(foretold) - encoder[: samples + 1]).max()
    assert away < 0.01 * 1e-3


def test_a_sampled_law_with_delay_and_steps_costs_at_most_three_times_a_continuous_one():
    # Held torques and one sample of delay lag by 1.5 ms: beyond 167 Hz a damping gain then feeds vibration, and an arm
    # without damping of its own, or stiffly held, becomes unstable. This one is stable, as its torques show.
    changes = {"robot.damping": {"ratio": 0.01}}
    scenario = ls.Scenario.load("cibicik-arm").replace(changes)
    model = ls.Model.of_scenario(scenario)
    start, inputs = initial_state(model, scenario), inputs_of(model, scenario)
    continuous = soft(inputs.law)
    at_samples = scenario.replace({"controller.sample": 1e-3})
    sampled = soft(inputs_of(model, at_samples).law)
    # The weight of the arm is the same at every sample, and is not computed there.
    for t in (0.0, 0.007, 0.333, 5.0):
        weight = inputs.law.feedforward.value(t)
        np.testing.assert_allclose(sampled.feedforward.value(t), weight, rtol=1e-12)
    real = RealLoop(law=sampled, sample=1e-3, delay=1, resolution=np.full(8, 1e-5))
    runs = [
        ls.simulate(model, start, t_end=1.0, output_dt=0.01, torque=law)
        for law in (continuous, real)
    ]
    evaluations = [run.facts["rhs_evaluations"] for run in runs]
    largest = [np.abs(run.values("torque")).max() for run in runs]
    assert evaluations[1] <= 3 * evaluations[0]
    assert largest[1] == pytest.approx(largest[0], rel=0.02)


def soft(law):
    """A law with a hundredth of its gains."""
    gains = (0.01 * law.kp, 0.01 * law.kd)
    return eqx.tree_at(lambda law: (law.kp, law.kd), law, gains)
