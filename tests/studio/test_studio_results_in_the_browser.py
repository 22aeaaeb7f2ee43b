"""Results as a user meets them: curves and picture on one time, other runs beside, marks that measure, other forms."""

import csv
import re

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect
from studio_browser import chromium, opened_page, served_studio
from studio_client import InlineWorker

import lissom as ls

pytestmark = pytest.mark.slow
PATIENCE = 240_000  # ms: everything is compiled here
RESULT, OTHER = "runs/pendulum.nc", "runs/heavy.nc"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    (folder / "runs").mkdir()
    scenario = ls.Scenario.load("simple-pendulum").replace({"t_end": 0.3})
    made = {}
    for name, changes in ((RESULT, {}), (OTHER, {"payload.mass": 0.5})):
        made[name] = ls.run_scenario(scenario.replace(changes))
        made[name].save(folder / name)
    return folder, made


@pytest.fixture(scope="module")
def house(runs):
    expect.set_options(timeout=PATIENCE)
    with served_studio(runs[0], InlineWorker) as house:
        yield house


@pytest.fixture(scope="module")
def browser(house):
    with chromium() as opened:
        yield opened


@pytest.fixture
def page(browser, house):
    page = opened_page(browser, house, reduced_motion="reduce")
    page.set_default_timeout(PATIENCE)
    yield page
    assert not page.complaints
    assert page.hosts == {house.address.split("/")[2]}
    page.context.close()


def show(page, **others):
    more = "".join(f"&{key}={value}" for key, value in others.items())
    page.evaluate(f"location.hash = '#screen=results&file={RESULT}{more}'")
    expect(page.locator(".chart .u-over")).to_have_count(3)


def legend_of(chart):
    """Values at the cursor, by the names of the curves."""
    found = {}
    for row in chart.locator(".u-series").all():
        name = row.locator(".u-label").inner_text()
        found[name.strip()] = row.locator(".u-value").inner_text().strip()
    return found


def test_picture_and_charts_show_one_time_and_a_link_shares_it(page, runs):
    show(page, t=0.2)
    run = runs[1][RESULT]
    chart = page.locator(".chart").first
    row = np.searchsorted(run.t, 0.2)
    degrees = np.degrees(run.q[row, 0])
    assert float(legend_of(chart)["rod"]) == pytest.approx(degrees, rel=1e-3)
    expect(page.locator(".player output")).to_have_text("0.200 / 0.300 s")
    # A click on the chart moves the picture and the address.
    over = chart.locator(".u-over")
    box = over.bounding_box()
    over.click(position={"x": 0.5 * box["width"], "y": 30})
    expect(page.locator(".player output")).to_contain_text(re.compile(r"^0\.1[45]"))
    expect(page).to_have_url(re.compile(r"t=0\.1"))
    page.get_by_role("button", name="3-D").click()
    expect(page).to_have_url(re.compile(r"view="))
    assert "token" not in page.url
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator(".player output")).to_contain_text(re.compile(r"^0\.1[45]"))


def test_marks_measure_between_two_times(page, runs):
    show(page)
    over = page.locator(".chart .u-over").first
    box = over.bounding_box()
    for share in (0.2, 0.6):
        place = {"x": share * box["width"], "y": 30}
        over.click(position=place, modifiers=["Shift"])
    text = page.locator(".measured").first.inner_text()
    a, b, apart = (float(x) for x in re.findall(r"(?:A|B|Δ) (-?[\d.e-]+)", text)[:3])
    run = runs[1][RESULT]
    q = np.degrees(np.interp([a, b], run.t, run.q[:, 0]))
    assert apart == pytest.approx(b - a, abs=1e-3)
    told = float(re.search(r"rod (-?[\d.e-]+)$", text)[1])
    assert told == pytest.approx(q[1] - q[0], rel=5e-3)
    page.locator(".chart .plot").first.press("Escape")
    expect(page.locator(".measured").first).to_have_text("")


def test_time_moves_by_keys(page):
    show(page, t=0.1)
    plot = page.locator(".chart .plot").first
    plot.press("ArrowRight")
    expect(page.locator(".player output")).to_contain_text("0.102")
    plot.press("End")
    expect(page.locator(".player output")).to_contain_text("0.300 /")


def test_other_runs_lie_over_the_curves_and_differences_are_told(page, runs):
    show(page, t=0.2, **{"with": OTHER})
    first, second = runs[1][RESULT], runs[1][OTHER]
    row = np.searchsorted(first.t, 0.2)
    chart = page.locator(".chart").first
    values = legend_of(chart)
    heavy = np.degrees(second.q[row, 0])
    assert float(values["rod (heavy)"]) == pytest.approx(heavy, rel=1e-3)
    apart = np.abs(second.q - first.q).max()
    expect(page.locator("#compare caption")).to_be_visible()
    cells = page.locator("#compare tbody tr").first.locator("th, td").all_inner_texts()
    assert cells[:2] == [OTHER, "q.rod"]
    assert float(cells[2]) == pytest.approx(apart, rel=1e-3)
    page.get_by_label("Draw differences").check()
    expect(chart.locator("h2")).to_contain_text("differences from pendulum")
    expect(page).to_have_url(re.compile(r"apart=1"))
    difference = np.degrees(second.q - first.q)[row, 0]
    told = float(legend_of(chart)["rod (heavy)"])
    assert told == pytest.approx(difference, rel=1e-3)


