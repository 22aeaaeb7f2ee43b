"""The equations of motion at a state, in numbers: the parts add up to the whole, and the file holds them all."""

import functools
import re
from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.io
from numpy.testing import assert_allclose

import lissom as ls
from lissom.dynamics import engine

Q = [0.2]
QD = [-0.7]


@functools.cache
def model():
    return ls.Model("simple-pendulum", "erls-fem")


@functools.cache
def found():
    return model().matrices(Q, QD)


def check_the_sum(model, q, qd):
    """M xdd and the four forces are what the engine says a motion needs."""
    at = model.matrices(q, qd)
    state = model.at(q, qd)
    f = model.formulation_at(state)
    xdd = np.random.default_rng(0).normal(size=f.size)
    motion = f.motion(state.x, state.xd, jnp.asarray(xdd))
    needed = np.asarray(engine.needed_force(f, motion))
    largest = np.abs(needed).max()
    assert_allclose(at.force(xdd), needed, atol=1e-11 * largest)
    assert_allclose(at.C @ at.xd, at.coriolis, atol=1e-11 * largest)
    assert_allclose(at.M, model.mass_matrix(state), atol=1e-12 * np.abs(at.M).max())
    return at


def test_the_parts_of_the_equations_add_up():
    at = check_the_sum(model(), Q, QD)
    tip = np.asarray(model().jacobian(jnp.asarray(Q)))
    assert_allclose(at.J[-1], tip, atol=1e-12)


def test_the_matrices_are_a_function_for_jax_and_for_c():
    body = {"mass": 1.0, "com": [0.1, 0, 0], "inertia": [0.01, 0.01, 0.02]}
    joint = {"type": "revolute", "origin": {}, "axis": [0, 1, 0]}
    link = {"name": "bar", "joint": joint, "rigid": body | {"tip": [0.3, 0, 0]}}
    bar = ls.Model(ls.Robot.from_dict({"name": "arm", "links": [link]}))
    text = ls.export_c(lambda q: bar.matrices(q), jnp.zeros(1), name="matrices")
    (head,) = [line for line in text.splitlines() if line.startswith("void matrices(")]
    assert "double *result_M" in head and "double *result_gravity" in head
    assert " *   result_J: out, 2 x 6 x 1\n" in text


@pytest.mark.slow
def test_the_parts_of_the_equations_of_a_closed_chain_add_up():
    four_bar = ls.Model("four-bar", "erls-fem")
    at = check_the_sum(four_bar, [0.5], [3.0])
    assert at.B.shape == (at.M.shape[0], 3)
    assert np.abs(at.coriolis).max() > 0


@pytest.mark.slow
def test_the_parts_of_the_equations_with_finite_rotations_add_up():
    arm = ls.Model("double-pendulum", "nonlinear", basis="assumed", modes=3)
    check_the_sum(arm, [0.2, 0.5], [1.0, -0.7])


PAPERS = {
    "erls-fem": {"Boscariol2012", "Palomba2019"},
    "erls-cms": {"Vidoni2015"},
    "dual-screw": {"Cibicik2021"},
    "nonlinear": set(),
    "of another package": set(),
}


@pytest.mark.parametrize("formulation", PAPERS)
def test_arrays_cite_the_papers_of_their_own_formulation(formulation):
    printed = replace(found(), formulation=formulation).printed
    assert set(printed) == set(found().arrays)
    cited = re.findall(r"\[(\w+)\]", " ".join(printed.values()))
    assert set(cited) - {"m"} == PAPERS[formulation]


def test_files_hold_the_arrays_and_their_names(tmp_path):
    at = found()
    at.save(tmp_path / "m.npz")
    at.save(tmp_path / "m.mat")
    with np.load(tmp_path / "m.npz") as data:
        assert np.array_equal(data["M"], at.M)
        assert tuple(data["coordinates"]) == at.coordinates
        assert "M: [Boscariol2012] (22)-(23): inertia" in data["printed"][0]
    matlab = scipy.io.loadmat(tmp_path / "m.mat")
    assert_allclose(matlab["J"], at.J)
    with pytest.raises(ValueError, match=r"must end in .npz or .mat"):
        at.save(tmp_path / "m.txt")


def test_a_state_brings_its_own_speeds():
    with pytest.raises(ValueError, match="a state has its own speeds"):
        model().matrices(model().at(Q), QD)
