"""Access to the studio: a token in the start address, valid once, or a password; both give the browser a cookie."""

import hmac
import secrets
import threading
from collections.abc import Callable
from time import monotonic

WRONG_TRIES = 5  # in a row, before passwords have to wait
WAIT_S = 30.0


class Keys:
    """Token, password and cookie of one studio."""

    def __init__(self, port: int, password: str | None = None, secure: bool = False):
        # Ports of one host share their cookies.
        self.cookie_name = f"lissom_studio_{port}"
        self.secure = secure
        self.token = secrets.token_urlsafe(24)  # opens the next browser
        self.on_new_token: Callable[[str], None] = lambda token: None
        # True if a browser may log in without a token.
        self.wants_password = password is not None
        self._session = secrets.token_urlsafe(32)
        self._password = password
        self._wrong = 0
        self._closed_until = 0.0
        self._lock = threading.Lock()

    def spend(self, token: str) -> bool:
        """True for the token of the start address, once; a new one takes its place."""
        with self._lock:
            if not _same(token, self.token):
                return False
            self.token = secrets.token_urlsafe(24)
        self.on_new_token(self.token)
        return True

    def accepts_password(self, password: str) -> bool:
        """True for the password; after some wrong ones all have to wait."""
        with self._lock:
            if self._password is None or monotonic() < self._closed_until:
                return False
            if _same(password, self._password):
                self._wrong = 0
                return True
            self._wrong += 1
            if self._wrong >= WRONG_TRIES:
                self._wrong = 0
                self._closed_until = monotonic() + WAIT_S
            return False

    def accepts_cookies(self, header: str) -> bool:
        """True if the cookies of a request include the one of this studio."""
        pairs = (pair.strip().partition("=") for pair in header.split(";"))
        return any(
            name == self.cookie_name and _same(value, self._session)
            for name, _, value in pairs
        )

    @property
    def set_cookie(self) -> str:
        """The header that gives a browser its cookie: no script reads it, no other site sends it."""
        cookie = f"{self.cookie_name}={self._session}"
        secure = "; Secure" if self.secure else ""
        return f"{cookie}; Path=/; HttpOnly; SameSite=Strict{secure}"


def _same(a: str, b: str) -> bool:
    """Compared in a time that does not depend on the values."""
    return hmac.compare_digest(a.encode(), b.encode())
