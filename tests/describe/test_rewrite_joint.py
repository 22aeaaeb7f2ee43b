"""A joint that is written the other way is where it was, whatever the angles."""

import copy
import random

import numpy as np
import pytest

from lissom.describe import DescriptionError, Robot
from lissom.describe.geometry import beam_path, beam_up, joint_axis, joint_frame, tip
from lissom.describe.rewrite_joint import rewrite_joint

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


# From the base on, links sit on rewritten ones; from the tips on, on those that are still to be rewritten. The way back
# begins at the base: a row goes on from the row before it.
@pytest.mark.parametrize("order", ([0, 1, 2, 3], [3, 2, 1, 0]), ids=("base", "tips"))
@pytest.mark.parametrize("seed", SEEDS)
def test_every_link_stays_where_it_is_there_and_back(seed, order, tmp_path):
    data = described(seed)
    before = geometry(Robot.from_dict(data))
    there, back = (("origin", i) for i in order), (("dh", i) for i in sorted(order))
    for by, i in (*there, *back):
        data = rewritten(data, tmp_path, i, by)
        joint = data["links"][i]["joint"]
        assert ("dh" in joint) == (by == "dh")
        assert by == "dh" or joint["axis"] == [0, 0, 1]
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
