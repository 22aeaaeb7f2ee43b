"""Studies whose numbers are a formula, so that what surrounds the runs can be tested without computing any."""

import numpy as np

from lissom.studies.chunk import ChunkContent, encode
from lissom.studies.local_workers import Progress
from lissom.studies.store import Plan
from lissom.studies.study import Study

E = "links.*.beam.material.E"


def study(data=None, **entries) -> Study:
    """A study of the double pendulum over E and payload, with changes."""
    usual = {
        "scenario": "double-pendulum",
        "changes": {"t_end": 0.2, "output_dt": 0.1},
        "over": {E: "150:220:4 GPa", "payload.mass": "0:1:5 kg"},
        "metrics": ["tip_deflection", "torque_peak"],
        "chunk": 3,
    }
    return Study.of({**usual, **(data or {}), **entries})


def numbers(values) -> list[float]:
    """The made-up metrics of a run: the compliance times the load, and the load."""
    stiffness, load = values[0], values[-1]
    return [1e9 * load / stiffness, load]


def content_of(plan: Plan, number: int) -> ChunkContent:
    task = plan.task(number)
    rows = np.array([numbers(values) for values in task.settings])
    columns = {}
    for k, column in enumerate(plan.recipe.columns):
        # What comes after the two metrics, a time series, stays at the load.
        own = rows[:, min(k, 1)].copy()
        wide = None if column.size is None else np.tile(own, (column.size, 1)).T
        columns[column.name] = own if wide is None else wide
    # Runs without load fail, as if it were a law of nature.
    reasons = ["no load" if values[-1] == 0 else "" for values in task.settings]
    for column in columns.values():
        column[[bool(reason) for reason in reasons]] = np.nan
    return ChunkContent(columns, reasons, 0.01 * len(reasons), [])


class MadeUpWorkers:
    """A source of chunks that counts what it is asked for, and may stop after some."""

    def __init__(self, stop_after=None):
        self.asked: list[int] = []
        self.stop_after = stop_after

    def __call__(self, plan, missing):
        for number in missing:
            if self.stop_after is not None and len(self.asked) == self.stop_after:
                raise KeyboardInterrupt
            self.asked.append(number)
            yield Progress(number, encode(content_of(plan, number)))
