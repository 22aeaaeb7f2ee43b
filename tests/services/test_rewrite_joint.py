"""A joint that is written the other way is where it was, whatever the angles."""

import copy
import random

import numpy as np
import pytest

from lissom.describe import DescriptionError, Robot
from lissom.describe.geometry import beam_path, beam_up, joint_axis, joint_frame, tip
from lissom.services.rewrite_joint import rewrite_joint

BEAM = {
    "section": {"shape": "rectangle", "y": "10 mm", "z": "30 mm"},
    "material": "steel",
    "elements": 2,
}
RIGID = {"mass": 1.0, "com": [0, 0, 0], "inertia": [1e-3, 1e-3, 1e-3]}
ANGLES = (0, "90 deg", "-90 deg", 0.3, -2.5, "180 deg")


SEEDS = [*range(3), *(pytest.param(k, marks=pytest.mark.slow) for k in range(3, 12))]


def row(draw):
    return {
        "a": draw.choice((0.4, "250 mm")),
        "alpha": draw.choice(ANGLES),
        "d": draw.choice((0, -0.1, "120 mm")),
        "theta": draw.choice(ANGLES),
    }


def described(seed, joints=4):
    draw = random.Random(seed)
    links = []
    for k in range(joints):
        joint = {"type": draw.choice(("revolute", "prismatic")), "dh": row(draw)}
        body = draw.choice(({"beam": BEAM}, {"rigid": RIGID}))
        links.append({"name": f"link{k}", "joint": joint, **copy.deepcopy(body)})
    # A branch: two links sit on the second one.
    links[-1]["parent"] = "link1"
    return {"lissom": 1, "name": "some", "links": links}


def changed(data, edits):
    data = copy.deepcopy(data)
    for edit in edits:
        *way, last = edit.path
        place = data
        for step in way:
            place = place[step]
        if edit.data is None:
            place.pop(last, None)
        else:
            place[last] = edit.data
    return data


def rewritten(data, tmp_path, link, by):
    file = tmp_path / "robot.yaml"
    Robot.from_dict(data).save(file)
    return changed(data, rewrite_joint(str(file), link, by))


def geometry(robot):
    found = []
    for i, link in enumerate(robot.links):
        found += [*joint_frame(robot, i), joint_axis(robot, i), tip(robot, i)]
        if link.beam is not None:
            found += [beam_path(robot, i), beam_up(robot, i)]
    return np.concatenate([np.ravel(np.asarray(part, float)) for part in found])


@pytest.mark.parametrize("seed", SEEDS)
def test_every_link_stays_where_it_is(seed, tmp_path):
    data = described(seed)
    before = geometry(Robot.from_dict(data))
    for i in range(len(data["links"])):
        other = rewritten(data, tmp_path, i, "origin")
        joint = other["links"][i]["joint"]
        assert "dh" not in joint and joint["axis"] == [0, 0, 1]
        np.testing.assert_allclose(geometry(Robot.from_dict(other)), before, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_and_so_it_does_on_the_way_back(seed, tmp_path):
    data = described(seed)
    before = geometry(Robot.from_dict(data))
    for i in range(len(data["links"])):
        data = rewritten(data, tmp_path, i, "origin")
    assert not any("dh" in link["joint"] for link in data["links"])
    for i in range(len(data["links"])):
        data = rewritten(data, tmp_path, i, "dh")
        assert "dh" in data["links"][i]["joint"]
        np.testing.assert_allclose(geometry(Robot.from_dict(data)), before, atol=1e-12)


@pytest.mark.parametrize(
    ("joint", "reason"),
    [
        ({"axis": [0, 1, 0]}, "another axis than z"),
        ({"origin": {"rpy": [0, 0.4, 0]}}, "turned about more than z"),
        ({"origin": {"xyz": [0, 0, 0.1]}}, "origin of the world"),
        ({"origin": {}}, "off the x-z plane"),
    ],
)
def test_a_joint_that_no_row_describes_is_refused_with_the_reason(
    joint, reason, tmp_path
):
    beam = {**BEAM, "path": [[0, 0, 0], [0.3, 0.1, 0]]}
    link = {"name": "one", "joint": {"type": "revolute", **joint}, "beam": beam}
    data = {"lissom": 1, "name": "some", "links": [link]}
    with pytest.raises(DescriptionError, match=reason):
        rewritten(data, tmp_path, 0, "dh")


def test_a_link_that_there_is_not_is_refused(tmp_path):
    with pytest.raises(DescriptionError, match="there are 4 links"):
        rewritten(described(0), tmp_path, 7, "origin")
