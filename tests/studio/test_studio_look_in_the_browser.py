"""Start, Build, Look and Run as a user meets them, with real processes behind them."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect
from studio_browser import chromium, nameless_elements, opened_page, served_studio
from studio_client import wait_for

from lissom.describe import Robot
from lissom.describe.geometry import beam_path, joint_frame
from lissom.runs.validate import validate
from lissom.show.mode_animation import AMPLITUDE
from lissom.studio.explanation import explanation
from lissom.studio.worker import CallFailed, Worker

pytestmark = pytest.mark.slow
PATIENCE = (
    240_000  # ms: everything is compiled here, on a machine that does other things too
)
ARM = """lissom: 1
name: arm            # my arm
damping: {beta: 0.001}
links:
  - name: upper
    joint: {type: revolute, dh: {a: 0.5, alpha: 0, d: 0, theta: 0}}
    beam:
      section: {shape: tube, outer: 0.03, inner: 0.02}   # the tube we have
      material: aluminium
      elements: 2
  - name: fore
    joint: {type: revolute, dh: {a: 0.4, alpha: 0, d: 0, theta: 0}}
    beam: {section: {shape: rectangle, y: 0.01, z: 0.03}, material: steel, elements: 2}
"""
TURNED = "a: 0.5, alpha: 90 deg, d: 100 mm, theta: 0.4"
PICTURE = "document.querySelector('.build .stage canvas').toDataURL()"
URDF = """<robot name="post">
  <link name="base"/>
  <link name="arm">
    <inertial>
      <mass value="1"/><origin xyz="0.1 0 0"/>
      <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>
    </inertial>
    <visual><geometry><mesh filename="package://post_description/meshes/arm.stl"/></geometry></visual>
  </link>
  <joint name="turn" type="revolute">
    <parent link="base"/><child link="arm"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="10" velocity="1"/>
  </joint>
