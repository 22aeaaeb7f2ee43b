"""The server as one application: pages, routes, and the door before them."""

import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from .answers import error_answer
from .backend import Backend
from .door import LOGIN, POLICY, Door
from .explanation import RequestError, explanation, request_problems
from .keys import Keys
from .live import live
from .routes import api
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


def studio_app(backend: Backend, keys: Keys, hosts: frozenset[str]) -> ASGIApp:
    """The application of a studio.

    Args:
        backend: folder, workers and queue.
        keys: of its browsers.
        hosts: names with ports under which the server may be addressed.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        backend.close()

    # The generated pages about the routes load scripts of other hosts.
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, lifespan=lifespan)
    _add_pages(app, keys)
    for routes in (api, verb_routes, live):
        app.include_router(routes(backend))
    _add_errors(app)
    return Door(app, keys, hosts, backend.limits)


def assets() -> dict[str, Path]:
    """All files that pages load, by their names: only these are served."""
    package = Path(__file__).parents[1]
    folders = {
        "": package / "studio" / "pages",
        "vendor/": package / "studio" / "vendor",
        "pictures/": package / "studio" / "pictures",
        "drawing/": package / "show" / "drawing",
    }
    return {
        f"{prefix}{path.name}": path
        for prefix, folder in folders.items()
        for path in sorted(folder.glob("*"))
        if path.suffix in KINDS
    }


def _add_pages(app: FastAPI, keys: Keys) -> None:
    known = assets()
    page = known["index.html"].read_text(encoding="utf-8")

    @app.get("/")
    def index() -> Response:
        """The page of the studio. The editor adds its styles as text: they carry the nonce of this answer."""
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
            raise RequestError(f"{name[:80]}: no such file", 404)
        return FileResponse(path, media_type=KINDS[path.suffix])

    @app.get(LOGIN)
    def login_page() -> Response:
        """The form for the password, where the studio has one."""
        if not keys.wants_password:
            return RedirectResponse("/", 303)
        return FileResponse(known["login.html"], media_type="text/html")

    @app.post(LOGIN)
    async def login(request: Request) -> Response:
        """The cookie, for the password."""
        password = (await request.body()).decode("utf-8", "replace")
        if not keys.accepts_password(password):
            LOG.warning("refused a password")
            message = "that is not the password, or there were too many tries: wait half a minute"
            return error_answer(401, explanation("refused", message))
        return Response(status_code=204, headers={"set-cookie": keys.set_cookie})


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(RequestError)
    def refused(request: Request, failure: RequestError) -> Response:
        if failure.status != 404:
            LOG.warning("refused %s: %s", request.url.path, ascii(str(failure))[:200])
        return error_answer(failure.status, failure.reason)

    @app.exception_handler(CallFailed)
    def call_failed(request: Request, failure: CallFailed) -> Response:
        status = 400 if failure.reason["kind"] == "bad input" else 422
        return error_answer(status, failure.reason)

    @app.exception_handler(RequestValidationError)
    def bad_request(request: Request, failure: RequestValidationError) -> Response:
        message = request_problems(failure.errors())
        return error_answer(400, explanation("bad input", message))

    @app.exception_handler(HTTPException)
    def http_error(request: Request, failure: HTTPException) -> Response:
        reason = explanation("bad input", str(failure.detail))
        return error_answer(failure.status_code, reason)

    @app.exception_handler(Exception)
    def defect(request: Request, failure: Exception) -> Response:
        LOG.error("%s failed", request.url.path, exc_info=failure)
        message = "the studio itself failed; its log says why"
        return error_answer(500, explanation("defect", message))
