"""The server as one application: pages, routes, and the door before them."""

import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from .backend import Backend
from .door import LOGIN, POLICY, App, Door
from .explanation import explanation, request_problems
from .folder import FolderError
from .jobs import QueueFull
from .keys import Keys
from .limits import StudioLimits
from .live import live
from .result_routes import results
from .routes import api, plain_answer
from .verb_routes import verb_routes
from .worker import CallFailed

LOG = logging.getLogger("lissom.studio")
KINDS = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".html": "text/html",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".yaml": "text/plain",
}
NONCE = "__NONCE__"


def studio_app(
    backend: Backend, keys: Keys, hosts: frozenset[str], limits: StudioLimits
) -> App:
    """The application of a studio.

    Args:
        backend: what answers.
        keys: who may come in.
        hosts: names with ports under which the server may be addressed.
        limits: of sizes and times.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        backend.close()

    # The generated pages about the routes load scripts of other hosts.
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, lifespan=lifespan)
    _add_pages(app, keys)
    app.include_router(api(backend))
    app.include_router(results(backend))
    app.include_router(verb_routes(backend))
    app.include_router(live(backend))
    _add_errors(app)
    return Door(app, keys, hosts, limits)


def assets() -> dict[str, Path]:
    """All files that pages load, by their names: what is not listed does not exist."""
    found = {}
    for package, folder in (
        ("lissom.studio", "pages"),
        ("lissom.studio", "vendor"),
        ("lissom.studio", "pictures"),
        ("lissom.show", "drawing"),
    ):
        place = Path(str(files(package))) / folder
        for path in sorted(place.glob("*")):
            if path.suffix in KINDS:
                name = path.name if folder == "pages" else f"{folder}/{path.name}"
                found[name] = path
    return found


def _add_pages(app: FastAPI, keys: Keys) -> None:
    known = assets()
    page = known["index.html"].read_text(encoding="utf-8")

    @app.get("/")
    def index() -> Response:
        """The page of the studio. The editor brings its styles as text: they carry a word made for this answer."""
        nonce = secrets.token_urlsafe(16)
        style = f"style-src 'self' 'nonce-{nonce}'"
        policy = POLICY.replace("style-src 'self'", style)
        return Response(
            page.replace(NONCE, nonce),
            media_type="text/html",
            headers={"content-security-policy": policy},
        )

    @app.get("/assets/{name:path}")
    def asset(name: str) -> Response:
        """A script, a style or a picture."""
        path = known.get(name)
        if path is None:
            raise FolderError(f"{name[:80]}: no such file", 404)
        return FileResponse(path, media_type=KINDS[path.suffix])

    @app.get(LOGIN)
    def login_page() -> Response:
        """Asks for the password, where the studio has one."""
        if not keys.wants_password:
            return RedirectResponse("/", 303)
        return FileResponse(known["login.html"], media_type="text/html")

    @app.post(LOGIN)
    async def login(request: Request) -> Response:
        """A password for a cookie."""
        password = (await request.body()).decode("utf-8", "replace")
        if not keys.accepts_password(password):
            LOG.warning("refused a password")
            message = "that is not the password, or there were too many tries: wait half a minute"
            return plain_answer(401, explanation("refused", message))
        return Response(status_code=204, headers={"set-cookie": keys.set_cookie})


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(FolderError)
    def folder_error(request: Request, failure: FolderError) -> Response:
        kind = "conflict" if failure.status == 409 else "bad input"
        if failure.status != 404:
            LOG.warning("refused %s: %s", request.url.path, ascii(str(failure))[:200])
        return plain_answer(failure.status, explanation(kind, str(failure)))

    @app.exception_handler(CallFailed)
    def call_failed(request: Request, failure: CallFailed) -> Response:
        status = 400 if failure.reason["kind"] == "bad input" else 422
        return plain_answer(status, failure.reason)

    @app.exception_handler(QueueFull)
    def queue_full(request: Request, failure: QueueFull) -> Response:
        LOG.warning("refused %s: %s", request.url.path, failure)
        return plain_answer(429, explanation("busy", str(failure)))

    @app.exception_handler(RequestValidationError)
    def bad_request(request: Request, failure: RequestValidationError) -> Response:
        message = request_problems(failure.errors())
        return plain_answer(400, explanation("bad input", message))

    @app.exception_handler(HTTPException)
    def http_error(request: Request, failure: HTTPException) -> Response:
        return plain_answer(
            failure.status_code, explanation("bad input", str(failure.detail))
        )

    @app.exception_handler(Exception)
    def defect(request: Request, failure: Exception) -> Response:
        LOG.error("%s failed", request.url.path, exc_info=failure)
        message = "the studio itself failed; its log says why"
        return plain_answer(500, explanation("defect", message))
