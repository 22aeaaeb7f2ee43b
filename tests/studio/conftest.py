"""The studio needs its extra, its screens a browser, its encryption openssl: files that need more are not collected."""

import shutil
from importlib.util import find_spec

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
HAS_SERVER = all(find_spec(name) for name in ("fastapi", "uvicorn", "websockets"))
HAS_BROWSER = CHROMIUM is not None and find_spec("playwright") is not None

collect_ignore_glob = []
if shutil.which("openssl") is None:
    collect_ignore_glob = ["test_*_over_tls.py"]
if not HAS_SERVER:
    collect_ignore_glob = ["test_*"]
elif not HAS_BROWSER:
    collect_ignore_glob.append("test_*_in_the_browser.py")
