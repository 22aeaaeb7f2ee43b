"""Three controllers of a flexible pendulum on one motion: a position loop leaves vibration, two others hardly any.

The same as `lissom control compare study.yaml`. The motion takes 3.5 periods of the first mode (32.7 Hz), the position
loop is three times as fast. Residual vibration relative to that of the position loop: at most 6 % with a ZVD
shaper (impulses 1, 2 K, K^2 over their sum, half a period apart, K = exp(-pi zeta / sqrt(1 - zeta^2))),
at most 20 % with optimal control on encoder and strain gauge."""

import lissom as ls

GAUGE = "rod/element0.kz"
POSITION_LOOP = {"bandwidth": 98.0, "lag": 4e-3}

study = ls.ControlStudy.from_dict(
    {
        "scenario": {
            "robot": "simple-pendulum",
            "initial": {"q": [-1.4], "elastic": "static"},
        },
        "motion": {
            "t": [0, 0.1072],
            "value": [[-1.4], [-1.1]],
            "interpolation": "quintic",
        },
        "sample": 2e-4,
        "controllers": {
            "PID": {"type": "pid", "gains": POSITION_LOOP},
            "ZVD": {"type": "pid", "gains": POSITION_LOOP, "shaper": {"type": "zvd"}},
            "LQG": {
                "type": "lqg",
                "sample": 1e-3,
                "sensors": ["rod.encoder", GAUGE],
                "tolerances": {"position": [0.2], "torque": [5.0], "energy": 100.0},
                "noise": {"torque": [0.1], "drift": [1e-4], "sensors": [1e-5, 1e-3]},
                "fastest": 1000.0,
            },
        },
    }
)
rows = ls.compare_controllers(study).rows
for row in rows:
    print(f"{row.name:4} {1e3 * row.residual:.3f} mm, {100 * row.residual_share:.1f} %")

assert rows[1].residual_share < 0.06
assert rows[2].residual_share < 0.2
