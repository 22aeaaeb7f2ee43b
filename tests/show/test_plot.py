import subprocess
import sys

import numpy as np
import pytest
from synthetic import synthetic_run

from lissom.show.axes import plane_of
from lissom.show.plot import (
    displaced_nodes,
    plot_compare,
    plot_modes,
    plot_run,
    spread,
)
from lissom.show.scene import scene_from_json


@pytest.fixture(scope="module")
def run():
    return synthetic_run(dt=0.01)


def lines(figure):
    """Drawn lines of a figure by label of the axes' y axis (or title) and of the line."""
    return {
        (axes.get_ylabel() or axes.get_title("left"), line.get_label()): line
        for axes in figure.get_axes()
        for line in axes.get_lines()
        if len(line.get_xdata())
    }


def test_joint_lines_show_q_and_encoder_in_degrees(run):
    drawn = lines(plot_run(run))
    for name in ("link1", "link2"):
        np.testing.assert_allclose(
            drawn["angle [deg]", name].get_ydata(), np.degrees(run.q.sel(joint=name))
        )
        np.testing.assert_allclose(
            drawn["angle [deg]", f"_encoder {name}"].get_ydata(),
            np.degrees(run.encoder.sel(joint=name)),
        )
        np.testing.assert_allclose(drawn["angle [deg]", name].get_xdata(), run.time)


def test_displacement_lines_show_position_minus_erls_in_millimetres(run):
    drawn = lines(plot_run(run))
    for node in ("link1/2", "link2/2"):
        for axis in "xyz":
            expected = 1e3 * (run.position - run.erls_position).sel(
                node=node, axis=axis
            )
            np.testing.assert_allclose(
                drawn[f"{axis} [mm]", node].get_ydata(), expected
            )


def test_energy_residual_and_torque_lines_show_the_data(run):
    drawn = lines(plot_run(run))
    for kind in ("kinetic", "strain", "input", "dissipated"):
        np.testing.assert_allclose(
            drawn["energy [J]", kind].get_ydata(), run.energy.sel(kind=kind)
        )
    # The zero of gravity's energy is anywhere: what counts is how it changes.
    gravity = run.energy.sel(kind="gravity")
    fallen = drawn["energy [J]", "gravity, since\nthe start"].get_ydata()
    np.testing.assert_allclose(fallen, gravity - gravity[0])
    np.testing.assert_allclose(
        drawn["residual [J]", "residual"].get_ydata(), run.energy.sel(kind="residual")
    )
    np.testing.assert_allclose(
        drawn["torque [N m]", "link2"].get_ydata(), run.torque.sel(joint="link2")
    )


def test_planar_motion_is_drawn_in_its_plane_with_up_upwards(run):
    figure = plot_run(run)
    drawn = lines(figure)
    tip = run.position.sel(node="link2/2")
    np.testing.assert_allclose(
        drawn["y [m]", "tip of the robot"].get_xdata(), tip.sel(axis="x")
    )
    np.testing.assert_allclose(
        drawn["y [m]", "tip of the robot"].get_ydata(), tip.sel(axis="y")
    )
    erls = run.erls_position.sel(node="link2/2", axis="y")
    np.testing.assert_allclose(
        drawn["y [m]", "tip of the rigid robot (ERLS)"].get_ydata(), erls
    )


def test_spatial_motion_is_drawn_in_space():
    data = synthetic_run(spatial=True, dt=0.01)
    (axes,) = [axes for axes in plot_run(data).get_axes() if axes.name == "3d"]
    (tip,) = [
        line for line in axes.get_lines() if line.get_label() == "tip of the robot"
    ]
    np.testing.assert_allclose(
        np.transpose(tip.get_data_3d()), data.position.sel(node="link2/2")
    )


def test_plane_is_chosen_by_the_thin_direction_and_gravity():
    rng = np.random.default_rng(1)
    flat = rng.normal(size=(50, 3)) * [1.0, 1e-4, 0.8]
    assert plane_of(flat, (0.0, 0.0, -9.81)) == (0, 2)
    assert plane_of(flat, (-9.81, 0.0, 0.0)) == (2, 0)
    assert plane_of(rng.normal(size=(50, 3)), (0.0, 0.0, -9.81)) is None


@pytest.mark.parametrize("joints", [1, 3, 7])
def test_runs_of_one_to_seven_joints_have_a_line_per_joint(joints, tmp_path):
    data = synthetic_run(("revolute",) * joints, spatial=True, dt=0.05)
    drawn = lines(plot_run(data, tmp_path / "run.png"))
    assert sum(panel == "torque [N m]" for panel, _ in drawn) == joints
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")


def test_prismatic_joints_get_metres_and_newtons():
    data = synthetic_run(("revolute", "prismatic"), dt=0.01)
    drawn = lines(plot_run(data))
    np.testing.assert_allclose(
        drawn["position [m]", "link2"].get_ydata(), data.q.sel(joint="link2")
    )
    assert ("force [N]", "link2") in drawn and ("force [N]", "link1") not in drawn


def test_legends_lie_outside_their_axes(run):
    figure = plot_run(run)
    figure.canvas.draw()
    for axes in figure.get_axes():
        if legend := axes.get_legend():
            assert not axes.get_window_extent().overlaps(legend.get_window_extent())


