"""A closed chain: natural frequencies of a flexible four-bar over one turn of its crank.

Expect 45.9 Hz and 49.3 Hz with the crank along the ground link: pinned-pinned bending of coupler and follower, a little
below the 47.6 Hz and 50.7 Hz that each of them has alone.
"""

import numpy as np

import lissom as ls

model = ls.Model("four-bar")
for degrees in (0, 90, 180, 270):
    state = model.static(q=[np.radians(degrees)])
    first, second = ls.modes(model, state, locked=True, count=2).frequency_hz
    print(f"crank {degrees:3d} deg: {first:.2f} Hz, {second:.2f} Hz")
