"""Tables of comparisons with other programs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lissom.bench.report_cells import (
    BUSY,
    ReportTable,
    Row,
    metres,
    shown,
    table_of,
    waited,
)

STEP = ("step", lambda row: f"{row['step_s']:g} s")
PEER = (("case", shown("case")), ("peer", shown("model")), STEP)


def lissom_table(rows: Sequence[Row]) -> ReportTable:
    """Our own runs of the comparison, tolerance by tolerance."""
    columns = (
        ("case", shown("case")),
        ("rtol", shown("rtol", "g")),
        ("wall s/s", waited("wall_s_per_s", "{:.4f}".format)),
        ("cpu s/s", shown("cpu_s_per_s", ".4f")),
        ("with dataset", shown("whole_s_per_s", ".4f")),
        ("error in time", metres("error_m")),
        ("steps", shown("steps")),
        ("rhs", shown("rhs_evaluations")),
    )
    return table_of("lissom beside the peer, by tolerance", columns, rows)


def matched(show: Callable[[Row], str], none: str = "") -> Callable[[Row], str]:
    """What is shown of a row that has a run of ours beside it: none of them may be as accurate as the peer's."""
    return lambda row: show(row) if row["lissom"] else none


def asked_table(rows: Sequence[Row]) -> ReportTable:
    """How many times faster than the peer, at the errors asked for."""
    columns = (
        *PEER,
        ("peer cpu s/s", shown("cpu_s_per_s", ".3f")),
        ("error", metres("error_m")),
        ("lissom cpu s/s", matched(shown("lissom.cpu_s_per_s", ".4f"), "none")),
        ("error", matched(metres("lissom.error_m"))),
        ("ratio", matched(shown("cpu_ratio", ".1f"))),
        ("range over repeats", matched(_spread)),
        ("with dataset", matched(shown("whole_ratio", ".1f"))),
        ("aim", shown("aim", "g")),
    )
    note = (
        "Processor seconds per simulated second, one core, warm, at an error in time not larger than the peer's; the "
        "best of several runs, the programs taking turns. "
        "Times of the peer: its solver with one sensor at the tip. Times of lissom: the run with positions of all "
        "nodes, energies and torques at all output times; `with dataset` adds names, checks and packing."
    )
    return table_of("Beside Exudyn, at the errors asked for", columns, rows, note)


def _spread(row: Row) -> str:
    least, most = row["cpu_ratios"]
    return f"{least:.1f} to {most:.1f}"


def peer_table(rows: Sequence[Row]) -> ReportTable:
    """The peer's runs, each beside the fastest of ours that is at least as accurate."""
    columns = (
        *PEER,
        ("wall s/s", waited("wall_s_per_s", "{:.3f}".format)),
        ("error", metres("error_m")),
        ("lissom rtol", matched(shown("lissom.rtol", "g"), "none")),
        ("wall s/s", matched(shown("lissom.wall_s_per_s", ".3f"))),
        ("error", matched(metres("lissom.error_m"))),
        ("ratio", matched(shown("ratio", ".2f"))),
        ("cpu ratio", matched(shown("cpu_ratio", ".2f"))),
        ("models differ", metres("difference_from_lissom_m")),
    )
    note = (
        "Ratio: the peer's time over ours, above 1 where lissom is faster, at an error in time that is not larger. "
        "Errors are against each program's own tight run; `models differ` is the distance between the two tight runs. "
        "Building and compiling are not counted."
    )
    return table_of("Side by side", columns, rows, note + BUSY)


def rigid_table(rigid: Mapping[str, Any]) -> ReportTable:
    """Forward dynamics of a rigid arm, per call."""
    gap = f"{rigid['largest_relative_difference']:.0e}"
    peer = "Pinocchio, articulated bodies, called from Python"
    measured = (
        (peer, rigid["pinocchio_aba_us"], ""),
        ("lissom, one state per call", rigid["lissom_us"], gap),
        (f"lissom, {rigid['batch']} states per call", rigid["lissom_batch_us"], gap),
    )
    rows = [(program, f"{time:.2f} us", off) for program, time, off in measured]
    note = "Context, not a contest: the engine carries what flexible links need and has no special code for rigid ones."
    title = f"Forward dynamics of the rigid {rigid['robot']} robot"
    return ReportTable(title, ("program", "per call", "difference"), rows, note)
