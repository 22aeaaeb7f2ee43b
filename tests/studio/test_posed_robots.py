"""A robot in a pose: what it weighs and where, and how it follows a pull at a node."""

import numpy as np
import pytest

import lissom as ls
from lissom.analyse.mass_properties import combined, mass_properties
from lissom.runs.scenario_facts import scenario_facts
from lissom.runs.validate import validate
from lissom.studio.posed_robot import posed_robot
from performed import performed

ROBOT = "de-luca-siciliano"
Q = (0.4, -0.7)


@pytest.fixture(scope="module")
def posed():
    return posed_robot(ROBOT)


def test_the_weight_of_the_centre_of_mass_is_the_gravity_energy(posed):
    changes = {"gravity": [0.3, -9.0, 0.0]}
    found = posed_robot(ROBOT, changes).pose(q=Q, masses=True)
    whole = found["masses"][-1]
    balanced = performed("static", ROBOT, changes, q=Q).result
    # V = -m g . c, of the bent robot.
    energy = -whole["mass"] * np.dot(changes["gravity"], whole["centre"])
    assert energy == pytest.approx(balanced.gravity_energy, rel=1e-9)


def test_principal_moments_of_two_bars_are_those_of_steiners_theorem():
    bar = {"section": {"shape": "rectangle", "y": 0.02, "z": 0.01}, "elements": 2}
    links = [
        {
            "name": name,
            "joint": {"type": "revolute", "dh": {"a": length}},
            "beam": {**bar, "material": "steel", "theory": "timoshenko"},
        }
        for name, length in (("one", 0.5), ("two", 0.3))
    ]
    model = ls.Model(ls.Robot.from_dict({"name": "bars", "links": links}), modes=0)
    # At a right angle: one along x, the other along y from its end.
    first, second = mass_properties(model, model.at([0.0, np.pi / 2]))
    whole = combined((first, second))
    m = 7850 * 0.02 * 0.01 * np.array([0.5, 0.3])
    a, b = np.array([0.25, 0, 0]), np.array([0.5, 0.15, 0])
    centre = (m[0] * a + m[1] * b) / m.sum()
    slim = m[0] * 0.5**2 / 12 + m[1] * 0.3**2 / 12
    apart = m[0] * m[1] / m.sum() * np.sum((a - b) ** 2)
    own = (m * (0.02**2 + 0.0**2) / 12).sum()  # of the sections, about z
    assert whole.mass == pytest.approx(m.sum(), rel=1e-12)
    assert whole.centre == pytest.approx(centre, abs=1e-12)
    assert whole.inertia[2, 2] == pytest.approx(slim + apart + own, rel=1e-9)
    moments, axes = whole.principal
    assert moments[2] == pytest.approx(whole.inertia[2, 2], rel=1e-9)
    turned = axes @ np.diag(moments) @ axes.T
    assert turned == pytest.approx(whole.inertia, abs=1e-12)
    assert np.linalg.det(axes) == pytest.approx(1.0)


def test_a_node_that_is_pulled_comes_there_and_stays_short_where_it_cannot(posed):
    tip = "second/tip" if "second/tip" in posed.model.node_names else None
    tip = tip or posed.model.node_names[-1]
    start = posed.pose(q=Q)
    aim = np.asarray(start["tip"]) + np.array([-0.05, 0.04, 0.0])
    pull = {"node": tip, "to": tuple(aim)}
    found = posed.pose(q=Q, pull=pull)
    assert found["reached"]
    assert np.asarray(found["tip"]) == pytest.approx(aim, abs=1e-3)
    far = posed.pose(q=Q, pull={"node": tip, "to": (9.0, 0.0, 0.0)})
    assert not far["reached"]
    # Stretched out as far as it goes, towards the target.
    assert far["q"][posed.model.joint_names[1]] == pytest.approx(0.0, abs=1e-3)


WRONG = {
    "links.fore.beam.section": {"shape": "circle", "diameter": 20.0},  # meant: 20 mm
    "links.upper.joint.limits": {"position": [-1.0, 1.0]},
    "initial.q": [57.0, 0.0],  # degrees, without their unit
}


def test_a_pose_comes_with_the_warnings_of_validate():
    found = posed_robot(ROBOT, WRONG).pose()
    expected = validate(ROBOT, changes=WRONG).warnings
    assert "20 m thick" in expected[0] and len(expected) == 3
    assert found["start_warnings"] == expected


def test_initial_values_of_a_run_come_with_their_names():
    facts = scenario_facts("double-pendulum")
    assert [joint["name"] for joint in facts["joints"]] == ["upper", "lower"]
    assert facts["nodes"][-1].startswith("lower/")
    assert facts["inputs"]["torque"]["upper"]["value"][0] == 3.0
    assert not facts["from_rest"]
