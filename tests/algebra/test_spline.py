"""The spline through a table is SciPy's."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from lissom.algebra.spline import clamped_spline


@pytest.mark.parametrize("shape", [(2,), (3,), (7,), (7, 3)])
def test_a_spline_at_rest_at_both_ends_is_that_of_scipy(shape):
    rng = np.random.default_rng(4)
    t = np.cumsum(rng.uniform(0.1, 2.0, shape[0]))
    values = rng.standard_normal(shape)
    wanted = CubicSpline(t, values, bc_type="clamped").c
    # SciPy has the highest power first, and the pieces along the second axis.
    wanted = np.moveaxis(wanted[::-1], 1, 0)
    np.testing.assert_allclose(
        clamped_spline(t, values), wanted, rtol=1e-12, atol=1e-13
    )
