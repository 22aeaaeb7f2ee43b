"""One description of every sampled law, for a bending pendulum with a motor."""

import functools

import lissom as ls
from lissom.control.laws import law_of
from lissom.describe.controllers import CONTROLLERS

SAMPLE = 2e-3  # [s]
START, END = -1.4, -1.1  # [rad], near hanging
TIP = "rod/tip.ay"
MOTION = {"t": [0.0, 0.2], "value": [[START], [END]], "interpolation": "quintic"}
TOLERANCES = {"position": [0.01], "torque": [5.0], "energy": 0.01}
NOISE = {"torque": [0.1], "drift": [0.01], "sensors": [1e-4, 1e-2]}
GAINS = {"kp": [20.0], "ki": [40.0], "kd": [1.0], "lag": 0.01}

DESCRIBED = {
    "pid": {"gains": GAINS},
    "computed-torque": {"bandwidth": 2.0},
    "lqr": {"tolerances": TOLERANCES},
    "lqg": {
        "tolerances": TOLERANCES,
        "noise": NOISE,
        "sensors": ["rod.encoder", TIP],
        "fastest": 1e6,
    },
    "mpc": {
        "tolerances": TOLERANCES,
        "noise": NOISE,
        "sensors": ["rod.encoder", TIP],
        "fastest": 1e6,
        "horizon": 20,
        "control_horizon": 8,
    },
    "scheduled-lqr": {"tolerances": TOLERANCES, "poses": 3},
    "ekf": {
        "tolerances": TOLERANCES,
        "noise": NOISE,
        "sensors": ["rod.encoder", TIP],
        "poses": 2,
    },
    "mixed-norm": {
        "tolerances": TOLERANCES,
        "noise": NOISE,
        "sensors": ["rod.encoder", TIP],
        "fastest": 100.0,
        "peak": 2.0,
    },
    "delayed-reference": {"gains": GAINS, "sensors": [TIP], "gain": 0.1},
    "hybrid": {"gains": GAINS, "sensors": [TIP], "gain": [[-0.01]], "signal": "value"},
}


@functools.cache
def pendulum():
    return ls.Model("simple-pendulum", "nonlinear", basis="assumed", modes=2)


def controller(kind, **changes):
    """A controller of a type as a scenario describes it."""
    common = {"type": kind, "sample": SAMPLE, "reference": MOTION}
    return CONTROLLERS[kind].model_validate(common | DESCRIBED[kind] | changes)


@functools.cache
def sampled_law(kind):
    return law_of(pendulum(), controller(kind))


def changed_law(kind, **changes):
    return law_of(pendulum(), controller(kind, **changes))
