"""The table of a comparison of controllers: what is asked, and what comes back."""

from typing import Any

from ..files.summary import Summarised, Summary, number
from .frozen_model import FrozenModel
from .modelled_result import ModelledResult

NOT_RUN = "not run"  # why a row of an interrupted comparison has no numbers
COLUMNS = (
    "controller",
    "tracking, rms [mrad or mm]",
    "after the stop [mm]",
    "of the first",
    "torque, peak",
    "phase margin [deg]",
)


class CompareRequest(FrozenModel):
    """A study of controllers, and the files for what comes out."""

    study: Any  # a `ControlStudy`, or its file
    changes: dict[str, Any] = {}  # by dotted path
    picture: str | None = None
    numbers: str | None = None
    results: str | None = None  # folder for the result file of every run


class ControllerRow(FrozenModel):
    """What one controller did."""

    name: str
    type: str
    failed: str | None = None  # why there are no numbers
    notes: tuple[str, ...] = ()
    finish: float | None = None  # from then on all encoders stay near their ends [s]
    tracking_peak: float | None = None  # [rad or m]
    tracking_rms: float | None = None
    residual: float | None = None  # [m]
    residual_share: float | None = None  # of that of the first controller
    settling: float | None = None  # [s]; None: not within the run
    # Largest distance of the node from a line that it is led along [m].
    line_error: float | None = None
    strain_peak: float | None = None  # of the gauges, at the outer fibre
    largest_strain: float | None = None  # in the outer fibres of any beam
    end_error: float | None = None  # of an encoder at the end of the run [rad or m]
    torque_peak: float | None = None  # [N m or N]
    torque_rms: float | None = None
    energy: float | None = None  # positive work of the drives over the whole run [J]
    energy_residual: float | None = None  # of the audit, against the largest energy
    stable: bool | None = None
    sensitivity: float | None = None
    phase_margin_deg: float | None = None
    microseconds: float | None = None  # per sample

    @property
    def reason(self) -> str | None:
        """Why there are no numbers, for people."""
        if self.failed in (None, NOT_RUN):
            return self.failed
        return f"failed: {self.failed}"


class CompareResult(Summarised, ModelledResult):
    """A table of controllers."""

    first_mode_hz: float
    stop: float  # end of the motion [s]
    watched: float  # time over which vibration is watched after it [s]
    rows: tuple[ControllerRow, ...]
    files: dict[str, str]

    def summary(self) -> Summary:
        """The table in words and numbers."""
        title = f"Controllers of {self.robot}: motion of {self.stop:.4g} s, first mode {self.first_mode_hz:.4g} Hz"
        reasons = [f"{row.name}: {row.reason}" for row in self.rows if row.failed]
        rows = tuple(_cells(row) for row in self.rows)
        return Summary(
            title, (("formulation", self.model),), COLUMNS, rows, "; ".join(reasons)
        )

    def with_row(self, k: int, row: ControllerRow) -> "CompareResult":
        """The table with another row k, its residual beside that of the first controller."""
        first = row if k == 0 else self.rows[0]
        if row.residual is not None and first.residual:
            share = row.residual / first.residual
            row = row.model_copy(update={"residual_share": share})
        rows = (*self.rows[:k], row, *self.rows[k + 1 :])
        return self.model_copy(update={"rows": rows})

    def with_file(self, kind: str, path: str) -> "CompareResult":
        """The table with a file that was written."""
        return self.model_copy(update={"files": {**self.files, kind: path}})


def _cells(row: ControllerRow) -> tuple[str, ...]:
    """A row of the table, in the order of `COLUMNS`."""
    share = row.residual_share
    return (
        row.name,
        _shown(row.tracking_rms, 1e3),
        _shown(row.residual, 1e3),
        "-" if share is None else f"{100 * share:.1f} %",
        _shown(row.torque_peak),
        _shown(row.phase_margin_deg),
    )


def _shown(value: float | None, factor: float = 1.0) -> str:
    return "-" if value is None else number(factor * value, 3)
