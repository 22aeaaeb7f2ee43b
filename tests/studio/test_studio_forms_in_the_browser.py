"""The forms of robots and controllers have every key that a file may have, and write what is filled in there."""

import pytest
from playwright.sync_api import expect
from ruamel.yaml import YAML
from studio_browser import chromium, nameless_elements, opened_page, served_studio
from studio_client import InlineWorker

from lissom.describe.forms import file_forms

# One link of each kind, so that the form shows every key of a robot file once.
ROBOT = """lissom: 1
name: all of it
links:
  - name: bar      # the first
    joint: {type: revolute, dh: {a: 0.5}, limits: {position: [-2, 2], torque: 10, stop: true}}
    beam:
      section: {start: {shape: SHAPE}, end: {shape: SHAPE}}
      material: {E: 7e10, nu: 0.3, density: 2700}
    masses: [{node: tip, mass: 0.1}]
  - name: block
    joint: {type: revolute, origin: {xyz: [0.5, 0, 0]}, axis: [0, 0, 1]}
    rigid: {mass: 1, tip: [0.2, 0, 0]}
  - name: mesh
    joint: {type: revolute, origin: {}, axis: [0, 0, 1]}
    fe: {file: none.npz}
  - name: ruler
    joint: {type: revolute, dh: {a: 0.3}}
    beam: {section: {shape: SHAPE}, material: steel}
loops:
  - {link: ruler, to: ground, at: [1, 0, 0]}
"""
ARM = ROBOT.partition("  - name: mesh")[0].replace("SHAPE", "circle, diameter: 0.02")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("forms")


@pytest.fixture(scope="module")
def forms():
    return file_forms()


@pytest.fixture(scope="module")
def page(folder, forms):
    expect.set_options(timeout=60_000)
    with served_studio(folder, InlineWorker) as house, chromium() as browser:
        yield opened_page(browser, house)


def open_robot(page, folder, name, text):
    (folder / name).write_text(text)
    page.evaluate(f"location.hash = '#screen=build&source={name}'")
    expect(page.get_by_label("File name")).to_have_value(name)
    page.get_by_label("All of link bar").click()
    expect(page.get_by_text("Link bar", exact=True)).to_be_visible()


def written(page):
    return page.locator(".cm-content").inner_text()


def read(text):
    return YAML(typ="safe").load(text)


def data(page):
    return read(written(page))


def fill(page, label, value):
    field = page.get_by_label(label, exact=True).first
    field.fill(value)
    field.press("Enter")


def shown_keys(page, form=".robot-form"):
    """Paths of all fields of the form; names of links and numbers in lists are left out."""
    fields = page.locator(f"{form} [data-field]").evaluate_all(
        "all => all.map((field) => field.dataset.field)"
    )
    left_out = ("bar", "block", "mesh", "ruler")
    steps = [path.split(".") for path in fields]
    return {
        ".".join(s for s in path if s not in left_out and not s.isdigit())
        for path in steps
    }


def known_keys(field, path=()):
    """Paths of all entries that the schema knows."""
    for inner in field.fields:
        here = (*path, inner.key)
        if inner.kind not in ("part", "parts", "union"):
            yield ".".join(here)
        yield from known_keys(inner, here)
        for form in inner.forms:
            yield from (".".join((*here, key)) for key in form.named)
            yield from known_keys(form, here)


def test_every_key_of_a_robot_file_has_a_field(page, folder, forms):
    known = set(known_keys(forms["robot"]))
    assert {"links.joint.follows.joint", "links.joint.limits.stop.stiffness"} <= known
    shown = set()
    shapes = ("rectangle", "circle", "tube", "box", "general")
    for shape in shapes:
        open_robot(page, folder, f"{shape}.yaml", ROBOT.replace("SHAPE", shape))
        for link in ("bar", "block", "mesh", "ruler"):
            page.get_by_label(f"All of link {link}").click()
            expect(page.get_by_text(f"Link {link}", exact=True)).to_be_visible()
            shown |= shown_keys(page)
    assert sorted(known - shown) == []
    assert not nameless_elements(page)


