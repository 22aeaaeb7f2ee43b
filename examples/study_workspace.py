"""The first frequency over the workspace: a two-link arm, folded and stretched, with locked joints.

A stretched arm of length 2 L has about a quarter of the frequency of one link: f ~ 1 / L^2 of the reach. Folded by 150
degrees it is stiffer: f(folded) / f(stretched) = 1 at the same pose, and 1.5 to 6 between the ends of the workspace."""

import numpy as np

import lissom as ls

sweep = ls.sweep(
    {
        "analysis": "modes",
        "scenario": "double-pendulum",
        "over": {
            "lower": {"from": 0, "to": "150 deg", "count": 6},
            "payload.mass": {"values": [0.1, 0.5], "label": "load"},
        },
        "metrics": ["first_frequency", {"metric": "first_frequencies", "count": 3}],
        "options": {"locked": True},
    }
)
print(sweep)
frequency = sweep.on_grid()["first_frequency"]
print(frequency)
sweep.plot("first_frequency.png")
assert sweep.tally.failed == 0
# The frequency is lowest where the arm reaches farthest, and a heavier load lowers it everywhere.
assert (np.diff(frequency.values, axis=0) > 0).all()
assert (frequency.values[:, 1] < frequency.values[:, 0]).all()
assert 1.5 < (frequency.values[-1] / frequency.values[0]).min() < 6
