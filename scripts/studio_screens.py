"""Draws the pictures of docs/howto/studio.md: screens of a studio, as Chromium shows them.

Run it when a screen has changed: python scripts/studio_screens.py [NAME ...]
"""

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE, Popen

from playwright.sync_api import Page, sync_playwright

from lissom.commands.cli import main as run_command

ROOT = Path(__file__).parent.parent
FIGURES = ROOT / "docs" / "figures"
ROBOTS = ROOT / "src" / "lissom" / "robots"
CHROMIUM = "/usr/bin/chromium"
DRAWING = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
SIZE = {"width": 1280, "height": 900}
PATIENCE = 90_000  # [ms], for a page that computes
CHARTS = "[role=tabpanel]:not([hidden]) .chart .u-over"
ROBOT = "source=library:anthropomorphic"
POSE = "q=0.3,0.6,-0.9"
ARM = "source=scenario:anthropomorphic"
PENDULUM = "source=scenario:double-pendulum"


def look(page: Page) -> None:
    """The robot with its Denavit-Hartenberg frames, dimensions and masses."""
    show_robot(page)
    for text in ("DH frames", "Dimensions", "Centres of mass, principal axes"):
        page.locator(".look").get_by_label(text).check()
    page.locator("#mass-facts").wait_for()
    page.locator("#look-title").scroll_into_view_if_needed()
    page.wait_for_timeout(2000)


def look_modes(page: Page) -> None:
    """The second mode at this pose, in motion."""
    show_robot(page)
    for text in ("DH frames", "Dimensions", "Centres of mass, principal axes"):
        page.locator(".look").get_by_label(text).uncheck()
    page.locator("#pose-modes summary").click()
    page.locator("#pose-modes").get_by_label("Hold every joint").check()
    page.get_by_label("Mode 2 in motion").check()
    page.locator("#pose-modes tbody").scroll_into_view_if_needed()
    page.wait_for_timeout(3000)
    # A picture that moves is not always there when the browser takes its own.
    page.get_by_role("button", name="Pause").click()
    page.wait_for_timeout(1000)


def show_robot(page: Page) -> None:
    """Waits until the robot stands in its pose."""
    page.locator(".look .stage .empty").wait_for(state="hidden")
    page.locator("#tip-sag").wait_for()


def build(page: Page) -> None:
    """A robot of the library as form and text, everything about its second link."""
    page.locator(".cm-content").wait_for()
    page.get_by_label("All of link upper").click()
    page.locator(".build .stage .empty").wait_for(state="hidden")
    page.wait_for_timeout(2000)


def run(page: Page) -> None:
    """A torque that is drawn, before it is run."""
    page.wait_for_timeout(3000)
    page.get_by_role("button", name="Add a torque").click()
    page.locator(".curve-editor").scroll_into_view_if_needed()


def results(page: Page) -> None:
    """Two runs, one over the other, in the middle of their time."""
    page.locator(".chart .u-over").nth(2).wait_for()
    page.locator("#compare caption").wait_for()
    chart = page.locator(".chart .u-over").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 0.6 * box["width"], box["y"] + 0.5 * box["height"])
    page.wait_for_timeout(1000)


def modes(page: Page) -> None:
    """The third mode, swinging."""
    page.get_by_label("Hold every joint").check()
    page.locator("#find-modes").click()
    page.locator(".modes tbody tr").nth(2).locator("button").click()
    page.wait_for_timeout(2000)


def linear(page: Page) -> None:
    """Poles, Bode plot and step response."""
    page.get_by_label("Hold every joint").check()
    page.locator("#linearize").click()
    page.locator(CHARTS).nth(2).wait_for()
    page.wait_for_timeout(1000)


def mode_map(page: Page) -> None:
    """A frequency over two joints."""
    for which, joint, lowest, highest in (
        ("First", "fore", "-120", "-10"),
        ("Second", "upper", "5", "80"),
    ):
        page.get_by_label(f"{which} quantity", exact=True).fill(joint)
        page.get_by_label(f"{which} quantity: from").fill(lowest)
        page.get_by_label(f"{which} quantity: to").fill(highest)
    page.get_by_label("Hold every joint").check()
    page.locator("#map-modes").click()
    page.locator("canvas.heat").wait_for()
    page.wait_for_timeout(1000)


SCREENS: dict[str, tuple[str, Callable[[Page], None]]] = {
    "studio-look": (f"screen=look&{ROBOT}&{POSE}", look),
    "studio-look-modes": (f"screen=look&{ROBOT}&{POSE}", look_modes),
    "studio-build": ("screen=build&source=arm.yaml", build),
    "studio-run": (f"screen=run&{PENDULUM}", run),
    "studio-results": ("screen=results&file=free.nc&with=loaded.nc", results),
    "studio-analyse-modes": (f"screen=analyse&{PENDULUM}&q=0.3,0.7&locked=1", modes),
    "studio-analyse-linear": (f"screen=analyse&{PENDULUM}&tab=linear", linear),
    "studio-analyse-map": (f"screen=analyse&{ARM}&tab=map", mode_map),
}


def write_files(folder: Path) -> None:
    """A robot to build, and two runs to compare: with a payload and without."""
    shutil.copy(ROBOTS / "anthropomorphic.yaml", folder / "arm.yaml")
    for name, mass in (("free", 0.0), ("loaded", 0.5)):
        words = ["simulate", "double-pendulum", "-o", str(folder / f"{name}.nc")]
        run_command([*words, "--set", "t_end=0.8", "--set", f"payload.mass={mass}"])


def main(names: list[str]) -> None:
    """Starts a studio and draws its screens."""
    with tempfile.TemporaryDirectory() as name:
        write_files(Path(name))
        line = [sys.executable, "-m", "lissom.commands.cli", "studio", name]
        server = Popen([*line, "--no-browser", "--port", "0"], stderr=PIPE, text=True)
        try:
            assert server.stderr is not None
            words = server.stderr.readline().split()
            draw(next(word for word in words if word.startswith("http")), names)
        finally:
            server.terminate()


def draw(address: str, names: list[str]) -> None:
    """Writes one picture for each name."""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=DRAWING)
        page = browser.new_page(viewport=SIZE)
        page.set_default_timeout(PATIENCE)
        page.goto(address)
        for name in names:
            page.locator(".card").first.wait_for()
            place, prepare = SCREENS[name]
            page.evaluate(f"location.hash = '#{place}'")
            prepare(page)
            page.screenshot(path=FIGURES / f"{name}.png")
            print(name, flush=True)
            page.evaluate("location.hash = '#screen=start'")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:] or list(SCREENS))
