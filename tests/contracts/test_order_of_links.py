"""A tree is the same robot in whatever order a file lists its links: in every basis and formulation."""

import functools

import numpy as np
import pytest

import lissom as ls
from helpers import relative
from lissom.bodies.assumed_modes import outboard_mass
from lissom.bodies.link_body import bodies_of
from lissom.describe.link_geometry import children_of
from motion_checks import partings_of_orders
from random_robots import in_another_order, random_tree

# Of sums in another order, behind the eigenvectors of a link and the small solve of a reference.
ROUNDING = 1e-9
CHOICES = {
    "nonlinear, assumed": {"formulation": "nonlinear", "basis": "assumed"},
    "nonlinear, craig-bampton": {"formulation": "nonlinear"},
    "nonlinear, nodal": {"formulation": "nonlinear", "basis": "nodal"},
    "nonlinear, stiffened": {"formulation": "nonlinear", "stiffening": "geometric"},
    "erls-fem, tangent": {"formulation": "erls-fem"},
    "erls-fem, minimum-norm": {
        "formulation": "erls-fem",
        "reference": "minimum-norm",
    },
    "erls-fem, stiffened": {"formulation": "erls-fem", "stiffening": "geometric"},
    "erls-fem, published": {"formulation": "erls-fem", "terms": "published"},
    "erls-cms, tangent": {"formulation": "erls-cms", "reference": "tangent"},
    "erls-cms, minimum-norm": {"formulation": "erls-cms"},
    "erls-cms, published": {"formulation": "erls-cms", "terms": "published"},
    "dual-screw, assumed": {"formulation": "dual-screw"},
    "dual-screw, craig-bampton": {
        "formulation": "dual-screw",
        "basis": "craig-bampton",
    },
    "dual-screw, nodal": {"formulation": "dual-screw", "basis": "nodal"},
    "dual-screw, published": {"formulation": "dual-screw", "terms": "published"},
}
MODES = {"modes": 4}


@functools.cache
def tree(seed):
    """A random tree of six links whose order in the file says nothing about who carries whom."""
    return random_tree(seed, links=6)


def model_of(robot, choices):
    is_nodal = choices.get("basis") == "nodal" or choices["formulation"] == "erls-fem"
    return ls.Model(robot, **choices, **({} if is_nodal else MODES))


def assert_same_equations(choices, seed):
    robot = tree(seed)
    model = model_of(robot, choices)
    other = model_of(in_another_order(robot, seed + 1), choices)
    assert other.link_names != model.link_names
    assert max(partings_of_orders(model, other, seed)) < ROUNDING


@pytest.mark.parametrize("name", ["nonlinear, assumed"])
def test_equations_do_not_depend_on_the_order_of_links(name):
    assert_same_equations(CHOICES[name], 3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 8, 11, 14])
@pytest.mark.parametrize("name", CHOICES)
def test_equations_of_no_random_tree_depend_on_the_order_of_its_links(name, seed):
    assert_same_equations(CHOICES[name], seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHOICES)
def test_statics_and_modes_of_no_random_tree_depend_on_the_order_of_its_links(name):
    robot = tree(8)
    found = []
    for one in (robot, in_another_order(robot, 5)):
        model = model_of(one, CHOICES[name])
        q = 0.1 * np.arange(1, model.n_joints + 1)
        angle = dict(zip(sorted(model.joint_names), q, strict=True))
        pose = [angle[joint] for joint in model.joint_names]
        state = model.static(pose)
        tips = [model.position(state, f"{link}/tip") for link in robot.link_names]
        torque = dict(zip(model.joint_names, state.torque, strict=True))
        torques = [float(torque[joint]) for joint in sorted(torque)]
        modes = ls.modes(model, state, locked=True, count=8)
        found.append((np.array(tips), np.array(torques), modes.frequency_hz))
    for one, other in zip(*found, strict=True):
        assert relative(one, other) < ROUNDING


@pytest.mark.parametrize("seed", range(8))
def test_a_link_carries_its_own_branch_alone(seed):
    robot = tree(seed)
    bodies = bodies_of(robot)

    def branch(i):
        """Mass of link i with all that it carries."""
        carried = sum(branch(j) for j in children_of(robot.links, i))
        return bodies[i].total_mass + carried

    for i in range(len(robot.links)):
        expected = branch(i) - bodies[i].total_mass
        assert outboard_mass(robot, i, bodies) == pytest.approx(expected, abs=1e-14)


def test_a_mass_on_the_tip_is_the_same_by_name_and_by_number():
    def frequencies(node):
        data = tree(8).to_dict()
        beam = next(link for link in data["links"] if "beam" in link)
        beam["masses"] = [{"node": node, "mass": 2.0, "inertia": [0.1, 0.2, 0.3]}]
        robot = ls.Robot.from_dict(data)
        model = ls.Model(robot, basis="assumed", modes=3)
        body = model.bodies[robot.link_names.index(beam["name"])]
        return np.linalg.eigvals(
            np.linalg.solve(body.mass_matrix[6:, 6:], body.stiffness[6:, 6:])
        )

    assert np.sort(frequencies(1)) == pytest.approx(np.sort(frequencies("tip")))
