"""The door of the server: every request and every web socket is checked here before anything else sees it.

Other sites in the same browser can send requests to this machine, and a name that they own can be made to point to it.
So a request must name this server as its host, come from one of its own pages, and bring the cookie.
"""

import asyncio
import logging
from urllib.parse import parse_qs, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from .answers import error_answer
from .explanation import RequestError, explanation
from .keys import Keys
from .limits import StudioLimits

LOG = logging.getLogger("lissom.studio")

LOGIN = "/login"
# What the page to log in needs before there is a cookie.
OPEN_PATHS = (LOGIN, "/assets/login.js", "/assets/studio.css")
# What takes files, or pictures of a motion.
BULKY_PATHS = ("/api/upload", "/api/results/gif")
READING = ("GET", "HEAD")
OWN_PAGES = ("same-origin", "none")  # `none`: typed into the address bar
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
    "content-security-policy": POLICY,
}


class Door:
    """Passes requests with access on to `app`, and adds security headers to every answer."""

    def __init__(
        self, app: ASGIApp, keys: Keys, hosts: frozenset[str], limits: StudioLimits
    ):
        self.app = app
        self.keys = keys
        self.hosts = hosts
        self.limits = limits
        scheme = "https" if keys.secure else "http"
        self.origins = frozenset(f"{scheme}://{host}" for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, web socket, or the life of the server."""
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        headers = Headers(scope=scope)
        send = _with_headers(send)
        try:
            self._check_origin(scope, headers)
            answer = self._cookie_for_token(scope)
            if answer is None:
                self._check_cookie(scope, headers)
                receive = self._limited(scope, headers, receive)
                answer = self.app
            await answer(scope, receive, send)
        except RequestError as refusal:
            where = ascii(scope.get("path", ""))[:200]
            LOG.warning("refused %s %s: %s", scope.get("method", "ws"), where, refusal)
            await _refusal_answer(scope, refusal)(scope, receive, send)

    # --- checks ----------------------------------------------------------------------------------------------------

    def _check_origin(self, scope: Scope, headers: Headers) -> None:
        if headers.get("host", "").lower() not in self.hosts:
            raise RequestError("this server has another name", 421)
        origin = headers.get("origin")
        writes = scope["type"] == "websocket" or scope["method"] not in READING
        if origin is not None and origin.lower() not in self.origins:
            raise RequestError("requests of other sites are refused", 403)
        if writes and origin is None:
            raise RequestError("only pages of the studio may change anything", 403)
        site = headers.get("sec-fetch-site", "none")
        if site not in OWN_PAGES and scope["path"] != "/":
            raise RequestError("requests of other sites are refused", 403)

    def _check_cookie(self, scope: Scope, headers: Headers) -> None:
        if self.keys.accepts_cookies(headers.get("cookie", "")):
            return
        if self.keys.wants_password and scope["path"] in OPEN_PATHS:
            return
        raise RequestError(
            "open the address that lissom studio printed in its terminal; each opens one browser",
            401,
        )

    def _cookie_for_token(self, scope: Scope) -> Response | None:
        """Where the address brings a token: the cookie, and the same address without it."""
        if scope["type"] != "http" or scope["path"] != "/":
            return None
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        token = query.pop("token", [None])[0]
        if token is None:
            return None
        if not self.keys.spend(token):
            raise RequestError(
                "this address was used already, or is incomplete; the terminal shows the next one",
                401,
            )
        rest = urlencode(query, doseq=True)
        cookie = {"set-cookie": self.keys.set_cookie}
        return RedirectResponse(f"/?{rest}" if rest else "/", 303, cookie)

    def _limited(self, scope: Scope, headers: Headers, receive: Receive) -> Receive:
        """`receive` that refuses bodies that are too large or come too slowly."""
        if scope["type"] != "http":
            return receive
        is_bulky = scope["path"] in BULKY_PATHS
        most = self.limits.upload if is_bulky else self.limits.body
        too_large = RequestError(f"larger than {most / 1e6:g} MB", 413)
        if "transfer-encoding" in headers:
            raise RequestError("a request must state its length", 411)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > most:
            raise too_large
        received = 0

        async def limited() -> Message:
            nonlocal received
            # After a complete body comes the end of the connection, whenever that may be.
            seconds = self.limits.receive_s if received < int(length) else None
            try:
                message = await asyncio.wait_for(receive(), seconds)
            except TimeoutError:
                raise RequestError("the request came too slowly", 408) from None
            received += len(message.get("body", b""))
            if received > most:
                raise too_large
            return message

        return limited


# --- answers -------------------------------------------------------------------------------------------------------


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending


def _refusal_answer(scope: Scope, refusal: RequestError) -> ASGIApp:
    if scope["type"] == "websocket":
        # Before it is accepted, a socket that is closed is refused with status 403.
        return WebSocketClose(1008)
    if scope["path"] == "/":
        return PlainTextResponse(f"lissom studio: {refusal}\n", refusal.status)
    return error_answer(refusal.status, explanation("refused", str(refusal)))
