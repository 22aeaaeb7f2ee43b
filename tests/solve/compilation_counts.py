"""How much JAX compiles while something runs."""

from contextlib import contextmanager

import jax

COMPILED = "/jax/core/compile/backend_compile_duration"


class Compilations:
    """How many programs were compiled."""

    def __init__(self):
        self.count = 0

    def hear(self, event, duration, **_):
        """Takes note of what JAX reports."""
        self.count += event == COMPILED


@contextmanager
def compilations():
    heard = Compilations()
    jax.monitoring.register_event_duration_secs_listener(heard.hear)
    try:
        yield heard
    finally:
        jax.monitoring.unregister_event_duration_listener(heard.hear)
