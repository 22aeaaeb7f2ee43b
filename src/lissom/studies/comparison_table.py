"""The table of a comparison of controllers."""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..atomic import write_atomically
from ..describe.modelled import Modelled, model_facts
from ..files.summary import Result, Summary, plain
from .controller_numbers import Setting, resting_displacement, watched_node

if TYPE_CHECKING:
    from ..runs.run import Run

NOT_RUN = "not run"  # why a row of an interrupted comparison has no numbers
COLUMNS = (
    "controller",
    "tracking",
    "residual",
    "of first",
    "settling",
    "finish",
    "strain",
    "torque",
    "rms",
    "energy",
    "margin",
    "time",
)
UNITS = (
    "tracking: rms [mrad or mm]; residual: peak after the stop [mm]; settling (after the stop) and finish [ms]; "
    "strain: peak of the gauges [1e-6]; torque: peak and rms [N m or N]; energy [J]; phase margin [deg]; "
    "time: of a sample [us]"
)


@dataclass(frozen=True)
class ControllerRow:
    """Results of one controller."""

    name: str
    type: str
    failed: str | None = None  # why there are no numbers
    notes: tuple[str, ...] = ()
    # From then on all encoders stay within tolerance of their ends [s].
    finish: float | None = None
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
        """Why there are no numbers, for the table."""
        if self.failed in (None, NOT_RUN):
            return self.failed
        return f"failed: {self.failed}"

    def remarks(self) -> Iterator[str]:
        """Remarks on the row, for below the table."""
        if self.failed is not None:
            yield f"{self.name}: {self.reason}"
        if self.line_error is not None:
            away = _short(self.line_error, 1e3)
            yield f"{self.name}: the node leaves its line by up to {away} mm"
        for line in self.notes:
            yield f"{self.name}: {line}"


@dataclass(frozen=True, repr=False)
class ControllerComparison(Result):
    """A table of controllers on one motion of one robot, and their runs."""

    robot: str
    modelled: Modelled
    first_mode_hz: float
    stop: float  # end of the motion [s]
    watched: float  # time over which vibration is watched after it [s]
    rows: tuple[ControllerRow, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    runs: "Mapping[str, Run]" = field(default_factory=dict)  # by controller
    setting: "Setting | None" = None

    @property
    def passed(self) -> bool:
        """Whether every controller ran."""
        return all(row.failed is None for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """The table as plain data."""
        return plain(
            model_facts(self.robot, self.modelled)
            | {
                "first_mode_hz": self.first_mode_hz,
                "stop": self.stop,
                "watched": self.watched,
                "rows": [asdict(row) for row in self.rows],
                "files": self.files,
            }
        )

    def summary(self) -> Summary:
        """One row for each controller that ran, and why others did not."""
        periods = self.stop * self.first_mode_hz
        title = (
            f"{self.robot}: motion of {self.stop:.4g} s, {periods:.3g} periods of the first mode that the motors move "
            f"({self.first_mode_hz:.4g} Hz); vibration watched for {self.watched:.3g} s after it"
        )
        rows = [(row.name, *_cells(row)) for row in self.rows if row.failed is None]
        lines = [line for row in self.rows for line in row.remarks()]
        lines += [f"{kind}: {path}" for kind, path in self.files.items()]
        parts = tuple(map(Summary, (UNITS, *lines)))
        facts = (("model", str(self.modelled)),)
        return Summary(title, facts, COLUMNS, tuple(rows), parts=parts)

    def plot(self, path: Any = None) -> Any:
        """Figure of the finished runs; `path` writes it too.

        Raises:
            ValueError: there is no run.
        """
        if self.setting is None or not self.runs:
            raise ValueError("there is no run to draw")
        from ..show.plot_comparison import plot_comparison

        setting = self.setting
        node = watched_node(setting.model, setting.study)
        final = resting_displacement(setting)
        data = {name: run.data for name, run in self.runs.items()}
        return plot_comparison(data, node, final, setting.stop, path)

    def save(self, path: Any) -> None:
        """Writes the table: `.json` or `.csv`."""
        if str(path).endswith(".json"):
            text = json.dumps([asdict(row) for row in self.rows], indent=1)
        else:
            page = io.StringIO()
            names = [one.name for one in fields(ControllerRow)]
            writer = csv.DictWriter(page, fieldnames=names)
            writer.writeheader()
            writer.writerows(asdict(row) for row in self.rows)
            text = page.getvalue()
        write_atomically(path, lambda file: file.write(text.encode()))

    def save_run(self, k: int, folder: Any) -> None:
        """Writes the result file of the run of row k into a folder."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        names = [row.name for row in self.rows]
        self.runs[names[k]].save(place / result_name(names[k], names))

    def with_row(
        self, k: int, row: ControllerRow, run: "Run | None"
    ) -> "ControllerComparison":
        """The table with another row k, its residual beside that of the first controller, and with its run."""
        first = row if k == 0 else self.rows[0]
        if row.residual is not None and first.residual:
            row = replace(row, residual_share=row.residual / first.residual)
        rows = (*self.rows[:k], row, *self.rows[k + 1 :])
        runs = self.runs if run is None else {**self.runs, row.name: run}
        return replace(self, rows=rows, runs=runs)

    def with_file(self, kind: str, path: Any) -> "ControllerComparison":
        """The table with a file that was written."""
        return replace(self, files={**self.files, kind: str(path)})


def result_name(name: str, names: list[str]) -> str:
    """File name of a controller's run: its number in the study, and its name in portable characters."""
    letters = re.sub(r"[^\w-]+", "-", name).strip("-") or "run"
    return f"{names.index(name):02d}-{letters}.nc"


def _cells(row: ControllerRow) -> tuple[str, ...]:
    """A row of the table, in the order of `COLUMNS`."""
    share = row.residual_share
    return (
        _short(row.tracking_rms, 1e3),
        _short(row.residual, 1e3),
        "" if share is None else f"{100 * share:.1f} %",
        "not" if row.settling is None else _short(row.settling, 1e3),
        _short(row.finish, 1e3),
        _short(row.strain_peak, 1e6),
        _short(row.torque_peak),
        _short(row.torque_rms),
        _short(row.energy),
        _short(row.phase_margin_deg),
        _short(row.microseconds),
    )


def _short(value: float | None, factor: float = 1.0) -> str:
    """Three digits; thousands in full, as 1105."""
    if value is None:
        return ""
    shown = factor * value
    return f"{shown:.0f}" if 1e3 <= abs(shown) < 1e5 else f"{shown:.3g}"
