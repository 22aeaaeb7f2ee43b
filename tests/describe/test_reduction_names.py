"""A way to reduce a link has one name; the name of its author is read as that."""

import numpy as np
import pytest

import lissom as ls
from lissom.bodies.fe.elements import FeError
from lissom.bodies.link_body import body_of
from lissom.describe.fe import FE
from lissom.describe.modes import ModeChoice


@pytest.fixture(scope="module")
def beam():
    return body_of(ls.Robot.load("simple-pendulum"), 0)


@pytest.fixture
def matrices(beam, tmp_path):
    file = tmp_path / "beam.npz"
    np.savez(file, K=beam.stiffness, M=beam.mass_matrix, nodes=beam.points)
    return file


def test_files_take_both_and_keep_the_one(matrices):
    entry = {"file": str(matrices), "interface": {"inner": 1, "tip": 3}}
    for name in ("rubin", "free-interface"):
        assert FE.model_validate({**entry, "method": name}).method == "free-interface"
        assert ModeChoice.model_validate({"method": name}).method == "free-interface"


def test_both_make_the_same_link(beam, matrices):
    names = ("rubin", "free-interface")
    bodies = [ls.reduced_body(beam, ls.Reduction(4, name)) for name in names]
    np.testing.assert_array_equal(bodies[0].stiffness, bodies[1].stiffness)
    ends = {"inner": 1, "tip": 3}
    old, new = (ls.reduce_link(matrices, ends, modes=6, method=n) for n in names)
    np.testing.assert_array_equal(old.link.frequency_hz, new.link.frequency_hz)
    assert "(free-interface)" in str(old.report) and "rubin" not in str(old.report)


def test_an_unknown_name_is_answered_with_the_known_ones(matrices):
    with pytest.raises(FeError, match="craig-bampton, guyan, free-interface$"):
        ls.reduce_link(matrices, {"inner": 1, "tip": 3}, method="ruben")