def test_forces_in_sections_are_drawn_by_name(page):
    show(page)
    page.get_by_text("What is shown").click()
    page.get_by_label("Add chart: Section").click()
    expect(page.locator(".chart .u-over")).to_have_count(4)
    chart = page.locator(".chart").last
    expect(chart.locator("h2")).to_contain_text("rod: bending moment about z [N m]")
    assert set(legend_of(chart)) == {"t [s]", "rod/element0", "rod/element1"}
    page.get_by_label("Quantity by its name").fill("no such thing")
    page.get_by_label("Add chart: Other").click()
    expect(page.locator(".results .message")).to_contain_text("no such quantity")
    # The browser itself tells of an answer that is a refusal.
    page.complaints.clear()


def saved(page, form, place):
    page.get_by_label("Form to save in").select_option(form)
    with page.expect_download() as waiting:
        page.locator("#save-as").click()
    path = place / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def test_a_result_is_saved_in_every_form(page, runs, tmp_path):
    show(page, t=0.1)
    page.locator("#exports summary").click()
    assert len(np.unique(Image.open(saved(page, "robot.png", tmp_path)))) > 50
    assert Image.open(saved(page, ".png", tmp_path)).size[0] > 500
    assert "displacement.rod/tip" in saved(page, ".svg", tmp_path).read_text()
    assert saved(page, ".pdf", tmp_path).read_bytes().startswith(b"%PDF")
    with open(saved(page, ".csv", tmp_path)) as text:
        head, *rows = csv.reader(text)
    assert head[:2] == ["time [s]", "q.rod [rad or m]"]
    numbers = np.array(rows, dtype=float)[:, 1]
    np.testing.assert_array_equal(numbers, runs[1][RESULT].q[:, 0])
    html = saved(page, ".html", tmp_path).read_text()
    assert "<canvas" in html and not re.search(r"src=.?https?:", html)
    with page.expect_download() as waiting:
        page.get_by_role("link", name="NetCDF (.nc)").click()
    again = ls.Run.load(waiting.value.path())
    np.testing.assert_array_equal(again.q, runs[1][RESULT].q)


def test_the_motion_is_saved_as_a_gif_that_moves(page, tmp_path):
    show(page)
    page.locator("#exports summary").click()
    gif = Image.open(saved(page, ".gif", tmp_path))
    assert gif.n_frames == 24 and gif.info["loop"] == 0
    frames = []
    for k in (0, 23):
        gif.seek(k)
        frames.append(np.asarray(gif.convert("RGB"), dtype=int))
    moved = np.abs(frames[1] - frames[0]).max(axis=2) > 60
    assert 0.001 < moved.mean() < 0.5
    # What is drawn is what the stage shows, to the colours that a GIF can have.
    page.evaluate("location.hash += '&t=0.3'")
    assert frames[0].std() > 5


def test_the_report_prints_on_one_page(page, tmp_path):
    show(page, **{"with": OTHER})
    page.evaluate("window.print = () => {}")
    page.locator("#exports summary").click()
    page.get_by_role("button", name="Print a report").click()
    page.wait_for_selector(".report", state="attached")
    report = page.locator(".report")
    text = report.text_content() or ""
    assert "simple-pendulum" in text and "Differences from" in text
    assert report.locator("img").count() == 4
    # Once it is printed the page is gone.
    paper = page.pdf(path=tmp_path / "report.pdf", prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) == 1
    expect(report).to_have_count(0)


def test_matrices_of_the_time_that_is_shown_are_those_of_the_command(page, runs):
    show(page, t=0.3)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Matrices here (.npz)").click()
    # As bent and as fast as it is then: without speeds there would be no Coriolis forces.
    model = ls.Model("simple-pendulum", "erls-fem", basis="nodal")
    state = runs[1][RESULT].state(-1)
    assert np.abs(state.qd).max() > 0.1 and np.abs(state.elastic).max() > 0
    wanted = model.matrices(state).arrays
    with np.load(waiting.value.path()) as found:
        assert set(wanted) <= set(found)
        for name, array in wanted.items():
            np.testing.assert_allclose(found[name], array, rtol=1e-9, atol=1e-9)


def test_a_result_that_is_none_is_said_in_words(page, runs):
    (runs[0] / "broken.nc").write_bytes(b"no NetCDF at all")
    page.evaluate("location.hash = '#screen=results&file=broken.nc'")
    expect(page.locator(".results .message")).to_contain_text("broken.nc")
    page.complaints.clear()
