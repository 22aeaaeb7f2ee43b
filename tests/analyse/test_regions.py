"""Points at which polynomials are compared with exact modes."""

import itertools

import numpy as np
import pytest

from lissom.analyse.polynomials.regions import ParameterBox


@pytest.mark.parametrize("p", range(1, 8))
def test_corners_are_compared_up_to_six_parameters(p):
    low, high = -np.arange(1.0, p + 1), np.full(p, 0.5)
    points = ParameterBox(low, high).few_checks()
    corners = {tuple(ends) for ends in itertools.product(*zip(low, high, strict=True))}
    found = {tuple(point) for point in points} & corners
    assert found == (corners if p <= 6 else set())
    # The middles of all faces, each point once.
    assert len(np.unique(points, axis=0)) == len(points)
    assert len(points) == (2 if p == 1 else 2 * p + len(found))
