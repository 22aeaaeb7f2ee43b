import json

import numpy as np
import pytest
from scipy.linalg import expm
from synthetic import chain_scene, synthetic_run

from lissom.atomic import write_atomically
from lissom.describe.geometry import node_names
from lissom.describe.robot import Robot
from lissom.files.description_files import library_names
from lissom.show.robot_scene import scene_of
from lissom.show.scene import (
    LinkShape,
    Scene,
    bent_line,
    circle_contour,
    deformed_outline,
    link_rows,
    moving_tip,
    rectangle_contour,
    scene_from_json,
    scene_nodes,
    scene_to_json,
    swept_outline,
    tip_nodes,
)


def turned(vector):
    """exp(w x): the rotation by a vector, as the exponential of its skew matrix."""
    x, y, z = vector
    return expm(np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]))


def test_scene_reads_back_from_json_number_for_number():
    scene = chain_scene(
        ("revolute", "prismatic"), spatial=True, rigid=(1,), gravity=(0.1, -9.7, 1 / 3)
    )
    back = scene_from_json(scene_to_json(scene))
    assert (back.name, back.gravity) == (scene.name, scene.gravity)
    for ours, theirs in zip(scene.links, back.links, strict=True):
        assert (ours.name, ours.joint, ours.nodes, ours.flexible, ours.axis) == (
            theirs.name,
            theirs.joint,
            theirs.nodes,
            theirs.flexible,
            theirs.axis,
        )
        np.testing.assert_array_equal(ours.outline, theirs.outline)


def test_scene_json_is_plain_json():
    assert json.loads(scene_to_json(chain_scene()))["links"][0]["nodes"] == [
        "link1/0",
        "link1/1",
        "link1/2",
    ]


def test_nodes_and_rows_follow_the_links():
    scene = chain_scene()
    assert scene_nodes(scene)[3:] == ("link2/0", "link2/1", "link2/2")
    assert tip_nodes(scene) == ("link1/2", "link2/2")
    assert [scene_nodes(scene)[rows] for rows in link_rows(scene)] == [
        link.nodes for link in scene.links
    ]


def test_outline_that_does_not_fit_the_nodes_is_refused_with_the_links_name():
    with pytest.raises(ValueError, match=r"'arm'.*\(2, C, 3\).*\(3, 4, 3\)"):
        LinkShape("arm", "revolute", ("arm/0", "arm/1"), np.zeros((3, 4, 3)), True)


def test_whole_numbers_become_plain_floats():
    link = LinkShape(
        "arm", "fixed", ("arm/0",), np.zeros((1, 4, 3), int), False, (0, 1, 0)
    )
    assert link.axis == (0.0, 1.0, 0.0) and link.outline.dtype == float
    assert Scene("arm", (link,), (0, 0, -9)).gravity == (0.0, 0.0, -9.0)


def test_rigidly_turned_robot_has_the_turned_outline():
    run = synthetic_run(spatial=True, dt=0.1)
    scene = scene_from_json(run.attrs["scene"])
    position, rotation, frame = (
        run[name].values[3] for name in ("position", "rotation", "frame")
    )
    R, p = turned([0.4, -0.8, 1.3]), np.array([0.3, -0.2, 0.9])
    before = deformed_outline(scene, position, rotation, frame)
    after = deformed_outline(scene, position @ R.T + p, rotation @ R.T, R @ frame)
    for a, b in zip(before, after, strict=True):
        np.testing.assert_allclose(b, a @ R.T + p, atol=1e-14)


def test_elastic_rotation_turns_the_section_about_its_node():
    scene = chain_scene(("revolute",))
    position = np.array([[0.0, 0, 0], [0.25, 0, 0], [0.5, 0, 0]])
    rotation = np.tile([0.2, -0.5, 0.9], (3, 1))
    (outline,) = deformed_outline(scene, position, rotation, np.eye(3)[None])
    expected = position[:, None] + scene.links[0].outline @ turned([0.2, -0.5, 0.9]).T
    np.testing.assert_allclose(outline, expected, atol=1e-15)


def test_outline_without_elastic_rotation_is_exact():
    scene = chain_scene(("revolute",))
    position = np.array([[0.1, 0.2, 0.3], [0.35, 0.2, 0.3], [0.6, 0.2, 0.3]])
    expected = position[:, None] + scene.links[0].outline
    for rotation in (None, np.zeros((3, 3))):
        (outline,) = deformed_outline(scene, position, rotation, np.eye(3)[None])
        np.testing.assert_array_equal(outline, expected)


def test_swept_section_keeps_its_sides_along_a_straight_path():
    points = np.array([[0, 0, 0], [0.2, 0, 0], [0.7, 0, 0.0]])
    outline = swept_outline(
        points, rectangle_contour(0.03, 0.01), np.array([0.0, 0.0, 1.0])
    )
    assert outline.shape == (3, 4, 3)
    np.testing.assert_allclose(
        np.ptp(outline, axis=1), np.tile([0, 0.03, 0.01], (3, 1)), atol=1e-15
    )


