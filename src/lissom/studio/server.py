"""Starts the server: finds a port, prints its address, opens the browser, and ends its processes with it."""

import ipaddress
import socket
import tempfile
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import uvicorn

from .app import studio_app
from .backend import Backend
from .folder import Folder
from .keys import Keys
from .limits import StudioLimits
from .worker import VERB, CallFailed

NEW_ROBOT = Path(__file__).parent / "pages" / "new_robot.yaml"
LOOPBACK = "127.0.0.1"
PORTS_TRIED = 50
SHORTEST_PASSWORD = 12
WHY = (
    "other machines could then reach the studio: everyone on the network who knows the password can read and write "
    "the files of the folder, and without encryption everyone can read the password"
)


@dataclass(frozen=True)
class ServerOptions:
    """How a studio is reached."""

    folder: str
    host: str = LOOPBACK
    port: int = 8765
    password: str | None = None
    certificate: str | None = None  # PEM files, for a host beyond this machine
    key: str | None = None
    browser: bool = True


class ServerError(ValueError):
    """The server cannot start with these options."""


def is_local(host: str) -> bool:
    """True for an address of this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check(options: ServerOptions) -> None:
    """Refuses to be reached from elsewhere without a password and encryption.

    Raises:
        ServerError: with the reason.
    """
    given = options.certificate, options.key
    for path in given:
        if path is not None and not Path(path).is_file():
            raise ServerError(f"{path}: no such file")
    if (options.certificate is None) != (options.key is None):
        raise ServerError("--certificate and --key belong together")
    if is_local(options.host):
        return
    missing = []
    if options.password is None:
        missing.append("a password (in the environment: LISSOM_STUDIO_PASSWORD)")
    if options.certificate is None:
        missing.append("a certificate (--certificate and --key)")
    if missing:
        raise ServerError(f"--host {options.host} needs {' and '.join(missing)}: {WHY}")
    if len(options.password or "") < SHORTEST_PASSWORD:
        raise ServerError(
            f"the password must have at least {SHORTEST_PASSWORD} characters: {WHY}"
        )


def listening_socket(host: str, port: int) -> tuple[socket.socket, int]:
    """A socket on the port, or on the next one that is free, and its number.

    Raises:
        ServerError: none is.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in range(port, port + PORTS_TRIED):
        taken = socket.socket(family, socket.SOCK_STREAM)
        try:
            taken.bind((host, candidate if port else 0))
            return taken, taken.getsockname()[1]
        except (OSError, OverflowError) as failure:
            taken.close()
            reason = getattr(failure, "strerror", "ports end at 65535")
    raise ServerError(f"no port from {port} on can be opened on {host}: {reason}")


def host_names(host: str, port: int) -> frozenset[str]:
    """Names by which a browser may address the server."""
    names = ["127.0.0.1", "localhost", "[::1]"]
    if not is_local(host):
        names.append(socket.gethostname().lower())
        names.append(f"[{host}]" if ":" in host else host.lower())
    return frozenset(f"{name}:{port}" for name in names)


def serve(options: ServerOptions, note: Callable[[str], None]) -> None:
    """Serves until it is interrupted.

    Args:
        options: folder, address and access.
        note: prints a line.

    Raises:
        ServerError: it cannot start.
        RequestError: the folder is none.
    """
    check(options)
    folder = Folder(options.folder)
    taken, port = listening_socket(options.host, options.port)
    # From here on an early browser waits instead of being refused.
    taken.listen()
    if options.port not in (0, port):
        note(f"port {options.port} is in use: taking {port}")
    secure = options.certificate is not None
    keys = Keys(port, options.password, secure)
    limits = StudioLimits()
    backend = Backend(folder, limits)
    shown = "127.0.0.1" if is_local(options.host) else options.host
    address = f"{'https' if secure else 'http'}://{shown}:{port}/"
    if not folder.is_writable:
        note(f"{folder.root} cannot be written: nothing can be saved there")
    start = f"{address}?token={keys.token}"
    note(f"studio: {start}")
    note("Ctrl-C ends it")
    keys.on_new_token = lambda token: note(f"another browser: {address}?token={token}")
    config = uvicorn.Config(
        studio_app(backend, keys, host_names(options.host, port)),
        log_level="warning",
        server_header=False,
        ws_max_size=limits.message,
        h11_max_incomplete_event_size=32_000,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=3,
        ssl_certfile=options.certificate,
        ssl_keyfile=options.key,
    )
    _warm(backend)
    if options.browser:
        threading.Timer(0.5, webbrowser.open, (start,)).start()
    try:
        uvicorn.Server(config).run(sockets=[taken])
    finally:
        backend.close()


def _warm(backend: Backend) -> None:
    """Loads the library, and compiles for a first run and a first picture, while the browser opens."""
    pose = partial(backend.call, backend.poses, "studio.posed_robot:pose")
    calls = (
        partial(warm_run, backend),
        partial(pose, source=str(NEW_ROBOT), changes={}),
        partial(backend.cached, "describe.library:library"),
    )

    def start(call: Callable[[], object]) -> None:
        # The request that needs it reports the failure.
        with suppress(CallFailed):
            call()

    for call in calls:
        threading.Thread(target=start, args=(call,), daemon=True).start()


def warm_run(backend: Backend) -> None:
    """A short run of the robot that a new configuration begins with."""
    with tempfile.TemporaryDirectory(prefix="lissom-warm-") as place:
        backend.call(
            backend.runs,
            VERB,
            name="simulate",
            source=str(NEW_ROBOT),
            changes={"t_end": 0.02},
            values={},
            files={"output": f"{place}/warm.nc"},
        )
