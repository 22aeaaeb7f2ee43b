"""The same input gives the same numbers to the last bit, whatever was computed before and whatever the cache holds."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lissom as ls
from jaxnative.compiled import NativeAhead
from lissom.dynamics import engine

from .histories import CHANGES, robot

# An input is a robot, a robot under XLA (which may leave traced functions behind), or a family in lanes.
INPUTS = (*CHANGES, "xla-straight", "family")
HISTORIES = 20


# --- in one process ------------------------------------------------------------------------------------------------


def formulation_of(name):
    return ls.Model(robot(**CHANGES[name], elements=1), modes=2).formulation


def forces_of(history, folder, monkeypatch):
    """The forces that robots need, one after the other, as in a new process with this cache."""
    monkeypatch.setattr("jaxnative.code_cache.folder", lambda: folder)
    native = NativeAhead(engine.bias, lambda f, *_: f, unrolls=True)
    found = {}
    for name in history:
        f = formulation_of(name)
        motion = np.random.default_rng(3).normal(size=(2, f.size))
        found[name] = native(f, *motion).tobytes()
    return found


def test_forces_are_the_same_whatever_robots_were_before(monkeypatch, tmp_path):
    warm = tmp_path / "warm"
    histories = [
        (("straight",), tmp_path / "fresh"),
        (("twisted", "straight"), warm),
        # The straight robot finds the program of the twisted one and its own on disk; the other one is new.
        (("straight", "offset"), warm),
    ]
    found = [forces_of(*history, monkeypatch) for history in histories]
    assert len({each["straight"] for each in found}) == 1


# --- in processes of their own -------------------------------------------------------------------------------------


def digests_of(history, folder):
    """Digests of inputs that one process computes one after the other."""
    script = Path(__file__).with_name("histories.py")
    command = [sys.executable, str(script), *history]
    settings = os.environ | {"LISSOM_CACHE": str(folder)}
    done = subprocess.run(
        command, env=settings, capture_output=True, text=True, check=True
    )
    return [line.split() for line in done.stdout.splitlines()]


@pytest.mark.slow
def test_each_input_has_one_digest_in_twenty_histories(tmp_path):
    rng = np.random.default_rng(31)
    found = {}
    for number in range(HISTORIES):
        # Every second process starts with what those before it have left on disk.
        folder = tmp_path / ("shared" if number % 2 else f"own-{number}")
        count = 1 + number % 4
        history = [INPUTS[k] for k in rng.permutation(len(INPUTS))[:count]]
        for name, digest in digests_of(history, folder):
            found.setdefault(name, set()).add(digest)
    assert set(found) == set(INPUTS)
    assert all(len(digests) == 1 for digests in found.values()), found
