"""The output grid of a run: a window of it is filled inside compiled code, the host keeps the whole."""

import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from jaxnative.compiled import chosen_backend

from ..types import Float, Real, host_module, host_whole, with_fields
from .problem import MotionProblem
from .step import AbstractStep, Attempt, Moment

# Rows of the window: compiled code depends on it, and on no other number of outputs. XLA copies them in every step.
ROWS = {"native": 1024, "xla": 512}
SAME_TIME = 1e-12  # relative: times closer than this are the same instant
COLUMNS = ("x", "xd", "work", "joints", "command")


class Record(eqx.Module):
    """A window of the output grid, filled as the march passes its times."""

    t: Float[Real, " t"]  # infinite after the last output time
    x: Float[Real, "t n"]
    xd: Float[Real, "t n"]
    work: Float[Real, "t 2"]
    joints: Float[Real, "t j"]  # coordinates of all moving joints
    command: Float[Real, "t a"]  # held by a sampled law
    filled: Any
    first: Any  # number of the window's first row in the whole grid

    @property
    def is_full(self):
        """True if no row is left."""
        return self.filled >= self.t.shape[0]


def rows_of_window() -> int:
    """How many rows a window has under the back end in force."""
    return ROWS["xla" if chosen_backend("auto") == "xla" else "native"]


def empty_record(t: Float[Real, " t"], n: int, joints: int, commands: int) -> Record:
    """An output grid yet to be filled."""
    rows = t.shape[0]
    return host_module(
        Record,
        t=t,
        x=_blank(rows, n),
        xd=_blank(rows, n),
        work=_blank(rows, 2),
        joints=_blank(rows, joints),
        command=_blank(rows, commands),
        filled=host_whole(0),
        first=host_whole(0),
    )


@functools.lru_cache(maxsize=16)
def _blank(rows: int, width: int) -> np.ndarray:
    """Rows without numbers, the same ones for every run: compiled code writes into copies."""
    blank = np.full((rows, width), np.nan)
    blank.flags.writeable = False
    return blank


def is_due(record: Record, t) -> Any:
    """Whether an output time up to t, or at it, is still to be written, in this window or in one to come."""
    slack = SAME_TIME * (1.0 + jnp.abs(t))
    last = record.t.shape[0] - 1
    next_time = record.t[jnp.minimum(record.filled, last)]
    # Later windows are not known here: they may be due.
    return jnp.where(record.is_full, record.t[last] < t - slack, next_time <= t + slack)


def write(
    step: AbstractStep,
    problem: MotionProblem,
    record: Record,
    now: Moment,
    attempt: Attempt | None,
    h,
) -> Record:
    """Fill in every output time of the window up to the end of the step."""
    end = now.t + h

    def is_next(record: Record):
        return ~record.is_full & is_due(record, end)

    def put(record: Record) -> Record:
        k = record.filled
        length = jnp.where(h > 0, h, 1.0)
        part = jnp.where(h > 0, (record.t[k] - now.t) / length, 0.0)
        part = jnp.clip(part, 0.0, 1.0)
        at = now if attempt is None else step.interpolate(now, attempt, h, part)
        joints = problem.joint_coordinates(at.x)
        command = record.command
        if problem.loads.held is not None:
            command = with_row(command, k, problem.loads.held)
        return Record(
            record.t,
            with_row(record.x, k, at.x),
            with_row(record.xd, k, at.xd),
            with_row(record.work, k, at.work),
            with_row(record.joints, k, joints),
            command,
            k + 1,
            record.first,
        )

    return jax.lax.while_loop(is_next, put, record)


def with_command(record: Record, t, command: Float[Real, " a"]) -> Record:
    """The record with the command that is held from the time t on, where that is the last output time written."""
    k = jnp.maximum(record.filled - 1, 0)
    is_now = (record.filled > 0) & (record.t[k] >= t * (1.0 - SAME_TIME) - SAME_TIME)
    row = jnp.where(is_now, command, record.command[k])
    rows = with_row(record.command, k, row)
    return eqx.tree_at(lambda r: r.command, record, rows)


def with_row(
    rows: Float[Real, "t n"], k, row: Float[Real, " n"]
) -> Float[Array, "t n"]:
    """The rows with row k exchanged."""
    return jnp.asarray(rows).at[k].set(row)


# --- on the host ---------------------------------------------------------------------------------------------------


class RunRecord:
    """All rows of a run, on the host; rows that are not reached are NaN."""

    def __init__(self, times: Float[np.ndarray, " t"], record: Record):
        self.t = np.asarray(times, dtype=float)
        self._widths = {name: getattr(record, name).shape[1] for name in COLUMNS}

    @functools.cached_property
    def columns(self) -> dict[str, np.ndarray]:
        """The rows that were taken, by name; runs that fit into one window do without them."""
        count = len(self.t)
        return {
            name: np.full((count, width), np.nan)
            for name, width in self._widths.items()
        }

    def take(self, record: Record) -> int:
        """Number of rows filled so far, after those of a window are stored; storing them again is harmless."""
        first = int(record.first)
        count = int(record.filled)
        for name, column in self.columns.items():
            column[first : first + count] = np.asarray(getattr(record, name))[:count]
        return first + count

    def all_rows(self, record: Record) -> dict[str, np.ndarray]:
        """The rows of the whole run, those of its last window included."""
        count = len(self.t)
        is_whole = int(record.first) == 0 and len(record.t) >= count
        # Arrays of JAX cannot be written to, those of a run can.
        if is_whole and isinstance(record.x, np.ndarray):
            return {name: getattr(record, name)[:count] for name in COLUMNS}
        self.take(record)
        return self.columns

    def next_window(self, record: Record) -> Record:
        """The window; if it is full, its rows are stored and it moves on to the next ones."""
        if int(record.filled) < len(record.t):
            return record
        first = self.take(record)
        return with_fields(
            record,
            t=window(self.t, first, len(record.t)),
            filled=host_whole(0),
            first=host_whole(first),
        )


def window(
    times: Float[np.ndarray, " t"], first: int, rows: int
) -> Float[np.ndarray, " w"]:
    """The output times from one row on, as many as fit into a window of so many rows."""
    part = np.asarray(times, dtype=float)[first : first + rows]
    return np.append(part, np.full(rows - len(part), np.inf))
