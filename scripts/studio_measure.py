"""How long a newcomer waits, how smoothly things move, how much is loaded: measured in Chromium on a studio of its own.

Run it on a machine that does nothing else: python scripts/studio_measure.py
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

from playwright.sync_api import Page, sync_playwright

CHROMIUM = "/usr/bin/chromium"
DRAWING = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
SIZE: Any = {"width": 1280, "height": 720}
PATIENCE = 300_000  # ms
SECONDS = 6  # of watching
LONG = ("simple-pendulum", "--set", "t_end=60", "--set", "output_dt=0.001")

# Pictures that were drawn while the result plays: each moves the clock.
FRAMES = """async (seconds) => {
  const clock = document.querySelector('.player output');
  let count = 0, last = clock.textContent;
  const end = performance.now() + 1000 * seconds;
  while (performance.now() < end) {
    await new Promise(requestAnimationFrame);
    if (clock.textContent !== last) { count++; last = clock.textContent; }
  }
  return count / seconds;
}"""
# Poses that were drawn while a slider moves: each asks for sag and torques.
UPDATES = """async (seconds) => {
  const slider = document.querySelectorAll('.slider input[type=range]')[1];
  let count = 0;
  const facts = document.getElementById('tip-sag').closest('[aria-live]');
  new MutationObserver(() => { count++; }).observe(facts, { childList: true });
  const begin = performance.now();
  while (performance.now() < begin + 1000 * seconds) {
    const t = (performance.now() - begin) / 1000;
    slider.value = 40 * Math.sin(t);
    slider.dispatchEvent(new Event('input'));
    await new Promise(requestAnimationFrame);
  }
  return count / seconds;
}"""


def command(*words: str) -> list[str]:
    """A command line of lissom."""
    return [sys.executable, "-m", "lissom.commands.cli", *words]


@contextmanager
def studio(folder: str, cache: str) -> Iterator[str]:
    """The start address of a studio whose compiled code is kept in `cache`."""
    environment = {**os.environ, "LISSOM_CACHE": cache}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    line = command("studio", folder, "--no-browser", "--port", "0")
    server = subprocess.Popen(line, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert server.stderr is not None
        yield re.findall(r"http\S+", server.stderr.readline())[0]
    finally:
        server.terminate()
        server.wait()


def first_run(page: Page, address: str, began: float) -> dict[str, float]:
    """From the start of the server to the moving result of a new robot, and the next run."""
    page.goto(address)
    clicks = 0
    for name in ("New configuration", "Save and run", "Show run 1"):
        page.get_by_role("button", name=name, exact=True).click(timeout=PATIENCE)
        clicks += 1
    moving(page)
    first = monotonic() - began
    page.get_by_role("link", name="Run", exact=True).click()
    again = monotonic()
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("button", name="Show run 2").click(timeout=PATIENCE)
    moving(page)
    return {
        "clicks": clicks,
        "first_run_s": first,
        "next_run_s": monotonic() - again,
    }


def moving(page: Page) -> None:
    """Waits until charts are there and the picture moves."""
    page.locator(".chart .u-over").first.wait_for(timeout=PATIENCE)
    clock = page.locator(".player output").first
    before = clock.inner_text()
    while clock.inner_text() == before:
        page.wait_for_timeout(10)


def frames(page: Page, file: str) -> float:
    """Pictures per second of a result that plays."""
    page.evaluate(f"location.hash = '#screen=results&file={file}'")
    moving(page)
    return page.evaluate(FRAMES, SECONDS)


def updates(page: Page) -> float:
    """Poses with sag and torques per second while a slider of the anthropomorphic robot moves."""
    page.evaluate("location.hash = '#screen=look&source=library:anthropomorphic'")
    page.locator("#tip-sag").wait_for(timeout=PATIENCE)
    page.wait_for_timeout(2000)
    return page.evaluate(UPDATES, SECONDS)


def sizes(folder: Path) -> dict[str, int]:
    """Bytes of all scripts, and of an animation page without its data."""
    from lissom.studio.app import assets

    scripts = [path for path in assets().values() if path.suffix == ".js"]
    page = folder / "page.html"
    line = command("plot", str(folder / "long.nc"), "-o", str(page))
    subprocess.run(line, check=True, capture_output=True)
    text = page.read_text()
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text)
    assert data is not None
    return {
        "script_bytes": sum(path.stat().st_size for path in scripts),
        "page_bytes_without_data": len(text) - len(data[1]),
        "page_bytes_of_data": len(data[1]),
    }


def main() -> None:
    """Measures and prints."""
    with tempfile.TemporaryDirectory() as place, sync_playwright() as play:
        folder = Path(place) / "folder"
        folder.mkdir()
        line = command("simulate", *LONG, "-o", str(folder / "long.nc"))
        subprocess.run(line, check=True, capture_output=True)
        browser = play.chromium.launch(executable_path=CHROMIUM, args=DRAWING)
        page = browser.new_page(viewport=SIZE)
        hosts: set[str] = set()
        page.on("request", lambda asked: hosts.add(asked.url.split("/")[2]))
        began = monotonic()
        with studio(str(folder), f"{place}/cache") as address:
            found: dict[str, Any] = first_run(page, address, began)
            found["frames_per_s_of_60000_samples"] = frames(page, "long.nc")
            found["slider_updates_per_s"] = updates(page)
        found |= sizes(folder)
        found["other_hosts"] = len(hosts) - 1
        browser.close()
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