def test_a_joint_that_follows_is_filled_in(page, folder):
    open_robot(page, folder, "follows.yaml", ARM)
    page.get_by_label("All of link block").click()
    leader = page.get_by_label("links.block.joint.follows.joint")
    leader.select_option("bar")
    fill(page, "links.block.joint.follows.ratio", "-2")
    joint = data(page)["links"][1]["joint"]
    assert joint["follows"] == {"joint": "bar", "ratio": -2}
    assert set(joint) == {"type", "origin", "axis", "follows"}
    fill(page, "links.block.joint.follows.ratio", "")
    leader.select_option("")
    assert data(page) == read(ARM)


def test_the_stiffness_of_a_stop_is_filled_in(page, folder):
    open_robot(page, folder, "stop.yaml", ARM)
    limits = lambda: data(page)["links"][0]["joint"]["limits"]  # noqa: E731
    stop = page.get_by_role("checkbox", name="on", exact=True)
    expect(stop).to_be_checked()
    fill(page, "links.bar.joint.limits.stop.stiffness", "2e4")
    assert limits() == {"position": [-2, 2], "torque": 10, "stop": {"stiffness": 2e4}}
    assert "# the first" in written(page)
    # Without its stiffness it is the stop that it was.
    fill(page, "links.bar.joint.limits.stop.stiffness", "")
    assert limits()["stop"] is True
    stop.uncheck()
    assert "stop" not in limits()
    stop.check()
    assert data(page) == read(ARM)
    assert not page.complaints


def test_what_is_no_list_is_marked_and_not_lost(page, folder):
    open_robot(page, folder, "list.yaml", ARM)
    fill(page, "links.bar.joint.limits.position", "[-2, 2")
    said = page.locator(".field-message").first
    expect(said).to_contain_text("must be a list of 2 numbers")
    fill(page, "links.bar.joint.limits.position", "[-2, 2]")
    assert data(page) == read(ARM)


# Half typed, or written by somebody who has not read what a robot file is.
ODD = (
    "links: [null, abc, {joint: 3}]",
    "links: [{name: [1], joint: {dh: 3, limits: {stop: 1}}, beam: 4}]",
    "links: [{name: bar, beam: {section: {shape: rect}, material: [1]}, masses: {a: 1}}]",
    "links: [{name: bar, beam: {section: {start: {shape: box}, end: 3}}, masses: [null]}]",
    "links: [{rigid: true, fe: {interface: 1}}]\nloops: [null]\npayload: [1]",
    "links: []",
    "links: 3",
    "- 1",
)


def test_a_form_stands_whatever_the_file_holds(page, folder):
    for k, text in enumerate(ODD):
        name = f"odd{k}.yaml"
        (folder / name).write_text(f"{text}\n")
        page.evaluate(f"location.hash = '#screen=build&source={name}'")
        expect(page.get_by_label("File name")).to_have_value(name)
        words = page.locator(".robot-form")
        is_list = "links: [" in text
        expect(words).to_contain_text("Bodies" if is_list else "describes no links")
        # Without a picture there is nothing to look at.
        page.get_by_role("button", name="home").click()
        assert not page.complaints, text


def test_every_key_of_a_controller_has_a_field(page, forms):
    page.evaluate("location.hash = '#screen=run&source=library:simple-pendulum'")
    page.get_by_text("Controller", exact=True).first.click()
    for form in forms["controller"].forms:
        page.get_by_label("Controller", exact=True).select_option(form.type)
        known = {f"controller.{key}" for key in known_keys(form)}
        shown = set()
        motions = next(field for field in form.fields if field.key == "reference").forms
        for motion in [one.type for one in motions] or [None]:
            if motion:
                picked = page.get_by_label("controller.reference: kind")
                picked.select_option(motion)
            expect(page.locator(".controller p")).to_have_text(form.about)
            shown |= shown_keys(page, ".controller")
        # The kind of a motion is chosen, not typed.
        assert known - shown <= {"controller.reference.type"}, form.type
    assert not page.complaints
