"""The screens as a user meets them, with real processes behind them."""

import os
import re
import signal
from time import monotonic

import pytest
from playwright.sync_api import expect
from studio_browser import (
    another_browser,
    chromium,
    nameless_elements,
    opened_page,
    served_studio,
)
from studio_client import wait_for

from lissom.studio.worker import Worker

pytestmark = pytest.mark.slow
PATIENCE = (
    240_000  # ms: everything is compiled here, on a machine that does other things too
)
LONG = 90_000  # s of a pendulum: nobody waits for its end


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


def start_run(page, source, duration, sampling=0.01):
    page.evaluate(f"location.hash = '#screen=run&source={source}'")
    field = page.get_by_label("Duration [s]")
    expect(field).to_be_visible()
    field.fill(str(duration))
    page.get_by_label("Sampling of results [s]").fill(str(sampling))
    page.locator("#start-run").click()


def test_a_first_run_of_a_new_robot_takes_few_clicks(browser, house, tmp_path):
    page = opened_page(browser, house)
    began = monotonic()
    clicks = 0
    for button in ("New configuration", "Save and run"):
        found = page.get_by_role("button", name=button, exact=True)
        found.click(timeout=PATIENCE)
        clicks += 1
    page.get_by_role("button", name="Show run 1").click(timeout=PATIENCE)
    clicks += 1
    expect(page.locator(".chart").first).to_be_visible(timeout=PATIENCE)
    print(f"{clicks} clicks, {monotonic() - began:.1f} s from the first to the result")
    assert clicks == 3
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    assert (tmp_path / "two-link-arm.yaml").exists()
    assert (tmp_path / "runs" / "two-link-arm.nc").stat().st_size > 1000
    assert not nameless_elements(page)
    assert not page.complaints
    assert len(page.hosts) == 1


def test_sag_and_torques_follow_a_slider(browser, house):
    page = opened_page(browser, house)
    page.evaluate("location.hash = '#screen=look&source=library:anthropomorphic'")
    sag = page.locator("#tip-sag")
    expect(sag).to_contain_text("mm", timeout=PATIENCE)
    before = sag.inner_text()
    angle = page.get_by_label("upper [deg]", exact=True).first
    angle.fill("80")
    angle.press("Enter")
    expect(sag).not_to_have_text(before, timeout=PATIENCE)
    # An arm that stands up sags less than one that is stretched out.
    millimetres = [
        float(re.findall(r"[\d.]+", text)[0]) for text in (before, sag.inner_text())
    ]
    assert millimetres[1] < 0.5 * millimetres[0]
    with page.expect_download(timeout=PATIENCE) as waiting:
        page.get_by_role("button", name="Matrices (.npz)").click()
    import numpy as np

    with np.load(waiting.value.path()) as arrays:
        assert {"M", "K"} <= set(arrays)
    assert not nameless_elements(page)
    assert not page.complaints


def go_by_tab(page, label):
    """Presses the tabulator until what has this name is in focus."""
    named = "document.activeElement.getAttribute('aria-label')"
    for _ in range(150):
        page.keyboard.press("Tab")
        if page.evaluate(named) == label:
            return
    raise AssertionError(f"{label} is out of reach of the keyboard")


def test_a_robot_is_reached_and_moved_by_keys_alone(browser, house):
    page = opened_page(browser, house)
    expect(page.locator(".card").first).to_be_visible(timeout=PATIENCE)
    go_by_tab(page, "Look: simple-pendulum")
    page.keyboard.press("Enter")
    sag = page.locator("#tip-sag")
    expect(sag).to_contain_text("mm", timeout=PATIENCE)
    before = sag.inner_text()
    go_by_tab(page, "rod [deg]")
    # A tenth of the range of a full turn: a rod that stands steeper sags less.
    page.keyboard.press("PageUp")
    expect(sag).not_to_have_text(before, timeout=PATIENCE)
    go_by_tab(page, "Tip x in m")
    assert not page.complaints


