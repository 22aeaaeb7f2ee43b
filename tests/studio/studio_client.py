"""A studio inside of this process, and a client that speaks to it as a server would: no socket, no other process."""

import asyncio
import json
import threading
from contextlib import nullcontext
from pkgutil import resolve_name
from types import SimpleNamespace
from typing import NamedTuple

from lissom.files.summary import plain
from lissom.studio.app import studio_app
from lissom.studio.backend import Backend
from lissom.studio.explanation import explained, explanation
from lissom.studio.folder import Folder
from lissom.studio.keys import Keys
from lissom.studio.limits import StudioLimits
from lissom.studio.worker import VERB, CallFailed, Worker

HOST = "127.0.0.1:8765"
ORIGIN = f"http://{HOST}"
HOSTS = frozenset((HOST, "localhost:8765"))


ONE_AT_A_TIME = threading.Lock()


class InlineWorker(Worker):
    """Answers in this process; a call can be stopped between two reports as in a process of its own."""

    def call(self, function, data, limit_s, watch=None):
        self._stopping.clear()

        def report(progress):
            watch(progress)
            if self._stopping.is_set():
                raise KeyboardInterrupt

        # Processes read files side by side, threads of one process cannot.
        is_run = data.get("name") == "simulate" and function == VERB
        alone = nullcontext() if is_run else ONE_AT_A_TIME
        more = {} if watch is None else {"watch": report}
        try:
            with alone:
                return plain(resolve_name(f"lissom.{function}")(**data, **more))
        except KeyboardInterrupt:
            raise CallFailed(explanation("interrupted", "stopped")) from None
        except Exception as failure:
            raise CallFailed(explained(failure)) from None


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


class Client:
    """Sends requests with the cookie and the origin of a page of the studio, unless a test changes them."""

    def __init__(self, app, keys):
        self.app = app
        self.cookie = keys.set_cookie.partition(";")[0]

    def request(
        self,
        method,
        path,
        body=None,
        headers=None,
        query="",
        raw=None,
        cookie=True,
        more=False,
    ):
        """The answer to a request; `more`: its body goes on, but nothing comes."""
        content = raw if raw is not None else b""
        if body is not None:
            content = json.dumps(body).encode()
        sent = {"host": HOST, "content-length": str(len(content))}
        if body is not None:
            sent["content-type"] = "application/json"
        if method not in ("GET", "HEAD"):
            sent["origin"] = ORIGIN
        if cookie:
            sent["cookie"] = self.cookie
        for name, value in (headers or {}).items():
            sent.pop(name) if value is None else sent.update({name: value})
        scope = scope_of("http", path, query, sent, method=method)
        return asyncio.run(_exchange(self.app, scope, content, more))

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def socket(self, messages, headers=None):
        """What a web socket is answered: the messages it was sent, until nothing more comes."""
        sent = {"host": HOST, "origin": ORIGIN, "cookie": self.cookie}
        for name, value in (headers or {}).items():
            sent.pop(name) if value is None else sent.update({name: value})
        scope = scope_of("websocket", "/api/live", "", sent)
        return asyncio.run(_talk(self.app, scope, messages))


def scope_of(kind, path, query, headers, **others):
    pairs = [
        (name.encode("latin-1"), value.encode("latin-1"))
        for name, value in headers.items()
    ]
    return {
        "type": kind,
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "http" if kind == "http" else "ws",
        "path": path,
        "raw_path": path.encode("utf-8", "surrogatepass"),
        "query_string": query.encode("latin-1", "replace"),
        "root_path": "",
        "headers": pairs,
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8765),
        **others,
    }  # fmt: skip


async def _exchange(app, scope, content, more):
    sent = []
    delivered = False

    async def receive():
        nonlocal delivered
        if delivered:
            await asyncio.sleep(3600)
        delivered = True
        return {"type": "http.request", "body": content, "more_body": more}

    async def send(message):
        sent.append(message)

    await app(scope, receive, send)
    start = next(m for m in sent if m["type"] == "http.response.start")
    body = b"".join(m.get("body", b"") for m in sent if m["type"].endswith("body"))
    pairs = ((name.decode(), value.decode()) for name, value in start["headers"])
    return Answer(start["status"], dict(pairs), body)


async def _talk(app, scope, messages):
    incoming = asyncio.Queue()
    incoming.put_nowait({"type": "websocket.connect"})
    for text in messages:
        incoming.put_nowait({"type": "websocket.receive", "text": text})
    received = []

    async def send(message):
        received.append(message)
        # Each message is answered, and the list of jobs comes once: then the page goes.
        if len(received) >= len(messages) + 2:
            incoming.put_nowait({"type": "websocket.disconnect", "code": 1000})

    await asyncio.wait_for(app(scope, incoming.get, send), 20)
    return received


def studio(folder, limits=None, new_worker=InlineWorker, password=None):
    """A studio for a folder: its client, backend and keys."""
    limits = limits or StudioLimits()
    keys = Keys(8765, password)
    backend = Backend(Folder(folder), limits, new_worker)
    app = studio_app(backend, keys, HOSTS)
    return SimpleNamespace(
        client=Client(app, keys), backend=backend, keys=keys, app=app
    )


def wait_for(condition, seconds=30.0):
    """True as soon as a condition holds, False if it does not in time."""
    pause = threading.Event()
    for _ in range(int(seconds / 0.02)):
        if condition():
            return True
        pause.wait(0.02)
    return False
