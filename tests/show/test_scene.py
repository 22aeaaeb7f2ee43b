import json

import numpy as np
import pytest
from synthetic import chain_scene, synthetic_run

from lissom.atomic import write_atomically
from lissom.show.scene import (
    LinkShape,
    Scene,
    bent_line,
    circle_contour,
    deformed_outline,
    exaggerated,
    link_rows,
    moving_tip,
    rectangle_contour,
    rotation_matrix,
    scene_from_json,
    scene_nodes,
    scene_to_json,
    swept_outline,
    tip_nodes,
)


def turned(vector):
    return rotation_matrix(np.array(vector))


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


def test_rotation_matrix_is_the_exponential_of_the_skew_matrix():
    from scipy.linalg import expm

    w = np.array([0.7, -1.1, 0.4])
    skew = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    np.testing.assert_allclose(rotation_matrix(w), expm(skew), atol=1e-14)
    np.testing.assert_array_equal(
        rotation_matrix(np.zeros((2, 3))), np.broadcast_to(np.eye(3), (2, 3, 3))
    )


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


def test_exaggeration_grows_displacements_and_keeps_sections_square_to_the_line():
    slope = 0.03  # a cantilever turned rigidly by a small angle: its line and its section turn alike
    erls, position = (
        np.array([[0.0, 0, 0], [1.0, 0, 0]]),
        np.array([[0.0, 0, 0], [1.0, np.tan(slope), 0]]),
    )
    drawn, turn = exaggerated(position, erls, np.array([[0, 0, slope]] * 2), 20.0)
    np.testing.assert_allclose(drawn[1], [1.0, 20 * np.tan(slope), 0])
    np.testing.assert_allclose(turn[:, 2], np.arctan2(drawn[1, 1], drawn[1, 0]))


def test_exaggeration_by_one_changes_nothing_and_zero_rotation_stays_zero():
    rng = np.random.default_rng(3)
    position, erls, rotation = rng.normal(size=(3, 4, 3)) * 0.1
    for ours, same in zip(
        exaggerated(position, erls, rotation, 1.0), (position, rotation), strict=True
    ):
        np.testing.assert_allclose(ours, same, atol=1e-15)
    np.testing.assert_array_equal(exaggerated(position, erls, 0 * rotation, 50.0)[1], 0)


def test_scale_without_erls_is_refused():
    with pytest.raises(ValueError, match="erls_position"):
        deformed_outline(
            chain_scene(("revolute",)),
            np.zeros((3, 3)),
            None,
            np.eye(3)[None],
            scale=2.0,
        )


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
