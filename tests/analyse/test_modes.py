"""Natural vibration against closed forms and tables."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq

import lissom as ls
from lissom.describe import DescriptionError

E, RHO, WIDTH, DEPTH, LENGTH = 6.9e10, 2710.0, 0.023, 0.011, 0.73
I_Y, I_Z = WIDTH * DEPTH**3 / 12, DEPTH * WIDTH**3 / 12  # bending along z and along y
ELEMENTS = 8


def bar(damping=None, gravity=(0.0, 0.0, 0.0)):
    """A uniform bar along x on a revolute joint about z."""
    beam = {
        "path": [[0, 0, 0], [LENGTH, 0, 0]],
        "section": {"shape": "rectangle", "y": WIDTH, "z": DEPTH},
        "material": {"E": E, "nu": 0.33, "density": RHO},
        "elements": ELEMENTS,
    }
    link = {
        "name": "bar",
        "joint": {"type": "revolute", "origin": {}, "axis": [0, 0, 1]},
        "beam": beam,
    }
    robot = {"name": "bar", "gravity": list(gravity), "links": [link]} | (
        {"damping": damping} if damping else {}
    )
    return ls.Model(ls.Robot.from_dict(robot), "erls-fem")


def bending_hz(second_moment, roots):
    """f = (beta L)^2 / (2 pi L^2) sqrt(E I / (rho A))."""
    return (
        np.array(roots) ** 2
        / (2 * np.pi * LENGTH**2)
        * np.sqrt(E * second_moment / (RHO * WIDTH * DEPTH))
    )


CLAMPED = [
    brentq(lambda b: np.cos(b) * np.cosh(b) + 1, *bracket)
    for bracket in ((1.8, 2.0), (4.6, 4.8))
]
PINNED = [
    brentq(lambda b: np.tan(b) - np.tanh(b), *bracket)
    for bracket in ((3.8, 4.0), (7.0, 7.1))
]


def with_elements(second_moment, roots):
    """The same with ELEMENTS cubic elements: omega^2 too large by (beta h)^4 / 720; and a bound of what follows."""
    error = (np.array(roots) / ELEMENTS) ** 4 / 1440
    return bending_hz(second_moment, roots) * (1 + error), 0.1 * error.max()


def nearest(values, wanted):
    return np.array([values[np.argmin(np.abs(values - f))] for f in wanted])


def test_a_locked_link_vibrates_like_a_cantilever():
    frequencies = ls.modes(bar(), locked=True, count=8).frequency_hz
    for second_moment in (I_Y, I_Z):
        expected, bound = with_elements(second_moment, CLAMPED)
        assert_allclose(nearest(frequencies, expected), expected, rtol=bound)


def test_a_free_link_turns_freely_and_vibrates_like_a_pinned_free_bar_in_its_plane():
    modes = ls.modes(bar(), count=10)
    assert modes.stability[0] == "rigid" and modes.frequency_hz[0] == 0.0
    for second_moment, roots in ((I_Z, PINNED), (I_Y, CLAMPED)):
        expected, bound = with_elements(second_moment, roots)
        assert_allclose(nearest(modes.frequency_hz, expected), expected, rtol=bound)


def test_rayleigh_damping_gives_its_ratio_at_every_frequency():
    alpha, beta = 0.7, 1.9e-5
    modes = ls.modes(bar({"alpha": alpha, "beta": beta}), locked=True, count=None)
    f = modes.frequency_hz
    assert_allclose(
        modes.damping_ratio, alpha / (4 * np.pi * f) + beta * np.pi * f, rtol=1e-7
    )


def test_modal_damping_of_a_single_locked_link_is_its_ratio():
    modes = ls.modes(bar({"ratio": 0.017}), locked=True, count=None)
    assert_allclose(modes.damping_ratio, 0.017, rtol=1e-7)


def test_shares_of_the_links_add_up_to_one():
    model = ls.Model("double-pendulum", "erls-fem")
    for modes in (
        ls.modes(model, model.static([0.3, 0.7]), locked=True, count=None),
        ls.modes(model, model.static([0.3, 0.7]), count=None),
    ):
        assert_allclose(modes.share["upper"] + modes.share["lower"], 1.0, atol=1e-9)
        assert all(
            np.all((share >= 0) & (share <= 1 + 1e-12))
            for share in modes.share.values()
        )


def test_locked_modes_of_the_double_pendulum_are_those_tabulated():
    # Straight, locked, one element per link, undeformed or with the file's in-plane gravity: 0.1 % is required.
    expected = [8.348, 20.490, 66.068, 80.485]
    model = ls.Model("double-pendulum", "erls-fem")
    with_gravity = ls.modes(model, model.static([0.0, 0.0]), locked=True, count=4)
    weightless = ls.Model(model.robot.replace({"gravity": [0, 0, 0]}), "erls-fem")
    without = ls.modes(weightless, weightless.static([0.0, 0.0]), locked=True, count=4)
    assert_allclose(with_gravity.frequency_hz, expected, rtol=1e-3)
    assert_allclose(without.frequency_hz, expected, rtol=1e-4)


def test_free_modes_of_the_straight_double_pendulum_are_those_tabulated():
    # In its plane, joints free, no gravity: 0, 0, 183.1, 418.6 Hz with one element per link.
    robot = ls.Robot.load("double-pendulum").replace({"gravity": [0, 0, 0]})
    model = ls.Model(robot, "erls-fem")
    modes = ls.modes(model, model.static([0.0, 0.0]), count=None)
    assert modes.stability[:2] == ("rigid", "rigid")
    names = np.array(
        [name.endswith((".y", ".rz")) or "." not in name for name in modes.names]
    )
    scaled = modes.shapes / np.abs(modes.shapes).max(axis=0)
    in_plane = np.abs(scaled[names]).max(axis=0) > 0.5
    bending = modes.frequency_hz[in_plane & (modes.frequency_hz > 1.0)]
    assert_allclose(bending[:2], [183.1, 418.6], atol=0.05)


def rod(down):
    """A rigid rod on a joint across gravity, hanging down or standing up."""
    body = {
        "mass": 0.9,
        "com": [0.31, 0, 0],
        "inertia": [1e-4, 7e-3, 8e-3],
        "tip": [0.62, 0, 0],
    }
    link = {
        "name": "rod",
        "joint": {"type": "revolute", "origin": {}, "axis": [0, 0, 1]},
        "rigid": body,
    }
    gravity = [9.81, 0, 0] if down else [-9.81, 0, 0]
    return ls.Model(
        ls.Robot.from_dict({"name": "rod", "gravity": gravity, "links": [link]}),
        "erls-fem",
    )


@pytest.mark.parametrize("down", [True, False], ids=["hanging", "standing"])
def test_a_rod_in_gravity_swings_or_falls_over(down):
    model = rod(down)
    modes = ls.modes(model, model.static([0.0]))
    squared = 0.9 * 9.81 * 0.31 / (8e-3 + 0.9 * 0.31**2)  # m g c / J
    assert_allclose(modes.eigenvalue, [squared if down else -squared], rtol=1e-10)
    assert modes.stability == (("vibration",) if down else ("unstable",))
    assert_allclose(
        modes.frequency_hz,
        [np.sqrt(squared) / (2 * np.pi) if down else 0.0],
        rtol=1e-10,
    )


# Exudyn 1.13.6, its floating-frame object on 8 elements per rod: steel mechanism, locked and free; aluminium mechanism
# with the masses at its elbow and hub. The codes treat the rotary inertia of sections differently: two modes show it.
PEER = {
    ("l-shape", True): [10.904, 16.477, 29.691, 71.83, 146.5, 214.7],
    ("l-shape", False): [10.904, 26.035, 29.691, 146.5, 214.7],
    ("l-shape-torque", True): [
        7.759,
        8.435,
        19.153,
        23.159,
        117.05,
        117.57,
        149.96,
        171.81,
    ],
    ("l-shape-torque", False): [8.435, 12.288, 23.159, 30.925, 117.57, 119.32, 151.12],
}


FARTHER = {
    ("l-shape", True): 3,
    ("l-shape-torque", False): 1,
}  # within 0.2 %, all others within 0.1 %


@pytest.mark.parametrize("robot,locked", PEER, ids=lambda value: str(value))
def test_locked_and_free_modes_of_the_l_shape_are_those_of_the_peer(robot, locked):
    fine = ls.Robot.load(robot).replace(
        {"gravity": [0, 0, 0], "links.beam.beam.elements": 8}
    )
    if fine.links[0].masses:
        fine = fine.replace({"links.beam.masses.0.node": 8})  # the elbow, on this mesh
    model = ls.Model(fine, "erls-cms", modes=24)
    found = ls.modes(model, model.at([0.0]), locked=locked, count=None)
    frequency = found.frequency_hz
    expected = PEER[robot, locked]
    error = np.abs(frequency[frequency > 1.0][: len(expected)] / expected - 1)
    allowed = np.full(len(expected), 1e-3)
    if (robot, locked) in FARTHER:
        allowed[FARTHER[robot, locked]] = 2e-3
    assert np.all(error < allowed), error


@pytest.mark.parametrize("how", [{}, {"damped": True}])
def test_a_joint_that_moves_no_mass_is_named(how):
    turning = {"type": "revolute", "origin": {}, "axis": [0, 0, 1]}
    inertia = {"mass": 1.2, "com": [0.1, 0, 0], "inertia": [1e-3, 2e-3, 3e-3]}
    nothing = {"mass": 0.0, "com": [0, 0, 0], "inertia": [0.0, 0.0, 0.0]}
    links = [
        {"name": "arm", "joint": turning, "rigid": {**inertia, "tip": [0.3, 0, 0]}},
        {"name": "hook", "joint": turning, "rigid": nothing},
    ]
    robot = ls.Robot.from_dict({"name": "hooked", "links": links})
    with pytest.raises(ls.DescriptionError, match="no mass or inertia moves with hook"):
        ls.modes(robot, [0.3, 0.2], **how)


def test_ten_modes_are_found_by_default():
    model = ls.Model("double-pendulum")
    everything = ls.modes(model, count=None)
    lowest = ls.modes(model)
    assert len(everything.frequency_hz) > len(lowest.frequency_hz) == 10
    assert_allclose(lowest.frequency_hz, everything.frequency_hz[:10])
    assert len(ls.modes(model, damped=True).frequency_hz) == 10


@pytest.mark.slow
@pytest.mark.parametrize("damped", [False, True])
def test_modes_name_their_reference_and_its_difference_to_minimum_norm(damped):
    # Away from q = 0 the bending is large enough for first order to depend on what the joint coordinates mean.
    q, choices = [0.0, 1.0], {"count": 6, "damped": damped}
    tangent, least = (
        ls.modes(ls.Model("planar-2r", "erls-fem", reference=reference), q, **choices)
        for reference in ("tangent", "minimum-norm")
    )  # fmt: skip
    told = tangent.to_dict()
    assert told["reference"] == "tangent"
    change = np.nan_to_num(least.frequency_hz / np.maximum(tangent.frequency_hz, 1e-9))
    change[tangent.frequency_hz == 0] = 1.0
    k = int(np.abs(change - 1).argmax())
    assert change[k] == pytest.approx(0.978, abs=0.002)
    assert (
        f"mode {k + 1} would have {least.frequency_hz[k]:.4g} Hz (-2.2 %)"
        in (told["reference_note"])
    )
    assert dict(tangent.summary().facts)["reference"].startswith("tangent; with")
    assert least.to_dict()["reference_note"] is None


def test_modes_without_a_choice_of_the_reference_name_none():
    found = ls.modes("simple-pendulum", [0.3], count=2)
    assert "reference" not in found.to_dict()
    assert "reference" not in dict(found.summary().facts)


RIGID_ARM = {
    "name": "rod",
    "links": [
        {
            "name": "rod",
            "joint": {"type": "revolute", "axis": [0, 1, 0]},
            "rigid": {"mass": 1.0, "com": [0.3, 0, 0], "inertia": [0.01, 0.02, 0.03]},
        }
    ],
}


def test_a_rigid_robot_with_held_joints_has_nothing_that_vibrates():
    model = ls.Model(ls.Robot.from_dict(RIGID_ARM))
    calls = [
        lambda: ls.modes(model, locked=True),
        lambda: ls.modes(model, locked=True, damped=True),
        lambda: ls.natural_frequencies(model, locked=True),
        lambda: ls.mode_map(model, [[0.0], [1.0]], locked=True),
        lambda: ls.parametric_modes(model, ["rod"], locked=True),
    ]
    for call in calls:
        with pytest.raises(DescriptionError, match="locked: every link is rigid"):
            call()
    # A pendulum about its horizontal: free to fall, it has one motion.
    assert ls.modes(model).frequency_hz.shape == (1,)
