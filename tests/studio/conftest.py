"""The studio needs its extra, and its screens need a browser: without them these files are not collected."""

import shutil
from importlib.util import find_spec

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
HAS_SERVER = all(find_spec(name) for name in ("fastapi", "uvicorn", "websockets"))
HAS_BROWSER = CHROMIUM is not None and find_spec("playwright") is not None

collect_ignore_glob = []
if not HAS_SERVER:
    collect_ignore_glob = ["test_*"]
elif not HAS_BROWSER:
    collect_ignore_glob = ["test_*_in_the_browser.py"]
