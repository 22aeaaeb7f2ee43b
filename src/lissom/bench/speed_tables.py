"""Tables of times: library robots, and both back ends."""

from collections.abc import Sequence

from .report_cells import (
    BUSY,
    ReportTable,
    Row,
    duration,
    metres,
    seconds,
    shown,
    table_of,
    waited,
)

WARM = (
    ("warm median", duration("warm.median_s")),
    ("warm best", waited("warm.best_s", seconds)),
)
WARM_CPU = ("warm cpu", duration("warm.cpu_s"))
STEPS = ("steps", shown("steps"))
RHS = ("rhs", shown("rhs_evaluations"))
TIP_ERROR = ("tip error", metres("tip_error_m"))
COMPILE = ("compile", duration("compile_s"))
BUILD = ("build", duration("build_s"))


def microseconds(key: str, digits: int):
    """An entry in seconds as microseconds, with so many decimals."""
    return lambda row: f"{1e6 * row[key]:.{digits}f} us"


def case_table(cases: Sequence[Row]) -> ReportTable:
    """Table of the run times of library scenarios."""
    columns = (
        ("case", shown("case")),
        BUILD,
        ("start", duration("start_s")),
        COMPILE,
        ("first", duration("first_run_s")),
        *WARM,
        ("simulated", lambda case: f"{case['simulated_s']:g} s"),
        ("x real time", shown("real_time_factor", ".2f")),
        STEPS,
        RHS,
        TIP_ERROR,
        ("reference", duration("reference.wall_s")),
    )
    tight = cases[0]["reference"]["rtol"]
    note = (
        "Times in seconds: model, state at t = 0, compilation, first and warm runs. rhs: right-hand sides. "
        f"Tip error: largest distance from the same model at rtol {tight:g}, whose run is timed apart. "
        "`x real time` counts the best warm run."
    )
    title = "Library cases at their own tolerance"
    return table_of(title, columns, cases, note + BUSY)


def backends_table(cases: Sequence[Row]) -> ReportTable:
    """Machine code beside XLA: one residual, compiling, first and warm run, and the error of that run."""
    columns = (
        ("case", shown("case")),
        ("back end", shown("backend")),
        ("residual", microseconds("residual_s", 2)),
        ("faster", _times_faster("residual_s")),
        ("operations", lambda row: str(row["operations"] or "")),
        COMPILE,
        ("first run", duration("first_run_s")),
        ("warm best", duration("warm_s")),
        ("faster", _times_faster("warm_s")),
        STEPS,
        TIP_ERROR,
    )
    rows = [
        {"case": case["case"], "all": case["backends"], **row}
        for case in cases
        for row in case["backends"]
    ]
    note = (
        "Times in seconds, one core, one tolerance. Operations: scalar ones of one residual. Compile: everything a run "
        "needs, or reading it from disk. Faster: times the slower back end."
    )
    return table_of("Back ends", columns, rows, note)


def _times_faster(key: str):
    """How many times faster than the slowest back end; nothing where there is one."""

    def show(row: Row) -> str:
        times = [other[key] for other in row["all"]]
        return f"{max(times) / row[key]:.1f}" if len(times) > 1 else ""

    return show
