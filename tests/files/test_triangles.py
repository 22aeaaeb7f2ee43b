"""Surfaces for pictures: files, simple solids, and fewer triangles of many."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lissom.files.array_file import ArrayFileError
from lissom.files.triangles import (
    box_triangles,
    cylinder_triangles,
    read_stl,
    simplified,
    sphere_triangles,
    write_stl,
)


def area(triangles):
    a, b, c = np.moveaxis(triangles, 1, 0)
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()


def test_simple_solids_have_the_areas_of_their_formulas():
    assert area(box_triangles(0.1, 0.2, 0.3)) == pytest.approx(0.22)
    # Polygons of 24 corners lie about a hundredth inside of their circles.
    round_ = 2 * np.pi * 0.1 * 0.5 + 2 * np.pi * 0.1**2
    assert area(cylinder_triangles(0.1, 0.5)) == pytest.approx(round_, rel=0.012)
    assert area(sphere_triangles(0.2)) == pytest.approx(4 * np.pi * 0.04, rel=0.03)


def test_a_file_gives_its_triangles_back(tmp_path):
    ball = sphere_triangles(0.2)
    read = read_stl(write_stl(ball, tmp_path / "ball.stl"))
    assert_allclose(read, ball, atol=1e-7)
    (tmp_path / "half.stl").write_bytes((tmp_path / "ball.stl").read_bytes()[:500])
    (tmp_path / "text.stl").write_text("solid ball")
    for name in ("half.stl", "text.stl"):
        with pytest.raises(ArrayFileError, match=f"{name}: is not a binary STL file"):
            read_stl(tmp_path / name)


def test_few_triangles_keep_the_shape_of_many():
    random = np.random.default_rng(3)
    ball = sphere_triangles(0.2)
    # Each triangle in four, twice: some thousands of small ones.
    for _ in range(2):
        a, b, c = np.moveaxis(ball, 1, 0)
        ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
        parts = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        ball = np.concatenate([np.stack(part, axis=1) for part in parts])
    ball = ball[random.permutation(len(ball))]
    few = simplified(ball, 400)
    assert 100 < len(few) <= 400 < len(ball)
    assert np.linalg.norm(few.reshape(-1, 3), axis=1) == pytest.approx(0.2, rel=0.1)
