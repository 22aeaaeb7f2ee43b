"""Input shapers for a mode whose frequency is not known exactly.

V = exp(-zeta omega t_n) |sum_i A_i exp((zeta omega + i omega_d) t_i)|, see docs/theory/control-shaping.md. If a payload
makes the first mode 10 % slower than the shaper assumes, 15.6 % of the vibration remain with ZV, 2.4 % with ZVD,
3.9 % with the two-hump shaper: each takes half a period longer than the one before.
"""

import numpy as np

from lissom.control.shaping import Mode, residual_vibration, shaper_for

mode = Mode(omega=2 * np.pi * 21.2)  # undamped
left = {}
for kind in ("zv", "zvd", "ei", "two-hump-ei"):
    shaper = shaper_for(kind, [mode])
    left[kind] = residual_vibration(shaper, 0.9 * mode.omega)
    print(
        f"{kind:12} {1e3 * shaper.duration:5.1f} ms longer, {100 * left[kind]:5.1f} % left"
    )

assert abs(left["zv"] - 0.156) < 1e-3
assert abs(left["zvd"] - 0.024) < 1e-3
assert abs(left["two-hump-ei"] - 0.039) < 1e-3
