"""The door of the server: every request and every web socket is checked here before anything else sees it.

Other sites in the same browser can send requests to this machine, and a name that they own can be made to point to it.
So a request must name this server as its host, come from one of its own pages, and bring the cookie.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs, urlencode

from .explanation import explanation
from .keys import Keys
from .limits import StudioLimits

LOG = logging.getLogger("lissom.studio")

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOGIN = "/login"
# What the page to log in needs before there is a cookie.
OPEN_PATHS = (LOGIN, "/assets/login.js", "/assets/studio.css")
# What takes files, or pictures of a motion.
BULKY_PATHS = ("/api/upload", "/api/results/gif")
READING = ("GET", "HEAD")
OWN_PAGES = ("same-origin", "none")  # `none`: typed into the address bar
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class RefusedRequest(Exception):
    """A request that is not let in."""

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = status


class Door:
    """Lets requests through to `app` that may come in, and gives every answer the headers of a careful page."""

    def __init__(
        self, app: App, keys: Keys, hosts: frozenset[str], limits: StudioLimits
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
        headers = _headers_of(scope)
        send = send if scope["type"] == "websocket" else _with_headers(send)
        try:
            self._check_origin(scope, headers)
            if await self._exchanged(scope, send):
                return None
            self._check_cookie(scope, headers)
            inlet = self._limited(scope, headers, receive)
            return await self.app(scope, inlet, send)
        except RefusedRequest as refusal:
            where = ascii(scope.get("path", ""))[:200]
            LOG.warning("refused %s %s: %s", scope.get("method", "ws"), where, refusal)
            await _refuse(scope, send, refusal)

    # --- checks ----------------------------------------------------------------------------------------------------

    def _check_origin(self, scope: Scope, headers: dict[str, str]) -> None:
        if headers.get("host", "").lower() not in self.hosts:
            raise RefusedRequest(421, "this server has another name")
        origin = headers.get("origin")
        writes = scope["type"] == "websocket" or scope["method"] not in READING
        if origin is not None and origin.lower() not in self.origins:
            raise RefusedRequest(403, "requests of other sites are refused")
        if writes and origin is None:
            raise RefusedRequest(403, "only pages of the studio may change anything")
        site = headers.get("sec-fetch-site", "none")
        if site not in OWN_PAGES and scope["path"] != "/":
            raise RefusedRequest(403, "requests of other sites are refused")

    def _check_cookie(self, scope: Scope, headers: dict[str, str]) -> None:
        if self.keys.accepts_cookies(headers.get("cookie", "")):
            return
        if self.keys.wants_password and scope["path"] in OPEN_PATHS:
            return
        raise RefusedRequest(
            401,
            "open the address that lissom studio printed in its terminal; each opens one browser",
        )

    async def _exchanged(self, scope: Scope, send: Send) -> bool:
        """True if a token was handed in: it is answered with a cookie and the same address without it."""
        if scope["type"] != "http" or scope["path"] != "/":
            return False
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        token = query.pop("token", [None])[0]
        if token is None:
            return False
        if not self.keys.spend(token):
            raise RefusedRequest(
                401,
                "this address was used already, or is not whole; the terminal shows the next one",
            )
        rest = urlencode(query, doseq=True)
        headers = {"location": f"/?{rest}" if rest else "/"}
        headers["set-cookie"] = self.keys.set_cookie
        await _respond(send, 303, b"", headers)
        return True

    def _limited(
        self, scope: Scope, headers: dict[str, str], receive: Receive
    ) -> Receive:
        """`receive` that refuses bodies that are too large or come too slowly."""
        if scope["type"] != "http":
            return receive
        is_bulky = scope["path"] in BULKY_PATHS
        most = self.limits.upload if is_bulky else self.limits.body
        if "transfer-encoding" in headers:
            raise RefusedRequest(411, "a request says how long it is")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > most:
            raise RefusedRequest(413, f"larger than {most / 1e6:g} MB")
        received = 0

        async def limited() -> Message:
            nonlocal received
            message = await self._in_time(receive, received, int(length))
            received += len(message.get("body", b""))
            if received > most:
                raise RefusedRequest(413, f"larger than {most / 1e6:g} MB")
            return message

        return limited

    async def _in_time(self, receive: Receive, received: int, length: int) -> Message:
        if received >= length:
            # The body is complete: what comes next is the end of the connection, whenever that may be.
            return await receive()
        try:
            return await asyncio.wait_for(receive(), self.limits.receive_s)
        except TimeoutError:
            raise RefusedRequest(408, "the request came too slowly") from None


# --- answers -------------------------------------------------------------------------------------------------------


def _headers_of(scope: Scope) -> dict[str, str]:
    found = {}
    for name, value in scope["headers"]:
        found[name.decode("latin-1").lower()] = value.decode("latin-1")
    return found


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {name.lower() for name, _ in message["headers"]}
            extra = {**HEADERS, "content-security-policy": POLICY}
            for name, value in extra.items():
                if name.encode() not in given:
                    message["headers"].append((name.encode(), value.encode()))
        await send(message)

    return sending


async def _refuse(scope: Scope, send: Send, refusal: RefusedRequest) -> None:
    if scope["type"] == "websocket":
        # Before it is accepted, a socket that is closed is refused with status 403.
        await send({"type": "websocket.close", "code": 1008})
        return
    kinds = {"content-type": "application/json"}
    error = explanation("refused", str(refusal))
    body = json.dumps({"error": error}).encode()
    if scope["path"] == "/":
        kinds = {"content-type": "text/plain; charset=utf-8"}
        body = f"lissom studio: {refusal}\n".encode()
    await _respond(send, refusal.status, body, kinds)


async def _respond(
    send: Send, status: int, body: bytes, headers: dict[str, str]
) -> None:
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
