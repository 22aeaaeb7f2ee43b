import numpy as np
import pytest
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from synthetic import chain_scene, synthetic_run

from lissom.show.figure import draw_robot
from lissom.show.scene import deformed_outline, scene_from_json


@pytest.fixture(scope="module")
def pose():
    run = synthetic_run(
        ("revolute", "prismatic", "revolute"), spatial=True, dt=0.1, rigid=(1,)
    )
    scene = scene_from_json(run.attrs["scene"])
    return scene, {
        name: run[name].values[4]
        for name in ("position", "erls_position", "rotation", "frame")
    }


def test_links_are_drawn_where_their_outlines_are(pose):
    scene, now = pose
    axes = draw_robot(
        scene, now["position"], now["frame"], rotation=now["rotation"]
    ).axes[0]
    (solid,) = [item for item in axes.collections if isinstance(item, Poly3DCollection)]
    drawn = solid._faces[~solid._invalid_vertices]
    for outline in deformed_outline(
        scene, now["position"], now["rotation"], now["frame"]
    ):
        for point in outline.reshape(-1, 3):
            assert np.linalg.norm(drawn - point, axis=1).min() < 1e-12


def test_nodes_frames_world_and_gravity_are_named(pose):
    scene, now = pose
    figure = draw_robot(
        scene, now["position"], now["frame"], erls_position=now["erls_position"]
    )
    axes = figure.axes[0]
    names = {text.get_text() for text in axes.texts}
    assert {"$z_{0}$", "$x_{1}$", "$z_{3}$", "$g$", "link3/2", "1"} <= names
    drawn = {
        line.get_label(): np.transpose(line.get_data_3d()) for line in axes.get_lines()
    }
    np.testing.assert_allclose(drawn["nodes"], now["position"])
    np.testing.assert_allclose(drawn["ERLS"], now["erls_position"])
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend[:2] == ["link1: revolute, flexible", "link2: prismatic, rigid"]


def test_one_metre_is_equally_long_on_all_axes(pose):
    scene, now = pose
    axes = draw_robot(scene, now["position"], now["frame"]).axes[0]
    spans = np.array(
        [np.ptp(axes.get_xlim()), np.ptp(axes.get_ylim()), np.ptp(axes.get_zlim())]
    )
    ratio = spans / axes._roll_to_vertical(axes._box_aspect)
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-12)


@pytest.mark.parametrize("kind", ["png", "pdf", "svg"])
def test_picture_is_written_in_the_kind_its_name_asks_for(pose, kind, tmp_path):
    scene, now = pose
    draw_robot(scene, now["position"], now["frame"], tmp_path / f"robot.{kind}")
    start = (tmp_path / f"robot.{kind}").read_bytes()[:5]
    assert start.startswith({"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}[kind])


def test_robot_without_gravity_has_no_gravity_arrow():
    scene = chain_scene(("revolute",), gravity=(0.0, 0.0, 0.0))
    position = np.array([[0.0, 0, 0], [0.25, 0, 0], [0.5, 0, 0]])
    axes = draw_robot(scene, position, np.eye(3)[None]).axes[0]
    assert "$g$" not in {text.get_text() for text in axes.texts}


def test_a_figure_shows_itself_in_a_notebook_without_pyplot(pose):
    scene, now = pose
    figure = draw_robot(scene, now["position"], now["frame"])
    assert figure._repr_png_()[:8] == b"\x89PNG\r\n\x1a\n"
