"""Natural frequencies as polynomials of pose and payload: expanded once, evaluated in microseconds, exported as C.

lambda(p) = sum_k lambda_k (p - p_0)^k          [Palomba2019] eq. (19); two parameters, order 4: 15 terms
"""

import tempfile
from pathlib import Path

import numpy as np

import lissom as ls

model = ls.Model("planar-2r")
found = ls.parametric_modes(
    model,
    ["lower", "payload.mass"],
    at={"lower": -1.5, "payload.mass": 0.1},
    order=4,
    locked=True,
)
print(found.text(0, digits=4, smallest=1e-3))

points = np.stack(
    np.meshgrid(np.linspace(-1.7, -1.3, 5), [0.08, 0.12], indexing="ij"), axis=-1
)
print(np.round(found.frequency_hz(points)[..., 0], 3))
print(
    "Hz per rad and per kg:",
    np.round(found.sensitivity([-1.5, 0.1]).frequency_hz[0], 3),
)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "modes.c"
    found.save(path)
    print(path.read_text().splitlines()[0])
