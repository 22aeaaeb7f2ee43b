"""Whether sensors see and torques move an arm; joints that no weight holds are double roots of one eigenvalue."""

import numpy as np
import pytest

import lissom as ls
from lissom.control.design_error import DesignError
from lissom.control.design_model import check_stabilisable, design_model
from lissom.control.estimator import estimator_poles, kalman_filter
from lissom.control.pole_placement import desired_poles, placed_gain
from lissom.control.regulator import AllowedDeviations, regulator

NOISE = {"torque_noise": 0.1, "disturbance_drift": 0.01, "sensor_noise": 1e-4}
ALONG = {"x": [1, 0, 0], "y": [0, 1, 0], "z": [0, 0, 1]}
# Name, axis and kind of every link: vertical yaw axes and rolls about the axis of a link carry no weight.
STRUCTURES = {
    "roll": (("yaw", "z", "rigid"), ("lift", "y", "beam"), ("roll", "x", "rigid")),
    "elbow": (
        ("yaw", "z", "rigid"),
        ("lift", "y", "beam"),
        ("elbow", "y", "beam"),
        ("roll", "x", "rigid"),
    ),
    "horizontal": (
        ("yaw", "z", "beam"),
        ("elbow", "z", "beam"),
        ("wrist", "z", "rigid"),
    ),
    "wrist": (
        ("yaw", "z", "rigid"),
        ("lift", "y", "beam"),
        ("roll", "x", "rigid"),
        ("pitch", "y", "rigid"),
        ("spin", "x", "rigid"),
    ),
}


def random_arm(structure, seed):
    """An arm, a pose and a sample period; centres of mass of half the arms are on the axes of their joints."""
    rng = np.random.default_rng(seed)
    on_axes = seed % 2 == 0
    links = []
    at = [0.0, 0.0, 0.0]
    for name, axis, kind in STRUCTURES[structure]:
        joint = {"type": "revolute", "axis": ALONG[axis], "origin": {"xyz": at}}
        link = {"name": name, "joint": joint}
        if kind == "beam":
            outer = float(rng.uniform(0.015, 0.05))
            inner = outer * float(rng.uniform(0.7, 0.95))
            section = {"shape": "tube", "outer": outer, "inner": inner}
            link["beam"] = {"material": "aluminium", "section": section, "elements": 2}
            at = [float(rng.uniform(0.3, 1.2)), 0.0, 0.0]
        else:
            com = 0.05 * rng.uniform(-1, 1, 3)
            if on_axes:
                com = 0.05 * rng.uniform(0.2, 1.0) * np.array(ALONG[axis])
            # Principal moments of a cuboid.
            edges = rng.uniform(0.02, 0.2, 3) ** 2
            mass = float(rng.uniform(0.2, 3.0))
            moments = mass / 12 * (edges.sum() - edges)
            link["rigid"] = {
                "mass": mass,
                "com": com.tolist(),
                "inertia": moments.tolist(),
            }
            at = [0.0, 0.0, 0.1] if axis == "z" else [0.1, 0.0, 0.0]
        links.append(link)
    ratio = float(rng.choice([0.01, 0.002]))
    data = {"lissom": 1, "name": structure, "links": links, "damping": {"ratio": ratio}}
    pose = rng.uniform(-1.5, 1.5, len(links))
    return ls.Robot.from_dict(data), pose, float(rng.choice([2e-4, 1e-3, 4e-3]))


def encoders_of(robot):
    return tuple(f"{link.name}.encoder" for link in robot.links)


def designed(structure, seed):
    robot, pose, sample = random_arm(structure, seed)
    return design_model(ls.Model(robot), pose, encoders_of(robot), sample)


def without_sensor(design, k):
    names = design.output_names
    return design._replace(
        C=np.delete(design.C, k, axis=0),
        D=np.delete(design.D, k, axis=0),
        output_names=(*names[:k], *names[k + 1 :]),
    )


def check_arm(structure, seed):
    """Encoders of all joints see every motion and the torques move it; without those of the yaw joint, neither."""
    design = designed(structure, seed)
    poles = estimator_poles(design, kalman_filter(design, **NOISE))
    assert np.abs(poles).max() < 1.0
    tolerances = AllowedDeviations([0.01], [5.0], 10.0)
    K = regulator(design, tolerances, design.output_names).K
    assert np.abs(np.linalg.eigvals(design.A - design.B @ K)).max() < 1.0
    seen = r"not detectable: .* at 0 Hz \(most of it in joint yaw\)"
    with pytest.raises(DesignError, match=seen):
        kalman_filter(without_sensor(design, 0), **NOISE)
    moved = r"not stabilisable: .* at 0 Hz \(most of it in joint yaw\)"
    with pytest.raises(DesignError, match=moved):
        check_stabilisable(design._replace(B=design.B[:, 1:]))


@pytest.mark.parametrize("seed", range(12))
def test_encoders_see_joints_that_no_weight_holds(seed):
    check_arm("roll", seed)


@pytest.mark.slow
@pytest.mark.parametrize("structure", STRUCTURES)
def test_encoders_see_joints_that_no_weight_holds_on_two_hundred_arms(structure):
    for seed in range(100, 150):
        check_arm(structure, seed)


def test_a_gauge_does_not_see_a_joint_that_turns_about_its_own_axis():
    """Roll and yaw both at 0 Hz: the one without an encoder is the one that is named."""
    robot, pose, sample = random_arm("roll", 4)
    sensors = ("yaw.encoder", "lift.encoder", "lift/element0.ky", "lift/element0.kz")
    design = design_model(ls.Model(robot), pose, sensors, sample)
    with pytest.raises(DesignError, match=r"at 0 Hz \(most of it in joint roll\)"):
        kalman_filter(design, **NOISE)


def test_states_are_of_the_size_of_their_energy():
    """Encoders read no more than the displacement in a sample, at a speed that holds one joule in every inertia."""
    for seed in range(4):
        design = designed("roll", seed)
        lightest = np.linalg.eigvalsh(design.mass)[0]
        assert np.abs(design.C).max() <= design.sample * np.sqrt(2 / lightest)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Convergence was not reached")
@pytest.mark.parametrize("structure", ["roll", "elbow"])
def test_poles_of_such_arms_are_placed(structure):
    for seed in range(2):
        design = designed(structure, seed)
        poles = desired_poles(design, 3.0, vibration=0.05)
        K = placed_gain(design, poles)
        found = np.linalg.eigvals(design.A - design.B @ K)
        for z in np.exp(poles * design.sample):
            assert np.abs(found - z).min() < 1e-9
