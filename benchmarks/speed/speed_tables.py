"""Tables of times: laws, payloads, residuals, studies, links, and the manoeuvre of [Cibicik2021]."""

from collections.abc import Mapping, Sequence
from typing import Any

from lissom.bench.report_cells import (
    BUSY,
    Cells,
    Column,
    ReportTable,
    Row,
    duration,
    shown,
    table_of,
)
from lissom.bench.speed_tables import (
    BUILD,
    COMPILE,
    RHS,
    STEPS,
    TIP_ERROR,
    WARM,
    WARM_CPU,
    microseconds,
)


def control_table(measured: Mapping[str, Any]) -> ReportTable:
    """A sampled law beside the same law continuous."""

    def of_sampled(text: str, otherwise: str):
        return lambda law: text if law["law"] == "sampled" else otherwise

    columns = (
        ("law", shown("law")),
        COMPILE,
        *WARM,
        WARM_CPU,
        STEPS,
        ("rejected", shown("rejected")),
        RHS,
        ("ratio", of_sampled(f"{measured['ratio']:.2f}", "1")),
        ("tip distance", of_sampled(f"{measured['tip_distance_m']:.1e} m", "")),
    )
    period_ms = 1e3 * measured["period_s"]
    note = (
        f"Times in seconds for {measured['simulated_s']:g} s of the double pendulum under a PD law of its joints, one "
        f"core: sampled every {period_ms:g} ms with its torques held in between, and continuous with steps no longer "
        f"than {period_ms:g} ms. Ratio: best warm time over that of the continuous law. Tip distance: largest one "
        "between the two motions, which differ by what sampling changes."
    )
    title = f"A law sampled at {1 / measured['period_s']:g} Hz beside the same law continuous"
    return table_of(title, columns, measured["laws"], note + BUSY)


def payloads_table(measured: Mapping[str, Any]) -> ReportTable:
    """Many robots in lanes beside single runs."""

    def faster(row: Row) -> str:
        return f"{row['ratio']:.2f}" if "ratio" in row else ""

    columns = (
        ("robots in each instruction", shown("lanes")),
        ("machine code", duration("native_s")),
        ("times faster", faster),
        ("whole call", duration("wall_s")),
        ("first call", duration("first_s")),
        ("steps", shown("steps", ".1f")),
        ("error", shown("error", ".1e")),
    )
    note = (
        f"Processor seconds in machine code and wall seconds of all {measured['count']} runs, one core. Times faster: "
        "machine code only, without Python. Steps: average of a run; robots of one vector take common steps. Error: "
        "the largest of any coordinate, against single runs with small steps. "
        "A step of a single run already has its three stages in lanes."
    )
    title = f"{measured['count']} payloads of the double pendulum, 1 s"
    return table_of(title, columns, measured["rows"], note)


def residual_table(rows: Sequence[Row]) -> ReportTable:
    """One residual under both back ends."""

    def faster(how: str):
        return lambda row: f"{row[f'xla{how}_s'] / row[f'native{how}_s']:.1f}"

    columns = (
        ("robot", shown("case")),
        ("coordinates", shown("coordinates")),
        ("operations", shown("operations", ",")),
        ("native", microseconds("native_s", 2)),
        ("XLA", microseconds("xla_s", 1)),
        ("faster", faster("")),
        ("native, called", microseconds("native_called_s", 1)),
        ("XLA, called", microseconds("xla_called_s", 1)),
        ("faster", faster("_called")),
    )
    note = (
        "One residual, the force that a motion needs: its scalar operations, its time inside a compiled loop, and the "
        "time of a whole call from Python with NumPy arrays; one core. Both back ends are timed "
        "in turn, for two seconds in all, and the best time of each counts."
    )
    return table_of("One residual", columns, rows, note)


def studies_table(measured: Mapping[str, Any]) -> ReportTable:
    """What a study costs beside its runs, and on one Dask worker and two."""
    columns: list[Column] = [
        ("a run", lambda row: f"{1e3 * row['run_s']:.3g} ms"),
        ("the engine", lambda row: f"{1e3 * row['engine_s']:.3g} ms"),
    ]
    note = (
        f"The engine takes {100 * measured['engine_share']:.2f} % of the processor time of the runs: names, checksums "
        "and files of chunks, and the dataset."
    )
    if "speed_up" in measured:
        columns.append(("one Dask worker", duration("one_worker_s")))
        columns.append(("two", duration("two_workers_s")))
        note += (
            f" Two Dask workers are {measured['speed_up']:.2f} times as fast as one with "
            f"{measured['cluster_runs']} runs, the median of {measured['rounds']} rounds."
        )
    span = f"{measured['span']:g} s"
    title = f"A study of {measured['runs']} runs of the double pendulum, {span} each"
    return table_of(title, columns, [measured], note)


def links_table(rows: Sequence[Row]) -> ReportTable:
    """Cost of one residual and of one right-hand side against the number of links."""
    columns = (
        ("formulation", shown("formulation")),
        ("terms", shown("terms")),
        ("links", shown("links")),
        ("coordinates", shown("coordinates")),
        ("residual", shown("residual", ",")),
        ("native", shown("native_residual", ",")),
        ("XLA", microseconds("xla_s", 1)),
        ("native time", microseconds("native_s", 1)),
        ("right-hand side", shown("operations", ",")),
        ("mass matrix", shown("mass_matrix", ",")),
        ("growth", _exponents),
    )
    note = (
        "One residual, the force that a motion needs: scalar operations of the traced program and of machine code, "
        "processor time of both back ends on one core; operations of a whole right-hand side and of its mass matrix. "
        "Growth: exponents of these two counts and two times of a residual, over chains of 8 links and more."
    )
    return table_of("Cost against the number of links", columns, rows, note)


def _exponents(row: Row) -> str:
    measured = ("residual", "native_residual", "xla_s", "native_s")
    return " / ".join(f"{row[f'{key}_exponent']:.2f}" for key in measured)


MANOEUVRE = (
    ("formulation", shown("case")),
    ("printed", lambda row: "-"),
    BUILD,
    COMPILE,
    ("first run", duration("first_run_s")),
    *WARM,
    WARM_CPU,
    STEPS,
    RHS,
    TIP_ERROR,
)


def manoeuvre_table(rows: Sequence[Row]) -> ReportTable:
    """The manoeuvre of [Cibicik2021]: printed times, then ours, phase by phase."""
    names = [name for name, _ in MANOEUVRE]
    note = (
        "Times in seconds for 6 s of the 4-dof arm, 16 coordinates, one core, results written out. The paper's times "
        "are CPU times in Matlab/Simulink on another machine; its gains and solver are not printed. Ours: the same "
        "chosen gains, solver and tolerance for both. Tip error: against the same model a thousand times tighter."
    )
    cells = [_manoeuvre_cells(row) for row in rows]
    return ReportTable("The manoeuvre of [Cibicik2021]", names, cells, note + BUSY)


def _manoeuvre_cells(row: Row) -> Cells:
    # Of the paper's runs only the time is printed.
    if "printed_s" in row:
        rest = ["-"] * (len(MANOEUVRE) - 2)
        return [f"{row['case']} [Cibicik2021]", f"{row['printed_s']:g}", *rest]
    return [show(row) for _, show in MANOEUVRE]
