"""A closed chain: natural frequencies of a flexible four-bar over one turn of its crank.

    f = (pi / L)^2 sqrt(E I / (rho A)) / (2 pi)          47.6 Hz and 50.7 Hz: coupler and follower alone

Expect 45.9 Hz and 49.3 Hz with the crank along the ground link, a little lower: the crank is flexible too.
"""

import numpy as np

import lissom as ls

model = ls.Model("four-bar")
frequencies = {}
for degrees in (0, 90, 180, 270):
    state = model.static(q=[np.radians(degrees)])
    modes = ls.modes(model, state, locked=True, count=2)
    first, second = modes.frequency_hz
    print(f"crank {degrees:3d} deg: {first:.2f} Hz, {second:.2f} Hz")
    frequencies[degrees] = (first, second)

assert np.allclose(frequencies[0], [45.9, 49.3], atol=0.05)