def test_rigid_links_are_left_out_of_the_displacements():
    data = synthetic_run(("revolute", "revolute", "revolute"), rigid=(0,), dt=0.05)
    assert displaced_nodes(data, scene_from_json(data.attrs["scene"])) == [
        "link2/2",
        "link3/2",
    ]


def test_a_link_that_is_held_at_its_tip_shows_its_middle():
    data = synthetic_run(("revolute", "revolute"), dt=0.05)
    scene = scene_from_json(data.attrs["scene"])
    held = data.copy(deep=True)
    there = held.node.values.tolist().index("link2/2")
    held["position"].values[:, there] = held["erls_position"].values[:, there]
    assert displaced_nodes(data, scene)[-1] == "link2/2"
    assert displaced_nodes(held, scene)[-1] == "link2/1"


def test_spread_is_the_largest_distance_between_two_runs(run):
    other = run.copy(deep=True)
    other["position"] = run.position + xr_shift(run, [3e-3, 0.0, 4e-3])
    third = run.copy(deep=True)
    third["position"] = run.position + xr_shift(run, [0.0, 1e-3, 0.0])
    time, distance = spread({"a": run, "b": third, "c": other}, "link2/2")
    np.testing.assert_allclose(time, run.time)
    np.testing.assert_allclose(distance, np.linalg.norm([3e-3, -1e-3, 4e-3]))


def xr_shift(run, shift):
    return run.position * 0 + np.array(shift)


def test_spread_of_runs_with_different_output_steps_compares_equal_times():
    coarse, fine = synthetic_run(dt=0.02, t_end=1.0), synthetic_run(dt=0.005, t_end=2.0)
    time, distance = spread({"coarse": coarse, "fine": fine}, "link2/2")
    assert time[-1] == pytest.approx(1.0)
    np.testing.assert_allclose(distance, 0, atol=1e-12)


def test_comparison_draws_every_run(run):
    other = run.copy(deep=True)
    other["position"] = 1.01 * run.position
    figure = plot_compare({"A": run, "B": other}, "link1/2")
    drawn = lines(figure)
    np.testing.assert_allclose(
        drawn["y [m]", "B"].get_xdata(), other.position.sel(node="link1/2", axis="x")
    )
    distance = drawn["largest distance between two runs [mm]", "spread"].get_ydata()
    expected = 10 * np.linalg.norm(run.position.sel(node="link1/2"), axis=1)
    np.testing.assert_allclose(distance, expected)


def test_unknown_node_is_refused_with_the_known_ones(run):
    with pytest.raises(ValueError, match=r"'A' has no node 'link9/1'.*link2/2"):
        plot_compare({"A": run}, "link9/1")


def test_mode_panels_name_frequency_and_damping_and_draw_the_shape(run):
    position = run.erls_position.values[0]
    shape = np.zeros((2, *position.shape))
    shape[0, -1], shape[1, 2] = [0.0, 3.0, 0.0], [1.0, 2.0, 0.0]
    figure = plot_modes(position, shape, [8.348, 20.49], [0.01, 0.02])
    first, second = figure.get_axes()
    assert (
        "8.348 Hz" in first.get_title()
        and "1 %" in first.get_title()
        and "20.49 Hz" in second.get_title()
    )
    drawn = {line.get_label(): line for line in first.get_lines()}
    moved = drawn["mode"].get_ydata() - drawn["at rest"].get_ydata()
    np.testing.assert_allclose(moved[:-1], 0, atol=1e-15)
    assert moved[-1] == pytest.approx(0.15 * np.ptp(position, axis=0).max())


def test_mode_that_only_twists_links_is_drawn_at_rest():
    position = np.array([[0.0, 0, 0], [0.5, 0, 0], [1.0, 0, 0]])
    bending = np.array([[0.0, 0, 0], [0, 0, 0.3], [0, 0, 1.0]])
    rounding = 1e-14 * bending
    twist = np.array([[0.0, 0, 0], [0.5, 0, 0], [1.0, 0, 0]])
    figure = plot_modes(
        position,
        np.array([bending, rounding]),
        [8.0, 450.0],
        rotations=np.array([0 * twist, twist]),
    )
    for axes, deflection in zip(figure.get_axes(), (0.15, 0.0), strict=True):
        drawn = {line.get_label(): line for line in axes.get_lines()}
        assert np.abs(drawn["mode"].get_ydata()).max() == pytest.approx(deflection)


def test_mode_shapes_of_the_wrong_size_are_refused():
    with pytest.raises(ValueError, match=r"\(modes, 3, 3\)"):
        plot_modes(np.zeros((3, 3)), np.zeros((2, 4, 3)), [1.0, 2.0])


def test_picture_of_an_unknown_kind_is_refused_and_nothing_is_written(run, tmp_path):
    with pytest.raises(ValueError, match=r"\.png, \.pdf or \.svg"):
        plot_run(run, tmp_path / "run.xyz")
    assert not list(tmp_path.iterdir())


def test_importing_the_figures_does_not_import_pyplot():
    code = "import sys, lissom.show.plot, lissom.show.figure; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