</robot>
"""


@pytest.fixture(scope="module")
def browser():
    expect.set_options(timeout=PATIENCE)
    with chromium() as opened:
        yield opened


@pytest.fixture(autouse=True)
def closed_pages(browser):
    """Pages that were left open would go on moving their robots."""
    yield
    for context in browser.contexts:
        context.close()


@pytest.fixture
def house(tmp_path):
    with served_studio(tmp_path, Worker) as opened:
        yield opened


def look_at(page, source, **state):
    more = "".join(f"&{key}={value}" for key, value in state.items())
    page.evaluate(f"location.hash = '#screen=look&source={source}{more}'")
    expect(page.locator("#tip-sag")).to_contain_text("mm", timeout=PATIENCE)


def numbers_in(text):
    return [float(found) for found in re.findall(r"-?\d+\.?\d*(?:e[-+]?\d+)?", text)]


def tip_of(page):
    return [
        float(page.get_by_label(f"Tip {axis} in m").input_value()) for axis in "xyz"
    ]


def stl(corners):
    """A binary STL file of one triangle."""
    row = np.zeros(1, dtype=[("n", "<f4", 3), ("v", "<f4", (3, 3)), ("a", "<u2")])
    row["v"][0] = corners
    return bytes(80) + np.uint32(1).tobytes() + row.tobytes()


def test_the_tip_goes_where_it_is_pulled_with_its_sag(browser, house):
    page = opened_page(browser, house)
    look_at(page, "library:anthropomorphic", q="0.3,0.6,-0.9")
    before = tip_of(page)
    target = before[2] - 0.1
    field = page.get_by_label("Tip z in m")
    field.fill(str(target))
    field.press("Enter")
    field.blur()
    moved = lambda: "q=0.3%2C0.6%2C-0.9" not in page.url  # noqa: E731
    assert wait_for(lambda: _after(page, moved), PATIENCE / 1000)
    assert tip_of(page)[2] == pytest.approx(target, abs=1e-3)
    # The other coordinates stay, within what one correction for the sag leaves.
    assert tip_of(page)[:2] == pytest.approx(before[:2], abs=1e-3)
    assert not nameless_elements(page)
    assert not page.complaints


def _after(page, condition):
    page.wait_for_timeout(200)
    return condition()


RING = [0xB8, 0x50, 0x0A]  # its colour on light ground
# Middle of all pixels over the picture that have a colour.
MIDDLE = """(wanted) => {
  const canvas = document.querySelector('.look .labels');
  const { width, height } = canvas;
  const pixels = canvas.getContext('2d').getImageData(0, 0, width, height).data;
  let [count, x, y] = [0, 0, 0];
  for (let k = 0; k < width * height; k++) {
    if (![0, 1, 2].every((c) => Math.abs(pixels[4 * k + c] - wanted[c]) < 12) || pixels[4 * k + 3] < 200) continue;
    count++;
    x += k % width;
    y += Math.floor(k / width);
  }
  const box = canvas.getBoundingClientRect();
  return count ? [box.x + (x / count / width) * box.width, box.y + (y / count / height) * box.height] : null;
}"""


def test_the_ring_at_the_tip_is_pulled_by_the_mouse(browser, house):
    page = opened_page(browser, house)
    look_at(page, "library:anthropomorphic", q="0.3,0.6,-0.9")
    page.get_by_label("Gravity", exact=True).uncheck()
    page.wait_for_timeout(500)
    before = tip_of(page)
    x, y = page.evaluate(MIDDLE, RING)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + 30, steps=3)
    page.mouse.up()
    moved = lambda: tip_of(page)[2] < before[2] - 0.01  # noqa: E731
    assert wait_for(lambda: _after(page, moved), PATIENCE / 1000)
    expect(page.locator("#tip-sag")).to_contain_text("mm")
    assert not page.complaints


def test_a_node_is_picked_in_the_picture(browser, house):
    page = opened_page(browser, house)
    look_at(page, "library:double-pendulum", q="0.5,0.5")
    page.get_by_label("Gravity", exact=True).uncheck()
    page.wait_for_timeout(500)
    x, y = page.evaluate(MIDDLE, RING)
    page.mouse.click(x, y)
    expect(page.get_by_label("Node", exact=True)).to_have_value(re.compile("lower/"))
    expect(page.get_by_label("Displacement or rotation")).to_be_focused()


def test_a_target_out_of_reach_is_said(browser, house):
    page = opened_page(browser, house)
    look_at(page, "library:anthropomorphic", q="0.3,0.6,-0.9")
    field = page.get_by_label("Tip x in m")
    field.fill("5")
    field.press("Enter")
    expect(page.locator("#tip-sag")).to_contain_text("does not reach")


def test_masses_dimensions_and_modes_are_told_at_the_pose(browser, house):
    page = opened_page(browser, house)
    look_at(page, "library:anthropomorphic", q="0.3,0.6,-0.9")
    for shown in ("dimensions", "masses"):
        page.locator(f"[data-shows={shown}]").check()
    facts = page.locator("#mass-facts")
    expect(facts).to_contain_text("kg")
    # Three square steel-like bars: 7840 kg/m^3 times their volumes.
    volume = 0.4 * 0.03**2 + 2 * 0.45 * 0.03 * 0.01
    mass = numbers_in(facts.inner_text())[0]
    assert mass == pytest.approx(7840 * volume, rel=1e-3)
    page.locator("#pose-modes summary").click()
    rows = page.locator("#pose-modes tbody tr")
    expect(rows).to_have_count(10)
    page.locator("#pose-modes").get_by_label("Hold every joint").check()
    expect(rows.nth(0)).not_to_contain_text("joint")
    first = numbers_in(rows.nth(0).inner_text())
    assert 1 < first[1] < 4  # Hz
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    assert not nameless_elements(page)
    assert not page.complaints


# Largest displacement that a stage draws of a mode, as a share of the size, after the robot was drawn in a pose.
DRAWN_MODE = """async ([source, q]) => {
  const { MovingStage } = await import('/assets/player.js');
  const { post } = await import('/assets/server.js');
  const pose = await post('pose', { source, q });
  const { picture } = await post('modes', { source, values: { q, mode: 1, locked: true } });
  const stage = new MovingStage('a robot', '');
  stage.scaleSlider();
  document.body.append(stage.box);
  stage.show(pose.picture);
  const ofPose = stage.choices.scale;
  stage.swing(picture, 'a mode', { keepCamera: true });
  const { motion } = stage.view;
  const drawn = () => motion.nodes.map((_, n) => motion.drawnPoint(n, stage.choices.scale));
  const rest = drawn();
  const sides = [0, 1, 2].map((k) => Math.max(...rest.map((p) => p[k])) - Math.min(...rest.map((p) => p[k])));
  let most = 0;
  for (const t of motion.time) {
    motion.moveTo(t);
    drawn().forEach((p, n) => { most = Math.max(most, Math.hypot(...p.map((x, k) => x - rest[n][k]))); });
  }
  const words = stage.badge.textContent;
  const isLocked = stage.scaleInput.disabled;
  stage.show(pose.picture, { keepCamera: true });
  const found = { ofPose, share: most / Math.max(...sides), words, isLocked, after: stage.choices.scale };
  stage.box.remove();
  return found;
}"""
UR5 = [0.3, -1.1, 1.4, -0.6, 0.2, 0.1]


def test_a_mode_is_drawn_with_an_amplitude_of_its_own(browser, house):
    page = opened_page(browser, house)
    expect(page.locator(".card").first).to_be_visible()
    found = page.evaluate(DRAWN_MODE, ["library:ur5", UR5])
    # The sag of a stiff robot is drawn a hundred times as large, and is so again after the mode.
    assert found["ofPose"] == found["after"] == 100
    # Nodes swing on arcs about where they rest: to first order of the amplitude.
    assert found["share"] == pytest.approx(AMPLITUDE, rel=2 * AMPLITUDE)
    assert found["words"] == "largest displacement drawn as 12 % of the robot's size"
    assert found["isLocked"]
    assert not page.complaints


def test_the_sag_of_another_pose_is_drawn_with_a_factor_of_its_own(browser, house):
    page = opened_page(browser, house)
    upright = f"0,{np.pi / 2},0"
    look_at(page, "library:anthropomorphic", q=upright)
    badge = page.locator(".look .badge")
    expect(badge).to_have_text("deformation \u00d7100")
    # Stretched out, its tip sags by millimetres: a hundred times as much would be the length of the robot.
    fill(page, "upper [deg]", "0")
    expect(badge).not_to_have_text("deformation \u00d7100")
    page.get_by_label("Deformation scale factor").fill("1")
    expect(badge).to_have_text("deformation \u00d710")
    # What the user chose stays.
    fill(page, "upper [deg]", "90")
    expect(page).to_have_url(re.compile(r"q=0%2C1\.57"))
    expect(badge).to_have_text("deformation \u00d710")
    assert not page.complaints


def test_a_pose_that_is_not_found_leaves_no_numbers_of_another(browser, house):
    page = opened_page(browser, house)
    look_at(page, "library:four-bar")
    page.locator("#pose-modes summary").click()
    expect(page.locator("#pose-modes tbody tr").first).to_be_visible()
    page.route("**/api/modes", lambda route: route.abort())
    house.backend.poses.call = refused
    fill(page, page.locator(".slider label").first.inner_text(), "20")
    expect(page.locator(".look aside > .message")).to_contain_text("be closed")
    expect(page.locator(".look .badge")).to_have_text("the last pose that was found")
    expect(page.locator("#tip-sag")).to_have_count(0)
    expect(page.locator("#pose-modes tbody tr")).to_have_count(0)


def refused(*_):
    raise CallFailed(explanation("bad input", "the chain cannot be closed there"))


OTHERS = {
    "swing.yaml": "robot: simple-pendulum\nt_end: 0.01\n",
    "gains.yaml": "scenario: simple-pendulum\nmotion: {t: [0, 1], value: [[0], [1]]}\ncontrollers: {}\n",
    "loads.yaml": "scenario: simple-pendulum\nover: {payload.mass: [1, 2]}\n",
}


def test_files_are_named_as_what_they_are_and_open_where_they_belong(
    browser, house, tmp_path
):
    for name, text in OTHERS.items():
        (tmp_path / name).write_text(text)
    page = opened_page(browser, house)
    rows = page.locator(".files li")
    kinds = {"swing.yaml": "scenario", "gains.yaml": "control study"}
    for name, kind in (kinds | {"loads.yaml": "sweep study"}).items():
        expect(rows.filter(has_text=name)).to_contain_text(kind)
    page.get_by_role("button", name="swing.yaml").click()
    expect(page.locator("#run-title")).to_be_visible()
    expect(page.get_by_label("Robot or scenario")).to_have_value("swing.yaml")
    # Studies are no robots: neither a run nor an analysis offers them.
    offered = page.get_by_label("Robot or scenario").inner_text()
    assert "gains.yaml" not in offered and "loads.yaml" not in offered
    for name, tab in (("gains.yaml", "Controllers"), ("loads.yaml", "Sweeps")):
        page.evaluate("location.hash = '#screen=start'")
        page.get_by_role("button", name=name).click()
        panel = page.get_by_role("tabpanel", name=tab)
        expect(panel.get_by_label("Study")).to_have_value(name)
    # An address may bring one into Build all the same: one sentence says what it is.
    page.evaluate("location.hash = '#screen=build&source=gains.yaml'")
    problems = page.locator(".problems li")
    expect(problems).to_have_count(1)
    expect(problems).to_contain_text("is a control study")
    assert not page.complaints


def test_build_warns_as_validate_does_and_save_and_run_runs(browser, house, tmp_path):
    page = opened_page(browser, house)
    open_arm(page, tmp_path)
    warning = page.locator(".build .warning").first
    expect(page.locator(".build .stage .empty")).to_be_hidden()
    fill(page, "links.upper.beam.section.outer", "20")
    expect(warning).to_contain_text("20 m thick")
    wide = ARM.replace("outer: 0.03", "outer: 20")
    (tmp_path / "wide.yaml").write_text(wide)
    verdict = validate(str(tmp_path / "wide.yaml"))
    assert warning.inner_text() == "\n".join(verdict.warnings)
    # An error has no warnings beside it, and the picture says that it is older.
    fill(page, "links.upper.beam.section.outer", "-1")
    expect(page.locator(".problems li")).to_have_count(1)
    expect(warning).to_be_empty()
    badge = page.locator(".build .badge")
    expect(badge).to_have_text("the last description without an error")
    # What cannot start is not run: the reason stands where the mistakes are.
    page.get_by_role("button", name="Save and run").click()
    expect(page.locator("#notice")).to_contain_text("must be above 0")
    assert "screen=build" in page.url and not house.backend.queue.jobs()
    page.complaints.clear()  # of the browser, about the refusal
    fill(page, "links.upper.beam.section.outer", "0.03")
    expect(badge).to_contain_text("deformation")
    page.get_by_role("button", name="Save and run").click()
    expect(page.locator("#run-title")).to_be_visible()
    page.get_by_role("button", name="Show run 1").wait_for(timeout=PATIENCE)
    assert (tmp_path / "runs" / "arm.nc").stat().st_size > 0
    assert not page.complaints


def test_the_form_of_a_run_forgets_the_robot_before(browser, house, tmp_path):
    (tmp_path / "broken.yaml").write_text("lissom: 1\nname: arm\nlinks: 3\n")
    page = opened_page(browser, house)
    open_run(page, "scenario:double-pendulum")
    reference = page.get_by_label("ERLS", exact=True)
    expect(reference).to_have_attribute("placeholder", re.compile("upper/tip.y"))
    page.get_by_label("Robot or scenario").select_option("broken.yaml")
    expect(page.locator(".run .message")).to_contain_text("links")
    expect(reference).not_to_have_attribute("placeholder", re.compile("upper/tip"))
    duration = page.get_by_label("Duration [s]")
    expect(duration).to_have_attribute("placeholder", "as in the file")
    page.get_by_label("Robot or scenario").select_option("scenario:spin-up")
    expect(duration).not_to_have_attribute("placeholder", "as in the file")
    expect(page.locator(".run .message")).to_be_empty()


def test_a_scenario_without_a_robot_of_its_name_can_be_built_on(browser, house):
    page = opened_page(browser, house)
    for source, built in (
        ("scenario:anthropomorphic", "library%3Aanthropomorphic"),
        ("scenario:anthropomorphic-b", "scenario%3Aanthropomorphic-b"),
    ):
        page.evaluate(f"location.hash = '#screen=run&source={source}'")
        link = page.locator("nav a[data-screen=build]")
        expect(link).to_have_attribute("href", re.compile(f"{built}$"))
    link.click()
    expect(page.get_by_label("File name")).to_have_value(
        "anthropomorphic-b.scenario.yaml"
    )


def test_a_robot_of_the_library_runs_in_its_scenario(browser, house):
    page = opened_page(browser, house)
    look_at(page, "library:simple-pendulum")
    link = page.locator("nav a[data-screen=run]")
    expect(link).to_have_attribute("href", re.compile("scenario%3Asimple-pendulum"))
    page.locator("aside").get_by_role("button", name="Run", exact=True).click()
    expect(page).to_have_url(re.compile("scenario%3Asimple-pendulum"))
    formulation = page.get_by_label("Formulation", exact=True)
    expect(formulation.locator("option").first).to_contain_text("erls-fem")
    assert not page.complaints


def test_a_map_of_a_frequency_takes_the_pose_of_a_click(browser, house):
    page = opened_page(browser, house)
    look_at(page, "library:double-pendulum")
    page.locator("#pose-map summary").click()
    page.locator("#map-poses").click()
    heat = page.locator("#pose-map canvas.heat")
    expect(heat).to_be_visible()
    heat.click(position={"x": 3, "y": 3})
    # The corner of the map: both joints at the ends of their ranges.
    lower = page.get_by_label("lower [deg]", exact=True).first
    assert wait_for(lambda: _after(page, lambda: lower.input_value() == "-180"))
    assert not page.complaints


def test_zeroed_displacements_that_define_no_erls_are_warned_of(browser, house):
    page = opened_page(browser, house)
    look_at(page, "library:double-pendulum")
    page.get_by_text("Choice of the ERLS").click()
    node = page.get_by_label("Node", exact=True)
    part = page.get_by_label("Displacement or rotation")
    # Node 0 of the first link stands on the ground: no joint moves it.
    for name, component in (("upper/0", "x"), ("upper/0", "y")):
        node.select_option(name)
        part.select_option(component)
        page.get_by_role("button", name="Set to zero").click()
    warning = page.locator("details:has-text('Choice of the ERLS') .warning")
    expect(warning).to_contain_text("do not define an ERLS")
    assert not page.complaints


def open_arm(page, tmp_path):
    (tmp_path / "arm.yaml").write_text(ARM)
    page.evaluate("location.hash = '#screen=build&source=arm.yaml'")
    expect(page.get_by_label("All of link fore")).to_be_visible()


def written(page):
    return page.locator(".cm-content").inner_text()


def fill(page, label, value):
    field = page.get_by_label(label, exact=True).first
    field.fill(value)
    field.press("Enter")


def test_the_form_writes_every_kind_of_entry_and_keeps_comments(
    browser, house, tmp_path
):
    page = opened_page(browser, house)
    open_arm(page, tmp_path)
    page.get_by_label("All of link fore").click()
    page.get_by_label("tapered", exact=True).check()
    fill(page, "links.fore.beam.section.end.z", "0.02")
    page.get_by_label("Material library: search for fore").fill("titan")
    page.locator(".materials button").first.click()
    fill(page, "links.fore.joint.motor.inertia", "1e-4")
    fill(page, "links.fore.joint.limits.position", "[-2, 2]")
    page.get_by_role("button", name="Add a mass").click()
    fill(page, "links.fore.masses.0.offset", "[0, 0.01, 0]")
    fill(page, "payload.mass", "0.3")
    fill(page, "links.fore.damping.ratio", "0.02")
    expect(page.locator(".problems li")).to_have_count(0)
    text = written(page)
    for line in (
        "end: {shape: rectangle, y: 0.01, z: 0.02}",
        "material: titanium",
        "motor: {inertia: 1e-4}",
        "limits: {position: [-2, 2]}",
        "offset: [0, 0.01, 0]",
        "payload: {mass: 0.3}",
        "damping: {ratio: 0.02}",
        "# the tube we have",
        "# my arm",
    ):
        assert line in text, (line, text)
    # A field that is emptied takes its entry along.
    fill(page, "links.fore.joint.motor.inertia", "")
    assert "motor" not in written(page)
    page.get_by_role("button", name="Undo").click()
    assert "motor: {inertia: 1e-4}" in written(page)
    page.get_by_role("button", name="Redo").click()
    assert "motor" not in written(page)
    assert not nameless_elements(page)
    assert not page.complaints


def test_the_picture_follows_what_is_typed(browser, house, tmp_path):
    page = opened_page(browser, house)
    open_arm(page, tmp_path)
    picture = lambda: page.evaluate(PICTURE)  # noqa: E731
    drawn = page.locator(".build .stage .empty")
    expect(drawn).to_be_hidden()
    page.wait_for_timeout(1000)
    before = picture()
    fill(page, "links.upper.joint.dh.a", "0.9")
    assert wait_for(lambda: _after(page, lambda: picture() != before), PATIENCE / 1000)
    assert not page.complaints


def test_a_joint_is_written_the_other_way_and_stays_where_it_is(
    browser, house, tmp_path
):
    text = ARM.replace("a: 0.5, alpha: 0, d: 0, theta: 0", TURNED)
    (tmp_path / "arm.yaml").write_text(text)
    before = geometry(tmp_path / "arm.yaml")
    page = opened_page(browser, house)
    page.evaluate("location.hash = '#screen=build&source=arm.yaml'")
    expect(page.get_by_label("All of link fore")).to_be_visible()
    place = page.get_by_label("Placed by", exact=True)
    place.select_option("origin")
    axis = page.get_by_label("links.upper.joint.axis", exact=True).first
    expect(axis).to_have_value("[0, 0, 1]")
    # The next joint was turned by alpha of this row: it says so itself now.
    assert written(page).count("dh:") == 0
    assert "# the tube we have" in written(page)
    save = page.get_by_role("button", name="Save", exact=True)
    save.click()
    assert wait_for(lambda: "rpy" in (tmp_path / "arm.yaml").read_text())
    np.testing.assert_allclose(geometry(tmp_path / "arm.yaml"), before, atol=1e-12)
    place.select_option("dh")
    expect(page.get_by_label("links.upper.joint.dh.alpha", exact=True)).to_have_value(
        re.compile("1.57079")
    )
    fill(page, "links.upper.joint.dh.theta", "0")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_label("links.upper.joint.dh.theta", exact=True)).to_have_value(
        re.compile(r"0\.4|0\.3999")
    )
    assert not page.complaints


def geometry(file):
    robot = Robot.load(file)
    parts = [part for i in range(2) for part in joint_frame(robot, i)]
    parts += [beam_path(robot, i) for i in range(2)]
    return np.concatenate([np.ravel(np.asarray(part, float)) for part in parts])


def test_bodies_joints_and_loops_change_their_kind_by_form(browser, house, tmp_path):
    page = opened_page(browser, house)
    open_arm(page, tmp_path)
    kind = page.get_by_label("Kind", exact=True)
    kind.select_option("rigid")
    assert "rigid: {mass: 0.5" in written(page)
    kind.select_option("beam")
    assert "rigid" not in written(page)
    page.get_by_label("Placed by", exact=True).select_option("origin")
    expect(page.locator(".cm-content")).to_contain_text("axis: [0, 0, 1]")
    assert "path: [[0, 0, 0], [0.5, 0, 0]]" in written(page)
    page.get_by_role("button", name="Close a loop").click()
    assert "link: fore" in written(page) and "to: ground" in written(page)
    fill(page, "loops.0.at", "[0.6, 0, 0]")
    assert "at: [0.6, 0, 0]" in written(page)
    assert not page.complaints


def test_a_mistake_is_marked_at_its_field_in_the_validators_words(
    browser, house, tmp_path
):
    page = opened_page(browser, house)
    open_arm(page, tmp_path)
    fill(page, "payload.offset", "[0, 0]")
    said = page.locator(".field-message").first
    expect(said).to_contain_text("must be a list of 3 numbers")
    expect(page.locator(".problems li")).to_have_count(1)
    expect(page.locator(".cm-lint-marker-error")).to_have_count(1)


def open_run(page, source):
    page.evaluate(f"location.hash = '#screen=run&source={source}'")
    expect(page.get_by_label("Duration [s]")).to_be_visible()
    expect(page.get_by_label("Duration [s]")).not_to_have_attribute(
        "placeholder", "as in the file"
    )


def test_a_drawn_torque_drives_the_run(browser, house, tmp_path):
    page = opened_page(browser, house)
    open_run(page, "library:simple-pendulum")
    page.get_by_role("button", name="Add a torque").click()
    drawing = page.locator(".curve-editor")
    box = drawing.bounding_box()
    # A point in the middle of the drawing, and one that is pulled up.
    page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    expect(page.locator(".points tbody tr")).to_have_count(4)
    fill(page, "Torque: value 1", "2.5")
    page.get_by_label("Duration [s]").fill("0.05")
    command = page.locator("pre.command")
    expect(command).to_contain_text("inputs.torque.")
    expect(command).to_contain_text("2.5")
    page.locator("#start-run").click()
    page.get_by_role("button", name="Show run 1").wait_for(timeout=PATIENCE)
    import xarray as xr

    with xr.open_dataset(tmp_path / "runs" / "simple-pendulum.nc") as run:
        assert float(run.torque[0, 0]) == pytest.approx(2.5)
    assert not nameless_elements(page)
    assert not page.complaints


def test_a_controller_is_filled_in_from_its_description(browser, house, tmp_path):
    page = opened_page(browser, house)
    open_run(page, "library:simple-pendulum")
    page.get_by_text("Controller", exact=True).first.click()
    page.get_by_label("Controller", exact=True).select_option("pd")
    fill(page, "controller.kp", "[-1]")
    page.locator("#start-run").click()
    expect(page.locator(".field-message").first).to_contain_text("positive")
    fill(page, "controller.kp", "[50]")
    page.get_by_label("Duration [s]").fill("0.05")
    page.locator("#start-run").click()
    page.get_by_role("button", name="Show run 1").wait_for(timeout=PATIENCE)
    expect(page.locator("pre.command")).to_contain_text('"pd"')
    assert not nameless_elements(page)


def test_the_robot_is_seen_while_it_is_computed(browser, house):
    page = opened_page(browser, house)
    open_run(page, "scenario:simple-pendulum")
    page.get_by_label("Duration [s]").fill("100000")
    page.get_by_label("Sampling of results [s]").fill("1")
    page.locator("#start-run").click()
    expect(page.locator("#live-run")).to_be_visible()
    expect(page.locator("#live-run")).to_contain_text("simple-pendulum at")
    expect(page.locator(".job")).to_contain_text("left")
    page.get_by_role("button", name="Cancel run 1").click()
    expect(page.locator(".job")).to_contain_text("saved up to")
    expect(page.locator("#live-run")).to_be_hidden()


def test_a_urdf_with_its_meshes_becomes_a_robot(browser, house, tmp_path):
    page = opened_page(browser, house)
    mesh = stl([[0, 0, 0], [0.2, 0, 0], [0, 0.1, 0]])
    page.get_by_label("Files to bring along").set_input_files(
        [
            {"name": "post.urdf", "mimeType": "text/xml", "buffer": URDF.encode()},
            {"name": "arm.stl", "mimeType": "model/stl", "buffer": mesh},
        ]
    )
    expect(page.locator("#build-title")).to_be_visible()
    assert wait_for(lambda: (tmp_path / "post.yaml").exists())
    assert (tmp_path / "meshes" / "arm.stl").read_bytes() == mesh
    text = (tmp_path / "post.yaml").read_text()
    assert "visual" in text and "rigid" in text
    assert not page.complaints


DROP = """(text) => {
  const carried = new DataTransfer();
  carried.items.add(new File([text], "dropped.yaml", { type: "text/yaml" }));
  const at = document.querySelector(".screen");
  at.dispatchEvent(new DragEvent("drop", { dataTransfer: carried, bubbles: true, cancelable: true }));
}"""


def test_a_file_that_is_dropped_is_opened(browser, house, tmp_path):
    page = opened_page(browser, house)
    expect(page.locator(".card").first).to_be_visible()
    page.evaluate(DROP, ARM)
    expect(page.get_by_label("All of link fore")).to_be_visible()
    assert (tmp_path / "dropped.yaml").read_text() == ARM
    assert not page.complaints


def test_a_folder_that_cannot_be_written_is_said_and_the_studio_works(
    browser, house, tmp_path, monkeypatch
):
    monkeypatch.setattr(type(house.backend.folder), "is_writable", False)
    page = opened_page(browser, house)
    expect(page.locator(".start")).to_contain_text("cannot be written")
    open_run(page, "scenario:simple-pendulum")
    page.get_by_label("Duration [s]").fill("0.05")
    page.locator("#start-run").click()
    page.get_by_role("button", name="Show run 1").click(timeout=PATIENCE)
    expect(page.locator(".chart").first).to_be_visible()


NO_WEBGL = """
const get = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
  return kind === "webgl2" ? null : get.call(this, kind, ...more);
};
"""


def test_without_webgl_the_page_says_so_and_charts_work(browser, house):
    page = browser.new_context().new_page()
    page.add_init_script(NO_WEBGL)
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{house.address}?token={house.keys.token}")
    look_at(page, "library:simple-pendulum")
    expect(page.locator(".stage .empty")).to_contain_text("WebGL 2")
    open_run(page, "scenario:simple-pendulum")
    page.get_by_label("Duration [s]").fill("0.05")
    page.locator("#start-run").click()
    page.get_by_role("button", name="Show run 1").click(timeout=PATIENCE)
    expect(page.locator(".chart").first).to_be_visible()
    assert not complaints
