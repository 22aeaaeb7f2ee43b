"""Laws that act at samples: what they see, what they hold and remember, on a rotor in closed form."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import lissom as ls
from lissom.solve.law import AbstractLaw
from lissom.solve.signals import Table

MASS, CENTRE, ABOUT_CENTRE = 1.3, 0.17, 2.1e-2
J = ABOUT_CENTRE + MASS * CENTRE**2  # [kg m^2] about the axis
PERIOD = 0.013  # [s], nothing that divides the output grid
SAMPLES = 24
# A constant torque between samples is exact for every step method: what is left is rounding over some dozen steps.
ROUND = 1e-11


def rotor():
    body = {
        "mass": MASS,
        "com": [CENTRE, 0, 0],
        "inertia": [0.011, 0.017, ABOUT_CENTRE],
        "tip": [0.4, 0, 0],
    }
    joint = {"type": "revolute", "origin": {}, "axis": [0, 0, 1]}
    link = {"name": "arm", "joint": joint, "rigid": body}
    return ls.Model(
        ls.Robot.from_dict({"name": "rotor", "gravity": [0, 0, 0], "links": [link]}),
        "erls-fem",
    )


def sampled_run(law, q=0.4, qd=0.0, method="radau", **solver):
    """A run whose outputs are the samples."""
    model = rotor()
    return ls.rollout(
        model,
        model.at([q], [qd]),
        t_end=SAMPLES * PERIOD,
        output_dt=PERIOD,
        torque=law,
        solver={"method": method, "rtol": 1e-9, "atol": 1e-11, **solver},
    )


def recursion(command, memory, q=0.4, qd=0.0):
    """Angles, speeds and torques at the samples: J acceleration = torque, held from sample to sample."""
    rows, held = [], 0.0
    for _ in range(SAMPLES + 1):
        held, memory = command(q, qd, held / J, memory)
        rows.append((q, qd, held))
        q = q + PERIOD * qd + 0.5 * PERIOD**2 * held / J
        qd = qd + PERIOD * held / J
    return np.array(rows)


class Counting(AbstractLaw):
    """PI control with a counter beside its integral: memory of two kinds."""

    kp: float = 3.1
    ki: float = 21.0
    kd: float = 0.35
    sample: float | None = PERIOD

    def sensors(self, model):
        return ("arm.encoder", "arm.speed")

    def init(self, model):
        return {"integral": jnp.zeros(()), "count": jnp.asarray(0)}

    def __call__(self, t, measured, memory):
        integral = memory["integral"] + PERIOD * measured[0]
        torque = -self.kp * measured[0] - self.ki * integral - self.kd * measured[1]
        return torque[None], {"integral": integral, "count": memory["count"] + 1}


class OnAcceleration(AbstractLaw):
    """Answers to the acceleration that it measures."""

    gain: float = 0.6 * J
    sample: float | None = PERIOD

    def sensors(self, model):
        return ("arm.acceleration",)

    def __call__(self, t, measured, memory):
        return jnp.array([0.2]) - self.gain * measured, memory


@pytest.mark.parametrize("method", ["radau", "generalised-alpha", "dopri5"])
def test_a_sampled_pd_loop_follows_its_recursion(method):
    kp, kd = 4.7, 0.31
    law = ls.PD([kp], [kd], Table([0.0], [[0.1]], "hold", after="hold"), sample=PERIOD)
    run = sampled_run(law, method=method)
    known = recursion(lambda q, qd, a, m: (kp * (0.1 - q) - kd * qd, m), None)
    assert_allclose(run.x[:, 0], known[:, 0], atol=ROUND)
    assert_allclose(run.xd[:, 0], known[:, 1], atol=10 * ROUND)
    assert_allclose(run.command[:, 0], known[:, 2], atol=100 * ROUND)


def test_memory_goes_from_sample_to_sample():
    law = Counting()

    def command(q, qd, a, integral):
        integral = integral + PERIOD * q
        return -law.kp * q - law.ki * integral - law.kd * qd, integral

    run = sampled_run(law)
    known = recursion(command, 0.0)
    assert_allclose(run.x[:, 0], known[:, 0], atol=ROUND)
    # Samples at 0, 1, ... SAMPLES periods.
    assert int(run.control.memory["count"]) == SAMPLES + 1
    assert run.control.memory["count"].dtype == jnp.asarray(0).dtype


def test_accelerations_are_measured_under_the_torque_held_so_far():
    # u_k = 0.2 - 0.6 u_(k-1), a geometric sequence towards 0.125; at t = 0 nothing is held yet.
    run = sampled_run(OnAcceleration())
    expected = 0.125 * (1.0 - (-0.6) ** np.arange(1, SAMPLES + 2))
    assert_allclose(run.command[:, 0], expected, atol=100 * ROUND)


def test_a_reference_that_jumps_between_samples_is_seen_at_the_next_one():
    kp, jump = 2.9, 4.4 * PERIOD
    reference = Table([0.0, jump, jump], [[0.0], [0.0], [0.5]], after="hold")
    run = sampled_run(ls.PD([kp], [0.0], reference, sample=PERIOD), q=0.0)
    first = np.flatnonzero(np.abs(run.command[:, 0]) > 0)[0]
    assert first == 5
    assert_allclose(run.x[:6, 0], 0.0, atol=ROUND)
    assert_allclose(run.command[5, 0], kp * 0.5, atol=ROUND)


def test_samples_do_not_drift_over_many_periods():
    # A thousand periods that binary numbers cannot write: the last sample is at a thousand times the period.
    model = rotor()
    law = Counting(sample=1e-3)
    run = ls.rollout(model, model.at([0.1]), t_end=1.0, output_dt=0.1, torque=law)
    assert int(run.control.memory["count"]) == 1001
    # One step for each period, and a few more where the first step is found.
    assert 1000 <= int(run.counts.steps) < 1005


def test_torques_of_a_run_are_those_that_were_held():
    law = ls.PD([3.3], [0.2], Table([0.0], [[0.0]], "hold", after="hold"), sample=0.02)
    run = ls.simulate(
        rotor(), rotor().at([0.3]), t_end=0.1, output_dt=0.005, torque=law
    )
    torque = run.data["torque"].values[:, 0]
    held = torque.reshape(-1)[:20].reshape(5, 4)
    assert_allclose(held, np.repeat(held[:, :1], 4, axis=1), atol=0)
    assert len(np.unique(held[:, 0])) == 5
    # The work of held torques is in the audit: it closes as for any other load.
    assert np.abs(run.energy("residual")).max() < 1e-9


def test_runs_with_sampled_laws_can_be_batched_and_differentiated():
    model = rotor()

    def end(kp):
        law = ls.PD(jnp.stack([kp]), [0.3], Table([0.0], [[0.0]], "hold", "hold"))
        law = eqx.tree_at(lambda l: l.sample, law, PERIOD, is_leaf=lambda x: x is None)
        run = ls.rollout(
            model, model.at([0.4]), t_end=8 * PERIOD, output_dt=PERIOD, torque=law
        )
        return run.x[-1, 0]

    gains = jnp.array([1.3, 2.9, 4.1])
    batch = jax.jit(jax.vmap(end))(gains)
    for gain, value in zip(gains, batch, strict=True):
        known = recursion(lambda q, qd, a, m, k=gain: (-k * q - 0.3 * qd, m), None)
        assert_allclose(value, known[8, 0], atol=ROUND)
    _, slope = jax.jvp(jax.jit(end), (gains[1],), (jnp.ones(()),))
    h = 1e-4
    ends = [
        recursion(lambda q, qd, a, m, k=k: (-k * q - 0.3 * qd, m), None)[8, 0]
        for k in (2.9 - h, 2.9 + h)
    ]
    assert_allclose(slope, (ends[1] - ends[0]) / (2 * h), rtol=1e-6)


# --- refusals ------------------------------------------------------------------------------------------------------


class Blind(AbstractLaw):
    sample: float | None = None
    names: tuple = eqx.field(static=True, default=("arm.encoder",))
    size: int = eqx.field(static=True, default=1)
    remembers: bool = eqx.field(static=True, default=False)

    def sensors(self, model):
        return self.names

    def init(self, model):
        return jnp.zeros(1) if self.remembers else ()

    def __call__(self, t, measured, memory):
        return jnp.zeros(self.size), memory


@pytest.mark.parametrize(
    "law, words",
    [
        (Blind(names=("arm.acceleration",)), "algebraic loop"),
        (Blind(names=("arm/tip.ax",)), "algebraic loop"),
        (Blind(names=("arm.reaction.fx",)), "algebraic loop"),
        (Blind(names=("arm.torque",)), "algebraic loop"),
        (Blind(remembers=True), "memory"),
        (Blind(size=2), "1 torques, one for each actuated joint (arm), got shape (2,)"),
        (Blind(names=("leg.encoder",)), "leg.encoder"),
        (Blind(sample=-0.1), "sample must be a positive number"),
    ],
)
def test_laws_that_cannot_work_are_refused_before_the_run(law, words):
    with pytest.raises(ValueError, match=".") as refusal:
        ls.simulate(rotor(), t_end=0.01, torque=law)
    assert words in str(refusal.value)


def test_a_law_that_would_act_once_in_a_run_is_refused():
    law = ls.PD([1.0], [0.1], ls.Table([0.0], [[0.3]], "hold"), sample=1.0)
    with pytest.raises(ValueError, match="must not be longer than the run .t_end 0.5"):
        ls.simulate(rotor(), t_end=0.5, torque=law)
    inputs = ls.Inputs(1, law=law)
    with pytest.raises(ValueError, match="inputs.law.sample: 1.0: must not be longer"):
        ls.simulate(rotor(), t_end=0.5, inputs=inputs)
