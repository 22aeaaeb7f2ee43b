import base64
import dataclasses
import html
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from synthetic import synthetic_run

from lissom import Model, modes
from lissom.show import viewer
from lissom.show.mode_animation import AMPLITUDE, TWIST, mode_dataset
from lissom.show.scene import Load, scene_from_json, scene_nodes, scene_to_json
from lissom.show.viewer import animate, animation_page, automatic_scale, moving_page


@pytest.fixture(scope="module")
def run():
    return synthetic_run(dt=0.005)


class Page(HTMLParser):
    """Collects every attribute of every tag."""

    def __init__(self, text):
        super().__init__()
        self.attributes = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.attributes += [(tag, *pair) for pair in attrs]


def content(text):
    return json.loads(
        re.search(
            r'<script type="application/json" id="data">(.*?)</script>', text, re.S
        )[1]
    )


def embedded(text):
    """Arrays of the page, decoded as the page decodes them."""
    data = content(text)
    blob = base64.b64decode(data["blob"])
    return {
        name: np.frombuffer(
            blob, "<f4", int(np.prod(place["shape"])), place["offset"]
        ).reshape(place["shape"])
        for name, place in data["arrays"].items()
    }


def test_a_notebook_shows_the_whole_page_in_a_frame(run, tmp_path):
    page = moving_page(run)
    frame = Page(page._repr_html_()).attributes
    held = {name: value for tag, name, value in frame if tag == "iframe"}
    # What the frame holds is the page itself, to the last character.
    assert held["srcdoc"] == page.text
    assert held["sandbox"] == "allow-scripts"
    assert page.save(tmp_path / "page.html").read_text() == page.text
    assert "MB" in repr(page)
    assert repr(page).count("\n") == 0


def test_page_is_self_contained(run):
    text = animation_page(run, None, 30)
    assert not re.search(
        r"https?:|//[a-z]+\.|@import|url\(",
        text.replace(content(text)["blob"], ""),
        re.I,
    )
    assert not [
        item
        for item in Page(text).attributes
        if item[1] in ("src", "href", "srcset", "action")
    ]
    assert "default-src 'none'" in text


def test_embedded_arrays_are_the_dataset_to_single_precision(run):
    arrays = embedded(animation_page(run, None, 30))
    rows = np.searchsorted(run.time, arrays["time"] - 1e-6)
    np.testing.assert_allclose(arrays["time"], run.time.values[rows], rtol=1e-6)
    assert (arrays["time"][0], arrays["time"][-1]) == (0.0, 2.0)
    for name in ("position", "erls_position", "rotation", "frame"):
        np.testing.assert_allclose(
            arrays[name], run[name].values[rows], rtol=1e-6, atol=1e-7
        )
    shift = 1e3 * (run.position - run.erls_position).sel(node="link2/2")
    np.testing.assert_allclose(arrays["chart/0"], shift, rtol=1e-6, atol=1e-6)


def test_nodes_are_embedded_in_the_scenes_order(run):
    shuffled = run.isel(node=[3, 0, 5, 1, 4, 2])
    text = animation_page(shuffled, None, 30)
    assert content(text)["nodes"] == list(run.node.values)
    np.testing.assert_array_equal(
        embedded(text)["position"], embedded(animation_page(run, None, 30))["position"]
    )


def test_frames_come_at_the_rate_asked_for_down_to_a_tenth_of_real_speed():
    run = synthetic_run(dt=0.001)
    assert len(embedded(animation_page(run, None, 10))["time"]) == pytest.approx(
        2 * 10 / viewer.SLOWEST, rel=0.02
    )


def test_long_runs_stay_below_five_megabytes(tmp_path):
    short = synthetic_run(("revolute",) * 7, spatial=True, dt=0.01, elements=3)
    long = short.isel(time=np.arange(20000) % len(short.time)).assign_coords(
        time=np.arange(20000) * 1e-3
    )
    path = animate(long, tmp_path / "long.html")
    assert 3e6 < path.stat().st_size < 5.2e6


def test_names_cannot_break_the_page(run, tmp_path):
    evil = run.assign_attrs(
        name="</script><script>alert(1)</script> & <b>", scene=run.attrs["scene"]
    )
    text = animate(evil, tmp_path / "evil.html").read_text(encoding="utf-8")
    assert "alert(1)</script>" not in text
    assert "&lt;/script&gt;" in text and content(text)["nodes"]


def test_automatic_scale_is_round_and_draws_a_visible_but_modest_deformation(run):
    erls = run.erls_position.values
    for amplitude in (1e-6, 1e-4, 3e-3, 0.02, 0.5):
        scale = automatic_scale(erls + np.array([0.0, amplitude, 0.0]), erls)
        assert scale in (1, 2, 5, 10, 20, 50, 100)
        assert (
            scale == 1
            or scale * amplitude <= viewer.VISIBLE_SHARE * viewer.robot_size(erls)
        )


