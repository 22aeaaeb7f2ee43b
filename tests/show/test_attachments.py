"""What sits on the links of a robot in a picture: where it is, and how large."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import lissom as ls
from lissom.describe import DescriptionError
from lissom.files.triangles import box_triangles, write_stl
from lissom.show.attachments import attachments
from lissom.show.figure import draw_robot
from lissom.show.robot_scene import scene_of
from lissom.show.scene import scene_from_json, scene_to_json

TURN = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def arm(**link):
    joint = {"type": "revolute", "origin": {}, "axis": [0, 0, 1]}
    joint["motor"] = {"inertia": 1e-3, "ratio": 50}
    rigid = {"mass": 2.0, "com": [0.2, 0, 0], "inertia": [0.1] * 3, "tip": [0.5, 0, 0]}
    masses = [{"node": 0, "mass": 0.5, "offset": [0.1, 0.02, 0.03]}]
    entry = {"name": "upper", "joint": joint, "rigid": rigid, "masses": masses, **link}
    payload = {"mass": 1.0, "offset": [0.04, 0, 0]}
    return ls.Robot.from_dict({"name": "arm", "payload": payload, "links": [entry]})


def parts_of(scene):
    """By kind, in a pose that turns the link by a quarter and moves it up."""
    position = np.array([[0.0, 0.0, 1.0], [0.0, 0.5, 1.0]])
    found = attachments(scene, position, TURN[None], 0.2)
    return {part.kind: part for part in found}


def test_masses_payload_and_motor_are_drawn_where_they_are():
    parts = parts_of(scene_of(arm()))
    middles = {
        kind: part.triangles.reshape(-1, 3).mean(axis=0) for kind, part in parts.items()
    }
    mass, payload = middles["mass (ball of steel)"], "payload (ball of steel)"
    assert_allclose(mass, [-0.02, 0.1, 1.03], atol=1e-12)
    assert_allclose(middles[payload], [0.0, 0.54, 1.0], atol=1e-12)
    assert_allclose(middles["motor"], [0.0, 0.0, 1.0], atol=1e-12)
    # A kilogram of steel: a ball of 4/3 pi r^3 = 1 / 7850 m^3.
    ball = parts[payload].triangles.reshape(-1, 3) - middles[payload]
    radius = np.cbrt(3 / (4 * np.pi * 7850))
    assert np.linalg.norm(ball, axis=1).max() == pytest.approx(radius, rel=1e-9)


def test_what_sits_on_links_survives_a_result_file():
    scene = scene_of(arm())
    assert scene_from_json(scene_to_json(scene)).links[0].loads == scene.links[0].loads
    assert scene_from_json(scene_to_json(scene)).links[0].motor


def test_a_surface_moves_with_its_link(tmp_path):
    write_stl(box_triangles(0.2, 0.1, 0.1), tmp_path / "box.stl")
    robot = arm(visual={"file": str(tmp_path / "box.stl")})
    scene = scene_of(robot)
    (surface,) = [part for kind, part in parts_of(scene).items() if not kind]
    corners = surface.triangles.reshape(-1, 3)
    assert_allclose(np.ptp(corners, axis=0), [0.1, 0.2, 0.1], atol=1e-6)
    figure = draw_robot(scene, np.array([[0.0, 0, 0], [0.5, 0, 0]]), np.eye(3)[None])
    legend = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert "motor" in legend and "payload (ball of steel)" in legend


def test_a_surface_that_is_not_there_is_refused_by_name(tmp_path):
    robot = arm(visual={"file": str(tmp_path / "none.stl")})
    with pytest.raises(DescriptionError, match="visual: .*none.stl: .*No such file"):
        scene_of(robot)