def test_a_link_shares_the_pose(browser, house):
    page = opened_page(browser, house)
    page.evaluate(
        "location.hash = '#screen=look&source=library:anthropomorphic&q=0.5,0.4,-1'"
    )
    expect(page.locator("#tip-sag")).to_contain_text("mm", timeout=PATIENCE)
    assert "q=0.5%2C0.4%2C-1" in page.url and "token" not in page.url
    shown = page.get_by_label("column [deg]", exact=True).first.input_value()
    assert float(shown) == pytest.approx(28.648, abs=1e-2)


def test_a_cancelled_run_keeps_its_part_in_two_tabs_and_after_a_reload(browser, house):
    page = opened_page(browser, house)
    start_run(page, "scenario:simple-pendulum", LONG, sampling=0.1)
    other = page.context.new_page()
    other.goto(f"{house.address}#screen=run")
    for tab in (page, other):
        expect(tab.locator(".job")).to_contain_text("left", timeout=PATIENCE)
    other.reload()
    expect(other.locator(".job")).to_contain_text("running", timeout=PATIENCE)
    page.get_by_role("button", name="Cancel run 1").click()
    for tab in (page, other):
        expect(tab.locator(".job")).to_contain_text("cancelled", timeout=PATIENCE)
        expect(tab.locator(".job")).to_contain_text("saved up to")
    other.get_by_role("button", name="Show run 1").click()
    expect(other.locator(".chart").first).to_be_visible(timeout=PATIENCE)


@pytest.fixture
def second_browser(browser):
    with another_browser(browser) as other:
        yield other


def test_a_killed_worker_fails_one_run_of_many_in_two_browsers(
    browser, second_browser, house
):
    page = opened_page(browser, house)
    second = opened_page(second_browser, house)
    second.evaluate("location.hash = '#screen=run'")
    states = lambda: [job["state"] for job in house.backend.queue.jobs()]  # noqa: E731
    worker = house.backend.runs
    start_run(page, "scenario:simple-pendulum", 0.05)
    assert wait_for(lambda: worker.process_id is not None, PATIENCE / 1000)
    # It stands still until all runs wait behind it, so that none of them outruns the browser.
    os.kill(worker.process_id, signal.SIGSTOP)
    for k in range(19):
        start_run(second if k % 2 else page, "scenario:simple-pendulum", 0.05)
    assert wait_for(lambda: states().count("queued") == 19, PATIENCE / 1000)
    os.kill(worker.process_id, signal.SIGKILL)
    assert wait_for(lambda: states().count("done") == 19, PATIENCE / 1000)
    assert states().count("failed") == 1
    for tab in (page, second):
        expect(tab.locator(".job:has-text('done')")).to_have_count(19)
        expect(tab.locator(".job:has-text('failed')")).to_have_count(1)
    kept = sorted(house.backend.folder.root.glob("runs/*.nc"))
    assert len(kept) == 19


def test_what_was_typed_survives_the_tab(browser, house, tmp_path):
    (tmp_path / "arm.yaml").write_text("lissom: 1\nname: arm\nlinks: []\n")
    page = opened_page(browser, house)
    page.evaluate("location.hash = '#screen=build&source=arm.yaml'")
    editor = page.locator(".cm-content")
    expect(editor).to_contain_text("name: arm", timeout=PATIENCE)
    editor.click()
    page.keyboard.press("Control+End")
    page.keyboard.type("# typed and not saved")
    draft = tmp_path / ".arm.draft.yaml"
    assert wait_for(lambda: draft.exists() and "typed" in draft.read_text())
    other = page.context.new_page()
    page.close()
    other.goto(f"{house.address}#screen=build&source=arm.yaml")
    expect(other.locator(".cm-content")).to_contain_text("# typed", timeout=PATIENCE)
    # In the meantime another program writes the file: the save is refused and says so.
    (tmp_path / "arm.yaml").write_text("# another editor\n")
    other.get_by_role("button", name="Save", exact=True).click()
    expect(other.locator("#notice")).to_contain_text("changed on disk")
    assert (tmp_path / "arm.yaml").read_text() == "# another editor\n"


def test_dark_theme_small_screens_and_less_motion(browser, house):
    page = opened_page(browser, house, color_scheme="dark", reduced_motion="reduce")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.set_viewport_size({"width": 768, "height": 1024})
    expect(page.locator(".card").first).to_be_visible(timeout=PATIENCE)
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert not wide