@pytest.mark.parametrize(
    ("option", "message"),
    [({"scale": 0.5}, "between 1 and 100"), ({"fps": 0}, "positive")],
)
def test_bad_options_are_refused_and_nothing_is_written(run, tmp_path, option, message):
    with pytest.raises(ValueError, match=message):
        animate(run, tmp_path / "run.html", **option)
    assert not list(tmp_path.iterdir())


def test_frames_that_diverged_are_left_out(run):
    broken = run.copy(deep=True)
    broken["position"][300:] = np.nan
    arrays = embedded(animation_page(broken, None, 30))
    assert all(np.isfinite(values).all() for values in arrays.values())
    assert arrays["time"][-1] == pytest.approx(float(run.time[299]))


def test_run_without_a_finite_frame_is_refused(run):
    broken = run.copy(deep=True)
    broken["position"][:] = np.nan
    with pytest.raises(ValueError, match="no finite positions"):
        animation_page(broken, None, 30)


def test_single_pose_and_rigid_robot_make_a_page():
    still = synthetic_run(("revolute",), rigid=(0,), dt=0.1).isel(time=[0])
    text = animation_page(still, None, 30)
    assert embedded(text)["time"].shape == (1,)
    assert len(content(text)["nodes"]) == 3


def test_summary_names_the_largest_tip_displacement(run):
    tip = scene_nodes(viewer.scene_from_json(run.attrs["scene"]))[-1]
    largest = 1e3 * float(
        np.linalg.norm((run.position - run.erls_position).sel(node=tip), axis=1).max()
    )
    assert f"largest tip displacement {largest:.3g} mm" in animation_page(run, None, 30)


def test_mixed_joints_have_charts_in_their_own_units():
    charts = content(
        animation_page(synthetic_run(("revolute", "prismatic"), dt=0.05), None, 30)
    )["charts"]
    named = {(chart["label"], chart["unit"]): chart["series"] for chart in charts}
    assert named["Joint angle", "deg"] == ["link1"] and named[
        "Joint position", "m"
    ] == ["link2"]
    assert (
        named["Joint force", "N"] == ["link2"]
        and "residual" not in named["Energy", "J"]
    )


def test_modes_in_motion_bend_or_twist_by_a_visible_amount():
    model = Model("simple-pendulum", "erls-fem")
    state = model.static([-0.4])
    found = modes(model, state, locked=True)
    bending = mode_dataset(model, state, found, 1)
    shift = bending.position - bending.position[0]
    size = np.ptp(bending.erls_position.values[0], axis=0).max()
    # The tip swings on an arc: its displacement is off the tangent by the square of the amplitude.
    largest = np.linalg.norm(shift.values, axis=2).max()
    assert largest == pytest.approx(AMPLITUDE * size, rel=AMPLITUDE**2)
    words = "largest displacement drawn as 12 % of the robot's size"
    assert bending.amplitude == words
    # The page says so too: the size of a mode is no displacement in millimetres, and not true to scale.
    page = moving_page(bending, scale=1).text
    assert content(page)["amplitude"] == words
    assert words in html.unescape(page.partition("<script")[0])
    assert "largest tip displacement" not in page

    # A mode that only twists the rod moves no node: it is shown by its rotation.
    twist = found.names.index("rod/2.rx")
    number = 1 + int(np.abs(found.shapes[twist]).argmax())
    twisting = mode_dataset(model, state, found, number)
    turn = twisting.rotation - twisting.rotation[0]
    assert np.linalg.norm(turn.values, axis=2).max() == pytest.approx(TWIST, rel=1e-9)
    assert twisting.amplitude == "largest rotation drawn as 0.5 rad"


def test_surfaces_and_loads_travel_to_the_page():
    cube = np.random.default_rng(2).uniform(0, 0.1, (12, 3, 3))
    run = synthetic_run(dt=0.05, rigid=(0,))
    scene = scene_from_json(run.attrs["scene"])
    load = Load(node=2, mass=1.5, offset=(0.0, 0.1, 0.0), payload=True)
    first, second = scene.links
    first = dataclasses.replace(first, surface=cube)
    second = dataclasses.replace(second, surface=cube, loads=(load,))
    shown = dataclasses.replace(scene, links=(first, second))
    run.attrs["scene"] = scene_to_json(shown)
    text = moving_page(run).text
    arrays = embedded(text)
    np.testing.assert_allclose(arrays["surface/0"], cube, atol=1e-5)
    np.testing.assert_allclose(arrays["surface/1"], cube, atol=1e-5)
    (shipped,) = content(text)["links"][1]["loads"]
    assert shipped == {
        "node": 2,
        "mass": 1.5,
        "offset": [0.0, 0.1, 0.0],
        "payload": True,
    }
