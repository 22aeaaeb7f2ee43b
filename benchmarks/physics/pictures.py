"""The pictures of the README: the moving robot as its animation shows it, and the plots of its run.

Needs Chromium for the screenshot: `chromium` on the path.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import lissom as ls

from .figures import FOLDER

ROBOT = "anthropomorphic"
VIEW = "t=0.30&scale=5&paused&frames=0"
SIZE = (1200, 720)


def screenshot(page: Path, picture: Path, view: str = VIEW) -> None:
    """The page as a browser draws it."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("pictures.py needs chromium on the path")
    with tempfile.TemporaryDirectory() as profile:
        command = [
            browser,
            "--headless=new",
            "--no-sandbox",
            "--hide-scrollbars",
            # The page draws with WebGL: in software, for machines without a graphics card.
            "--use-gl=angle",
            "--use-angle=swiftshader",
            "--enable-unsafe-swiftshader",
            "--virtual-time-budget=4000",
            f"--user-data-dir={profile}",
            f"--window-size={SIZE[0]},{SIZE[1]}",
            f"--screenshot={picture}",
            f"{page.resolve().as_uri()}#{view}&theme=light",
        ]
        subprocess.run(command, check=True, capture_output=True, timeout=180)


def main() -> None:
    """Run, plot, animation, picture of it."""
    run = ls.run_scenario(ls.Scenario.load(ROBOT))
    run.plot(FOLDER / "run.png")
    with tempfile.TemporaryDirectory() as folder:
        page = run.animate(Path(folder) / "run.html")
        screenshot(page, FOLDER / "hero.png")
    for name in ("run.png", "hero.png"):
        size = (FOLDER / name).stat().st_size
        print(f"{name}: {size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
