"""Links of several bodies: what is refused, and which body carries what."""

import numpy as np
import pytest

from lissom.describe import DescriptionError, Robot, Scenario
from lissom.describe.geometry import joint_frame, node_names
from lissom.describe.link_geometry import link_tip
from lissom.describe.segments import (
    body_of_element,
    body_of_node,
    first_bodies,
    in_bodies,
    links_of_bodies,
)

STEEL = {"E": 2e11, "nu": 0.3, "density": 7800}
SECTION = {"shape": "rectangle", "y": 0.01, "z": 0.03}
CORNER = [[0, 0, 0], [0.4, 0, 0], [0.4, 0.3, 0.1]]


def bent_arm(segments=2, **beam):
    """An L-shaped link with masses, and a straight one on its tip."""
    upper = {
        "path": CORNER,
        "section": SECTION,
        "material": STEEL,
        "elements": 4,
        "segments": segments,
    }
    return {
        "name": "arm",
        "links": [
            {
                "name": "upper",
                "joint": {"type": "revolute", "axis": [0, 1, 0]},
                "beam": upper | beam,
                "masses": [{"node": 2, "mass": 0.1}, {"node": "tip", "mass": 0.2}],
            },
            {
                "name": "lower",
                "joint": {"type": "revolute", "origin": {"rpy": [0.1, 0.2, 0.3]}},
                "rigid": {"mass": 1.0, "tip": [0.2, 0, 0]},
            },
        ],
    }


@pytest.mark.parametrize("segments, bodies", [(None, 1), (1, 2), (2, 4), (4, 8)])
def test_every_straight_piece_is_that_many_bodies(segments, bodies):
    robot = Robot.from_dict(bent_arm(segments))
    whole = in_bodies(robot)
    assert len(whole.links) == bodies + 1
    assert links_of_bodies(robot) == (0,) * bodies + (1,)
    assert first_bodies(robot) == (0, bodies)
    assert whole.joint_names == robot.joint_names == ("upper", "lower")
    # Names of nodes stay those of the user.
    assert node_names(robot) == node_names(Robot.from_dict(bent_arm(None)))


def test_the_bodies_lie_along_the_path_and_carry_what_the_link_carries():
    robot = Robot.from_dict(bent_arm(2))
    whole = in_bodies(robot)
    ends = np.cumsum([link_tip(whole.links, i) for i in range(4)], axis=0)
    expected = [[0.2, 0, 0], [0.4, 0, 0], [0.4, 0.15, 0.05], [0.4, 0.3, 0.1]]
    np.testing.assert_allclose(ends, expected, atol=1e-15)
    masses = [[lump.mass for lump in link.masses] for link in whole.links[:4]]
    assert masses == [[0.1], [], [], [0.2]]
    assert whole.links[0].masses[0].node == 2
    R, p = joint_frame(whole, 4)
    R_whole, _ = joint_frame(robot, 1)
    np.testing.assert_allclose(R, R_whole)
    np.testing.assert_allclose(p, link_tip(whole.links, 3))


def test_a_node_between_two_bodies_is_the_tip_of_the_inner_one():
    robot = Robot.from_dict(bent_arm(2))
    places = [body_of_node(robot, 0, k) for k in range(9)]
    assert places == [
        *((0, 0), (0, 1), (0, 2), (1, 1), (1, 2)),
        *((2, 1), (2, 2), (3, 1), (3, 2)),
    ]
    assert [body_of_element(robot, 0, k)[0] for k in range(8)] == [
        0,
        0,
        1,
        1,
        2,
        2,
        3,
        3,
    ]


def test_a_denavit_hartenberg_row_hands_its_twist_to_the_next_joint():
    row = {"a": 0.4, "alpha": 0.7, "d": 0.3, "theta": 0.2}
    beam = {"section": SECTION, "material": STEEL}
    links = []
    for name in ("one", "two"):
        links.append(
            {"name": name, "joint": {"type": "revolute", "dh": row}, "beam": beam}
        )
    plain = Robot.from_dict({"name": "dh", "links": links})
    split = plain.replace({"links.one.beam.segments": 2})
    whole = in_bodies(split)
    assert [link.name for link in whole.links] == [
        "one",
        "one:2",
        "one:3",
        "one:4",
        "two",
    ]
    np.testing.assert_allclose(joint_frame(whole, 4)[0], joint_frame(plain, 1)[0])
    for i in (1, 2, 3):
        np.testing.assert_allclose(joint_frame(whole, i)[0], np.eye(3), atol=1e-15)


def test_a_taper_is_cut_where_the_link_is():
    taper = {
        "start": {"shape": "circle", "diameter": 0.03},
        "end": {"shape": "circle", "diameter": 0.01},
    }
    path = [[0, 0, 0], [0.4, 0, 0]]
    robot = Robot.from_dict(bent_arm(2, section=taper, path=path))
    first, second, _ = in_bodies(robot).links
    assert first.beam.section.start.diameter == pytest.approx(0.03)
    assert first.beam.section.end.diameter == pytest.approx(0.02)
    assert second.beam.section.start.diameter == pytest.approx(0.02)


def test_loops_close_at_the_last_body_and_at_the_body_that_holds_their_node():
    robot = Robot.load("four-bar").replace(
        {"links.*.beam.segments": 2, "links.*.beam.elements": 4}
    )
    (loop,) = in_bodies(robot).loops
    assert loop.link == f"{robot.loops[0].link}:2" and loop.to == "ground"


def problems(data):
    with pytest.raises(DescriptionError) as caught:
        Robot.from_dict(data)
    return [str(problem) for problem in caught.value.problems]


def test_segments_are_refused_with_a_remedy_where_they_make_no_sense():
    (found,) = problems(bent_arm(0))
    assert (
        found == "links.upper.beam.segments: 0: must be a whole number from 1 to 1000"
    )
    (found,) = problems(bent_arm(3))
    assert "elements: 4: must be a multiple of segments (3)" in found
    rigid = bent_arm(2)
    rigid["links"][1]["rigid"]["segments"] = 2
    (found,) = problems(rigid)
    assert found == (
        "links.lower.rigid.segments: 2: belongs to a beam: leave out segments: a rigid link does not bend"
    )


@pytest.mark.parametrize("formulation", ["erls-fem", "erls-cms", "dual-screw"])
def test_segments_need_finite_rotations(formulation):
    with pytest.raises(DescriptionError) as caught:
        Scenario.from_dict({"robot": bent_arm(2), "formulation": formulation})
    (problem,) = caught.value.problems
    assert problem.field == "formulation" and problem.value == formulation
    assert "link upper: use nonlinear, or leave segments out" in problem.message
