"""A studio on a port of its own, and Chromium in front of it."""

import shutil
import threading
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import uvicorn
from playwright.sync_api import sync_playwright
from studio_client import wait_for

from lissom.studio.app import studio_app
from lissom.studio.backend import Backend
from lissom.studio.folder import Folder
from lissom.studio.keys import Keys
from lissom.studio.limits import StudioLimits
from lissom.studio.server import host_names, listening_socket

# Software draws the pictures: there need not be a graphics card where tests run.
ARGUMENTS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
SIZE = {"width": 1280, "height": 720}


@contextmanager
def served_studio(folder, new_worker, password=None):
    """A studio that answers on a port of this machine."""
    taken, port = listening_socket("127.0.0.1", 0)
    keys = Keys(port, password)
    limits = StudioLimits()
    backend = Backend(Folder(folder), limits, new_worker)
    app = studio_app(backend, keys, host_names("127.0.0.1", port))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = threading.Thread(target=server.run, args=([taken],), daemon=True)
    thread.start()
    assert wait_for(lambda: server.started)
    address = f"http://127.0.0.1:{port}/"
    try:
        yield SimpleNamespace(address=address, keys=keys, backend=backend)
    finally:
        backend.close()
        server.should_exit = True
        thread.join(10)


@contextmanager
def chromium():
    """A browser without a window."""
    with sync_playwright() as play:
        browser = _launched(play.chromium)
        yield browser
        browser.close()


@contextmanager
def another_browser(browser):
    """A second one, a process of its own."""
    other = _launched(browser.browser_type)
    yield other
    other.close()


def _launched(kind):
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    return kind.launch(executable_path=path, args=ARGUMENTS)


def opened_page(browser, house, **options):
    """A page that came in by the start address; what it complains about and asks for is written down."""
    context = browser.new_context(viewport=SIZE, **options)
    page = context.new_page()
    page.complaints = []
    page.hosts = set()
    page.on("console", lambda m: _note(page, m))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("request", lambda r: page.hosts.add(r.url.split("/")[2]))
    page.goto(f"{house.address}?token={house.keys.token}")
    return page


def _note(page, message):
    # A file that is not there yet is asked for once: the browser tells, the page expects it.
    if message.type == "error" and "status of 404" not in message.text:
        page.complaints.append(message.text)


NAMELESS = """() => {
  const named = (e) => e.labels?.length || e.getAttribute('aria-label') || e.textContent.trim() || e.title;
  const all = document.querySelectorAll('input, select, textarea, button, canvas[role=img], img');
  return [...all].filter((e) => !named(e) && !e.alt && !e.closest('.cm-editor')).map((e) => e.outerHTML.slice(0, 120));
}"""


def nameless_elements(page):
    """Inputs, buttons and pictures that a screen reader could not name."""
    return page.evaluate(NAMELESS)


AXE = Path(__file__).parent / "axe-core" / "axe.min.js"
FOUND = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ['violations'] });
  const why = (node) => node.any.map(({ message }) => message).join(' ');
  return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${why(node)}`));
}"""


def barriers(page):
    """What axe-core finds on the page as it is: too little contrast, nameless fields, wrong roles."""
    # Through the debugger: the policy of the page lets no script in.
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    return page.evaluate(FOUND)
