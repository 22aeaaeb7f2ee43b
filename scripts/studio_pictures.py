"""Draws the pictures of the library's robots on the start screen, with the studio's own view in Chromium.

Run it when a robot is added: python scripts/studio_pictures.py [NAME ...]
"""

import base64
import re
import subprocess
import sys
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from lissom.describe import library_names

PICTURES = Path(__file__).parent.parent / "src" / "lissom" / "studio" / "pictures"
SIZE = {"width": 560 + 345, "height": 315 + 46}  # a stage of 560 x 315 beside the panel
CARD = (448, 252)
CHROMIUM = "/usr/bin/chromium"
DRAWING = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def main(names: list[str]) -> None:
    """Starts a studio and draws the robots."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        line = [sys.executable, "-m", "lissom.commands.cli", "studio", folder]
        line += ["--no-browser", "--port", "0"]
        server = subprocess.Popen(line, stderr=subprocess.PIPE, text=True)
        try:
            assert server.stderr is not None
            address = re.findall(r"http\S+", server.stderr.readline())[0]
            draw(address, names)
        finally:
            server.terminate()


def draw(address: str, names: list[str]) -> None:
    """Writes one picture for each name."""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=DRAWING)
        page = browser.new_page(viewport=SIZE, bypass_csp=True)
        page.goto(address)
        page.wait_for_selector(".card", timeout=60_000)
        for name in names:
            page.evaluate(
                f"location.hash = '#screen=look&source=scenario:{name}&sag=0'"
            )
            page.wait_for_function(
                f"document.querySelector('.look h1')?.textContent === {name!r}"
                " && document.querySelector('.look .waiting').hidden",
                timeout=180_000,
            )
            page.wait_for_timeout(400)
            data = page.evaluate("document.querySelector('.stage canvas').toDataURL()")
            content = base64.b64decode(data.partition(",")[2])
            keep(content, PICTURES / f"{name}.png")
            print(name, flush=True)
        browser.close()


def keep(content: bytes, path: Path) -> None:
    """Writes a picture in few colours and at the size of a card."""
    image = Image.open(BytesIO(content)).convert("RGB")
    small = image.resize(CARD, Image.Resampling.LANCZOS)
    small.quantize(64).save(path, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1:] or list(library_names()))
