"""Another Young's modulus, length or payload leaves the zeros of a robot where they are: its machine code serves."""

import numpy as np
import pytest

import lissom as ls
from jaxnative.compilation import split_arguments
from jaxnative.compiled import NativeAhead, pattern_of
from jaxnative.program_cache import key_of
from lissom.bodies.reduce.lowest_modes import descending_order, independent_parts

FACTORS = (0.83, 0.97, 1.031, 1.19, 1.37)
ROBOTS = ("double-pendulum", "anthropomorphic", "anthropomorphic-wrist")
FORMULATIONS = ("erls-fem", "erls-cms", "nonlinear", "dual-screw")
# Reduced links number their modes by frequency: those of one plane may overtake those of the other as a link grows.
NUMBERED_BY_FREQUENCY = ("erls-cms", "nonlinear")


def changes_of(robot, lengths):
    """Robots with one number changed."""
    for link in robot.links:
        if link.beam is None:
            continue
        path = f"links.{link.name}"
        for factor in FACTORS:
            yield {f"{path}.beam.material.E": link.beam.material.E * factor}
            if lengths:
                along = "a" if link.joint.dh.a else "d"
                length = getattr(link.joint.dh, along)
                yield {f"{path}.joint.dh.{along}": length * factor}
    if robot.payload is not None:
        for mass in (0.11, 0.75, 2.3):
            yield {"payload.mass": mass}


def program_key(model):
    """All that the program of a robot depends on, its zeros included."""
    numbers, structure = split_arguments((model.formulation,))
    pattern = pattern_of(numbers, [True] * len(numbers))
    return key_of(structure, pattern.digest())


@pytest.mark.slow
@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("name", ROBOTS)
def test_other_numbers_have_the_same_program(name, formulation):
    robot = ls.Robot.load(name)
    wanted = program_key(ls.Model(robot, formulation))
    assert wanted is not None
    for change in changes_of(robot, formulation not in NUMBERED_BY_FREQUENCY):
        changed = ls.Model(robot.replace(change), formulation)
        assert program_key(changed) == wanted, change


def test_a_length_or_a_modulus_of_a_symmetric_beam_leaves_its_zeros_in_place():
    robot = ls.Robot.load("double-pendulum")
    wanted = program_key(ls.Model(robot, "nonlinear"))
    for length, E in ((0.4, 2e11), (0.45, 1.6e11), (0.515, 2.1e11)):
        change = {"links.upper.joint.dh.a": length, "links.upper.beam.material.E": E}
        changed = ls.Model(robot.replace(change), "nonlinear")
        assert program_key(changed) == wanted


def test_dofs_that_do_not_act_on_each_other_are_parts():
    rng = np.random.default_rng(2)
    blocks = [rng.normal(size=(n, n)) for n in (3, 2)]
    K = np.zeros((5, 5))
    order = np.array([0, 2, 4, 1, 3])
    K[np.ix_(order[:3], order[:3])] = blocks[0] @ blocks[0].T + np.eye(3)
    K[np.ix_(order[3:], order[3:])] = blocks[1] @ blocks[1].T + np.eye(2)
    apart = independent_parts(K, np.eye(5))
    assert [part.tolist() for part in apart] == [[0, 2, 4], [1, 3]]
    # A coupling in either matrix joins them; rounding does not.
    M = np.eye(5)
    M[0, 1] = M[1, 0] = 1e-17
    assert len(independent_parts(K, M)) == 2
    M[0, 1] = M[1, 0] = 1e-6
    assert len(independent_parts(K, M)) == 1


def test_equal_eigenvalues_keep_their_order_whatever_their_rounding():
    exact = np.array([3.0, 5.0, 5.0, 1e-6, 1e-7])
    for rounding in (-1e-15, 0.0, 1e-15):
        values = exact * (1 + rounding * np.array([0, 1, -1, 0, 0]))
        assert descending_order(values).tolist() == [1, 2, 0, 3, 4]


# --- patterns of zeros on disk -------------------------------------------------------------------------------------


def pendulum(length):
    robot = ls.Robot.load("simple-pendulum")
    return ls.Model(robot.replace({"links.rod.joint.dh.a": length}), "nonlinear")


@pytest.mark.slow
def test_modes_that_change_places_cost_one_translation_each_and_then_none(
    monkeypatch,
):
    translated = []
    translate = NativeAhead._translate

    def counted(self, *arguments):
        translated.append(self)
        return translate(self, *arguments)

    def translations(length):
        translated.clear()
        model = pendulum(length)
        ls.simulate(model, model.at([0.3]), t_end=0.02)
        return len(translated)

    monkeypatch.setattr(NativeAhead, "_translate", counted)
    lengths = (0.5, 0.515, 0.4, 0.6)
    for length in lengths:
        translations(length)
    assert [translations(length) for length in (*lengths, 0.45, 0.55)] == [0] * 6
