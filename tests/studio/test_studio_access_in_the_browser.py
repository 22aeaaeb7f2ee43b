"""Every screen, in light and in dark, as axe-core sees it: labels, roles and contrast."""

import pytest
from playwright.sync_api import expect
from studio_browser import barriers, chromium, opened_page, served_studio
from studio_client import InlineWorker, wait_for

import lissom as ls

pytestmark = pytest.mark.slow
PATIENCE = 240_000  # ms: everything is compiled here
RESULT = "runs/pendulum.nc"
SOURCE = "source=library:simple-pendulum"
CHART_OF_TAB = "[role=tabpanel]:not([hidden]) .chart .u-over"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("access")
    (folder / "runs").mkdir()
    scenario = ls.Scenario.load("simple-pendulum").replace({"t_end": 0.05})
    for name in (RESULT, "runs/other.nc"):
        ls.run_scenario(scenario).save(folder / name)
    expect.set_options(timeout=PATIENCE)
    with served_studio(folder, InlineWorker) as house, chromium() as browser:
        yield opened_page(browser, house, reduced_motion="reduce")


def start(page):
    expect(page.locator(".card").first).to_be_visible()


def look(page):
    expect(page.locator("#tip-sag")).to_contain_text("mm")


def build(page):
    expect(page.locator(".cm-content")).to_be_visible()


def run(page):
    expect(page.get_by_label("Duration [s]")).to_be_visible()


def results(page):
    expect(page.locator(".chart .u-over")).to_have_count(3)
    expect(page.locator("#compare caption")).to_be_visible()
    page.get_by_text("What is shown").click()
    page.locator("#exports summary").click()


def modes(page):
    page.locator("#find-modes").click()
    expect(page.locator(".modes tbody tr").first).to_be_visible()
    expect(page.locator(".modes [aria-pressed=true]")).to_have_count(1)


def mode_map(page):
    page.get_by_label("First quantity: points").fill("3")
    page.locator("#map-modes").click()
    expect(page.locator(CHART_OF_TAB)).to_be_visible()


def linear(page):
    page.locator("#linearize").click()
    expect(page.locator(CHART_OF_TAB)).to_have_count(3)


def controllers(page):
    expect(page.locator("#compare-controllers")).to_be_visible()


def sweep(page):
    expect(page.locator("#start-sweep")).to_be_visible()


SCREENS = {
    "screen=start": start,
    f"screen=look&{SOURCE}": look,
    "screen=build&source=new.yaml&fresh=1": build,
    f"screen=run&{SOURCE}": run,
    f"screen=results&file={RESULT}&with=runs/other.nc": results,
    f"screen=analyse&{SOURCE}": modes,
    f"screen=analyse&{SOURCE}&tab=map": mode_map,
    f"screen=analyse&{SOURCE}&tab=linear": linear,
    f"screen=analyse&{SOURCE}&tab=control": controllers,
    f"screen=analyse&{SOURCE}&tab=sweep": sweep,
}


# What reaches beyond the right edge of the page, and nothing around it scrolls.
TOO_WIDE = """() => {
  const holds = (e) => e.id !== 'content' && /auto|scroll|hidden/.test(getComputedStyle(e).overflowX);
  const isHeld = (e) => e && (holds(e) || isHeld(e.parentElement));
  const isOut = (e) => e.getBoundingClientRect().width > 0 && e.getBoundingClientRect().right > innerWidth + 1;
  const out = [...document.querySelectorAll('body *')].filter((e) => isOut(e) && !isHeld(e.parentElement));
  return out.map((e) => e.outerHTML.slice(0, 100));
}"""


@pytest.mark.parametrize("address", SCREENS)
def test_no_screen_has_a_barrier_in_either_theme(page, address):
    page.evaluate(f"location.hash = '#{address}'")
    SCREENS[address](page)
    for summary in page.locator("summary", has_text="Show as command").all():
        if summary.is_visible() and not summary.evaluate("e => e.parentNode.open"):
            summary.click()
    for _ in range(2):
        found = barriers(page)
        assert not found, "\n".join(found)
        page.locator("#theme").click()
    for width, height in ((768, 1024), (1280, 720)):
        page.set_viewport_size({"width": width, "height": height})
        # Charts take their new size a moment later.
        wait_for(lambda: not page.evaluate(TOO_WIDE), 10)
        assert page.evaluate(TOO_WIDE) == []
    complaints = list(page.complaints)
    page.complaints.clear()
    assert not complaints


def test_the_page_that_asks_for_the_password_has_no_barrier(browser_of_login):
    page = browser_of_login
    expect(page.get_by_label("Password")).to_be_visible()
    assert not barriers(page)


@pytest.fixture
def browser_of_login(page, tmp_path):
    with served_studio(tmp_path, InlineWorker, password="correct horse") as house:
        other = page.context.browser.new_context().new_page()
        other.goto(f"{house.address}login")
        yield other
        other.close()
