"""Residual vibration of the anthropomorphic arm over payload and pose: where it is largest.

A torque of +-2 N m moves the first joint for 0.5 s; the motion of the tip after that is the residual vibration.
COUNT = 100 gives the 100 x 100 = 10,000 runs of a map. COUNT = 3 shows that a payload does not always make it worse:
how much the second half of the torque cancels depends on the period. Worst of nine runs: 36 mm, 0.2 kg, -60 degrees.
The same on the command line: lissom sweep study.yaml --report study.html"""

import numpy as np

import lissom as ls

COUNT = 3

sweep = ls.sweep(
    {
        "scenario": "anthropomorphic",
        "changes": {"t_end": 0.8, "output_dt": 0.005},
        "over": {
            "payload.mass": {"from": 0, "to": "200 g", "count": COUNT, "label": "load"},
            # The elbow, from folded to nearly stretched: initial coordinate and reference share one value.
            "fore,controller.reference.value.0.2": {
                "from": "-100 deg",
                "to": "-20 deg",
                "count": COUNT,
                "label": "elbow",
            },
        },
        "metrics": ["residual_vibration", "tip_deflection"],
    }
)
print(sweep)
print(sweep.on_grid()["residual_vibration"])
sweep.plot("residual_vibration.png")

worst = sweep.worst()[0]
print(f"worst: run {worst.run}: {worst.value * 1e3:.3g} mm with {worst.values}")
print(worst.command)
assert sweep.tally.failed == 0
# The worst run, repeated alone, gives the same deflection.
run = ls.run_scenario(sweep.scenario(worst.run))
bend = run.position("fore/tip") - run.values("erls_position")[:, -1]
in_study = float(sweep.data["tip_deflection"][worst.run])
assert np.isclose(np.linalg.norm(bend, axis=1).max(), in_study, rtol=1e-4)
