"""Natural frequencies as polynomials of pose and payload: expanded once, evaluated in microseconds, exported as C.

lambda(p) = sum_k lambda_k (p - p_0)^k          [Palomba2019] eq. (19); two parameters, order 4: 15 terms
"""

import tempfile
from pathlib import Path

import lissom as ls

model = ls.Model("planar-2r")
modes = ls.parametric_modes(
    model,
    ["lower", "payload.mass"],
    at={"lower": -1.5, "payload.mass": 0.1},
    order=4,
    locked=True,
    count=3,
)
print(modes.text(0, digits=4, smallest=1e-3))

# A point is one angle [rad] of the joint `lower` and one mass [kg].
for point in ([-1.7, 0.08], [-1.5, 0.1], [-1.3, 0.12]):
    frequency = modes.frequency_hz(point)[0]
    print(f"at {point}: first frequency {frequency:.3f} Hz")
per_rad, per_kg = modes.sensitivity([-1.5, 0.1]).frequency_hz[0]
print(f"it changes by {per_rad:.3f} Hz per rad and {per_kg:.3f} Hz per kg")

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "modes.c"
    modes.save(path)
    print(path.read_text().splitlines()[0])