def test_elbow_is_mitred_so_that_both_arms_keep_their_section():
    points = np.array([[0, 0, 0], [0.5, 0, 0], [0.5, 0.5, 0.0]])
    outline = swept_outline(
        points, rectangle_contour(0.03, 0.01), np.array([0.0, 0.0, 1.0])
    )
    np.testing.assert_allclose(
        np.ptp(outline[1], axis=0), [0.03, 0.03, 0.01], atol=1e-15
    )
    np.testing.assert_allclose(
        outline[1] @ [1.0, 1.0, 0.0], 0, atol=1e-15
    )  # in the plane that halves the right angle
    np.testing.assert_allclose(np.ptp(outline[2], axis=0), [0.03, 0, 0.01], atol=1e-15)


def test_tapered_contours_and_single_nodes_are_swept():
    contours = np.array([circle_contour(0.04), circle_contour(0.02)])
    outline = swept_outline(
        np.array([[0, 0, 0], [0, 0, 0.3]]), contours, np.array([1.0, 0, 0])
    )
    np.testing.assert_allclose(
        np.linalg.norm(outline, axis=2), np.array([[0.02] * 16, [0.01] * 16])
    )
    assert swept_outline(
        np.zeros((1, 3)), circle_contour(0.04), np.array([0, 0, 1.0])
    ).shape == (1, 16, 3)


def test_bent_line_is_the_cantilevers_cubic():
    length, tip = (
        0.8,
        0.01,
    )  # end load: w = tip (3 x^2 L - x^3) / (2 L^3), slope 3 tip / (2 L) at the end
    erls = np.array([[0.0, 0, 0], [length, 0, 0]])
    line = bent_line(
        erls,
        np.array([[0, 0, 0], [0, tip, 0]]),
        np.array([[0, 0, 0], [0, 0, 1.5 * tip / length]]),
        10,
    )
    x = line[:, 0]
    np.testing.assert_allclose(
        line[:, 1], tip * (3 * x**2 * length - x**3) / (2 * length**3), atol=1e-15
    )


def test_bent_line_stretches_evenly():
    line = bent_line(
        np.array([[0.0, 0, 0], [1, 0, 0]]),
        np.array([[0.0, 0, 0], [0.1, 0, 0]]),
        np.zeros((2, 3)),
        4,
    )
    np.testing.assert_allclose(line[:, 0], np.linspace(0, 1.1, 5))


def test_failed_write_leaves_the_old_file_and_no_draft(tmp_path):
    target = tmp_path / "picture.png"
    target.write_bytes(b"old")

    def fails_half_way(file):
        file.write(b"half of the new one")
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk full"):
        write_atomically(target, fails_half_way)
    assert target.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["picture.png"]


def test_write_replaces_the_file_whole(tmp_path):
    target = tmp_path / "picture.png"
    target.write_bytes(b"old and longer")
    assert write_atomically(target, lambda file: file.write(b"new")) == target
    assert target.read_bytes() == b"new"


def test_scene_without_links_has_no_nodes():
    assert scene_nodes(Scene("empty", ())) == ()


def test_the_tip_that_is_shown_is_one_that_moves():
    scene = chain_scene()  # two links of three nodes
    position = np.random.default_rng(0).normal(size=(5, 6, 3))
    assert moving_tip(scene, position) == 5
    position[:, 5] = [0.3, 0.0, 0.0]  # a loop holds it
    assert moving_tip(scene, position) == 2
    assert moving_tip(scene, np.zeros((5, 6, 3))) == 5


@pytest.mark.parametrize("name", library_names())
def test_scene_of_a_robot_has_an_outline_at_each_of_its_nodes(name):
    robot = Robot.load(name)
    assert scene_nodes(scene_of(robot)) == node_names(robot)


def test_scene_of_a_tapered_elbow_has_the_sections_of_the_taper():
    start = {"shape": "circle", "diameter": 0.05}
    end = {"shape": "circle", "diameter": 0.02}
    beam = {
        "path": [[0, 0, 0], [0, 0, 0.3], [0.4, 0, 0.3]],
        "section": {"start": start, "end": end},
        "material": {"E": 7.1e10, "nu": 0.31, "density": 2750.0},
        "elements": 2,
    }
    arm = {"name": "arm", "joint": {"type": "revolute"}, "beam": beam}
    (link,) = scene_of(Robot.from_dict({"name": "elbow", "links": [arm]})).links
    # The mitre stretches the section of the elbow in its plane, and leaves it alone across.
    radii = np.linalg.norm(link.outline, axis=2).min(axis=1)
    shares = np.array([0, 0.15, 0.3, 0.5, 0.7]) / 0.7
    np.testing.assert_allclose(radii, 0.025 - 0.015 * shares, rtol=1e-14)
