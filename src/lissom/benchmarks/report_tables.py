"""The tables of a benchmark report: on the terminal, and as Markdown."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Cells = Sequence[str]


class ReportTable(NamedTuple):
    """A title, the names of the columns, the rows, and what has to be said about them."""

    title: str
    columns: Cells
    rows: Sequence[Cells]
    note: str = ""


def tables_of(report: Mapping[str, Any]) -> list[ReportTable]:
    """Every table that the report has numbers for."""
    makers = {
        "physics": physics_table,
        "table_2": published_table,
        "peaks": peak_table,
        "links": links_table,
        "manoeuvre": manoeuvre_table,
        "control": control_table,
        "payloads": payloads_table,
        "cases": case_table,
        "asked": asked_table,
        "lissom": lissom_table,
        "peers": peer_table,
        "rigid": rigid_table,
    }
    tables = []
    for key, make in makers.items():
        if report.get(key):
            tables.append(make(report[key]))
    if report.get("cases"):
        tables.append(backends_table(report["cases"]))
    if report.get("eigenpairs"):
        tables += eigenpair_tables(report["eigenpairs"])
    return tables


def eigenpair_tables(found: Mapping[str, Any]) -> list[ReportTable]:
    """Parametric eigenpairs: the reference table, errors along the path, automatic expansions, times."""
    return [
        _known_table(found["table"]),
        _path_table(found["path"]),
        _automatic_table(found["automatic"]),
        _timing_table(found["timing"]),
    ]


def _known_table(models: Mapping[str, Any]) -> ReportTable:
    rows = []
    for name, part in models.items():
        worst = part["worst"]
        keys = ("hz_off", "torque_off", "damping_off")
        rows.append((name, *(f"{100 * worst[key]:.3g} %" for key in keys)))
    title = "Manipulator of [Palomba2019], chosen data: largest difference from the reference at five times"
    columns = ("model", "frequencies", "torques", "damping ratios")
    return ReportTable(title, columns, rows)


EXPANSION_COLUMNS = (
    "model",
    "expansion",
    "mode",
    "eps_f worst",
    "mean",
    "eps_xi worst",
    "mean",
    "MAC right",
    "MAC left",
)


def _path_table(models: Mapping[str, Any]) -> ReportTable:
    rows = []
    for name, errors in models.items():
        rows += _error_rows(name, "order 4, 1 point", errors)
    title = "Polynomial eigenpairs against LAPACK along the path, 51 points"
    return ReportTable(title, EXPANSION_COLUMNS, rows)


def _automatic_table(models: Mapping[str, Any]) -> ReportTable:
    rows = []
    for name, part in models.items():
        expansion = f"order {part['order']}, {part['expansion_points']} point(s)"
        rows += _error_rows(name, expansion, part["errors"])
    title = "Automatic expansion: frequencies within 0.1 %, MAC above 0.999"
    return ReportTable(title, EXPANSION_COLUMNS, rows)


def _error_rows(name: str, expansion: str, errors: Mapping[str, Any]) -> list[Cells]:
    """One row for each mode."""
    rows = []
    for k in range(len(errors["eps_f"]["worst"])):
        cells = [name, expansion, f"mode {k + 1}"]
        for key in ("eps_f", "eps_xi"):
            cells.append(f"{errors[key]['worst'][k]:.3g} %")
            cells.append(f"{errors[key]['mean'][k]:.3g} %")
        for key in ("mac_right", "mac_left"):
            cells.append(f"{errors[key]['worst'][k]:.6f}")
        rows.append(cells)
    return rows


def _timing_table(cases: Mapping[str, Any]) -> ReportTable:
    columns = (
        "case",
        "points",
        "coordinates",
        "LAPACK",
        "batched",
        "polynomials",
        "eigenvalues only",
        "LAPACK / polynomials",
    )
    rows = []
    for name, part in cases.items():
        row = (
            name,
            str(part["points"]),
            str(part["coordinates"]),
            seconds(part["lapack_s"]),
            seconds(part["lapack_batched_s"]),
            seconds(part["polynomials_s"]),
            seconds(part["polynomials_eigenvalues_only_s"]),
            f"{part['factor_polynomials']:.0f}",
        )
        rows.append(row)
    return ReportTable("Times for all points", columns, rows)


def control_table(measured: Mapping[str, Any]) -> ReportTable:
    """A sampled law beside the same law continuous."""
    columns = (
        "law",
        "compile",
        "warm median",
        "warm best",
        "warm cpu",
        "steps",
        "rejected",
        "rhs",
        "ratio",
        "tip distance",
    )
    rows = []
    for law in measured["laws"]:
        sampled = law["law"] == "sampled"
        warm = law["warm"]
        row = (
            law["law"],
            seconds(law["compile_s"]),
            seconds(warm["median_s"]),
            seconds(warm["best_s"]) + busy(warm),
            seconds(warm["cpu_s"]),
            str(law["steps"]),
            str(law["rejected"]),
            str(law["rhs_evaluations"]),
            f"{measured['ratio']:.2f}" if sampled else "1",
            f"{measured['tip_distance_m']:.1e} m" if sampled else "",
        )
        rows.append(row)
    period_ms = 1e3 * measured["period_s"]
    note = (
        f"Times in seconds for {measured['simulated_s']:g} s of the double pendulum under a PD law of its joints, one "
        f"core: sampled every {period_ms:g} ms with its torques held in between, and continuous with steps no longer "
        f"than {period_ms:g} ms. Ratio: best warm time over that of the continuous law. Tip distance: largest one "
        "between the two motions, which differ by what sampling changes."
    )
    title = f"A law sampled at {1 / measured['period_s']:g} Hz beside the same law continuous"
    return ReportTable(title, columns, rows, note + BUSY)


def payloads_table(measured: Mapping[str, Any]) -> ReportTable:
    """Many robots in lanes beside single runs."""
    columns = ("runs", "machine code", "whole", "first time")
    rows = []
    for name in ("one by one", "in lanes"):
        part = measured[name]
        keys = ("native_s", "wall_s", "first_s")
        rows.append((name, *(seconds(part[key]) for key in keys)))
    note = (
        f"Processor seconds in machine code and wall seconds of all {measured['count']} runs, one core. In lanes: "
        f"{measured['lanes']} robots in each instruction, {measured['ratio']:.2f} times faster, Python apart. Largest "
        f"difference of a coordinate: {measured['difference']:.1e}."
    )
    title = f"{measured['count']} payloads of the double pendulum, 1 s"
    return ReportTable(title, columns, rows, note)


def links_table(rows: Sequence[Mapping[str, Any]]) -> ReportTable:
    """Cost of one residual and of one right-hand side against the number of links."""
    measured = ("residual", "native_residual", "xla_s", "native_s")
    columns = (
        "formulation",
        "terms",
        "links",
        "coordinates",
        "residual",
        "native",
        "XLA",
        "native time",
        "right-hand side",
        "mass matrix",
        "growth",
    )
    cells = [
        (
            row["formulation"],
            row["terms"],
            str(row["links"]),
            str(row["coordinates"]),
            *(f"{row[key]:,}" for key in ("residual", "native_residual")),
            *(f"{row[key] * 1e6:.1f} us" for key in ("xla_s", "native_s")),
            *(f"{row[key]:,}" for key in ("operations", "mass_matrix")),
            " / ".join(f"{row[f'{key}_exponent']:.2f}" for key in measured),
        )
        for row in rows
    ]
    note = (
        "One residual, the force that a motion needs: scalar operations of the traced program and of machine code, "
        "processor time of both back ends on one core; operations of a whole right-hand side and of its mass matrix. "
        "Growth: exponents of these two counts and two times of a residual, over chains of 8 links and more."
    )
    return ReportTable("Cost against the number of links", columns, cells, note)


def case_table(cases: Sequence[Mapping[str, Any]]) -> ReportTable:
    """Library scenarios against the clock."""
    columns = (
        "case",
        "build",
        "start",
        "compile",
        "first",
        "warm median",
        "warm best",
        "simulated",
        "x real time",
        "steps",
        "rhs",
        "tip error",
        "reference",
    )
    rows = [
        (
            case["case"],
            *(
                seconds(case[key])
                for key in ("build_s", "start_s", "compile_s", "first_run_s")
            ),
            seconds(case["warm"]["median_s"]),
            seconds(case["warm"]["best_s"]) + busy(case["warm"]),
            f"{case['simulated_s']:g} s",
            f"{case['real_time_factor']:.2f}",
            str(case["steps"]),
            str(case["rhs_evaluations"]),
            f"{case['tip_error_m']:.1e} m",
            seconds(case["reference"]["wall_s"]),
        )
        for case in cases
    ]
    tight = cases[0]["reference"]["rtol"]
    note = (
        "Times in seconds: model, state at t = 0, compilation, first and warm runs. rhs: right-hand sides. "
        f"Tip error: largest distance from the same model at rtol {tight:g}, whose run is timed apart. "
    )
    return ReportTable(
        "Library cases at their own tolerance",
        columns,
        rows,
        note + "`x real time` counts the best warm run." + BUSY,
    )


def backends_table(cases: Sequence[Mapping[str, Any]]) -> ReportTable:
    """Machine code beside XLA: one residual, compiling, first and warm run, and the error of that run."""
    columns = (
        "case",
        "back end",
        "residual",
        "faster",
        "operations",
        "compile",
        "first run",
        "warm best",
        "faster",
        "steps",
        "tip error",
    )
    rows = []
    for case in cases:
        slowest = {
            key: max(row[key] for row in case["backends"])
            for key in ("residual_s", "warm_s")
        }
        rows += [_backend_cells(case["case"], row, slowest) for row in case["backends"]]
    note = (
        "Times in seconds, one core, one tolerance. Operations: scalar ones of one residual. Compile: everything a run "
        "needs, or reading it from disk. Faster: times the slower back end."
    )
    return ReportTable("Back ends", columns, rows, note)


def _backend_cells(
    name: str, row: Mapping[str, Any], slowest: Mapping[str, float]
) -> Cells:
    operations = row["operations"]
    return (
        name,
        row["backend"],
        f"{1e6 * row['residual_s']:.2f} us",
        f"{slowest['residual_s'] / row['residual_s']:.1f}",
        "" if operations is None else str(operations),
        seconds(row["compile_s"]),
        seconds(row["first_run_s"]),
        seconds(row["warm_s"]),
        f"{slowest['warm_s'] / row['warm_s']:.1f}",
        str(row["steps"]),
        f"{row['tip_error_m']:.1e} m",
    )


def manoeuvre_table(rows: Sequence[Mapping[str, Any]]) -> ReportTable:
    """The manoeuvre of [Cibicik2021]: printed times, then ours, phase by phase."""
    columns = (
        "formulation",
        "printed",
        "build",
        "compile",
        "first run",
        "warm median",
        "warm best",
        "warm cpu",
        "steps",
        "rhs",
        "tip error",
    )
    cells = [_manoeuvre_cells(row) for row in rows]
    note = (
        "Times in seconds for 6 s of the 4-dof arm, 16 coordinates, one core, results written out. The paper's times "
        "are CPU times in Matlab/Simulink on another machine; its gains and solver are not printed. Ours: the same "
        "chosen gains, solver and tolerance for both. Tip error: against the same model a thousand times tighter."
    )
    return ReportTable("The manoeuvre of [Cibicik2021]", columns, cells, note + BUSY)


def _manoeuvre_cells(row: Mapping[str, Any]) -> Cells:
    # Of the paper's runs only the time is printed.
    if "printed_s" in row:
        return f"{row['case']} [Cibicik2021]", f"{row['printed_s']:g}", *["-"] * 9
    warm = row["warm"]
    return (
        row["case"],
        "-",
        seconds(row["build_s"]),
        seconds(row["compile_s"]),
        seconds(row["first_run_s"]),
        seconds(warm["median_s"]),
        seconds(warm["best_s"]) + busy(warm),
        seconds(warm["cpu_s"]),
        str(row["steps"]),
        str(row["rhs_evaluations"]),
        f"{row['tip_error_m']:.1e} m",
    )


def lissom_table(rows: Sequence[Mapping[str, Any]]) -> ReportTable:
    """Our own runs of the comparison, tolerance by tolerance."""
    columns = (
        "case",
        "rtol",
        "wall s/s",
        "cpu s/s",
        "with dataset",
        "error in time",
        "steps",
        "rhs",
    )
    cells = [
        (
            row["case"],
            f"{row['rtol']:g}",
            f"{row['wall_s_per_s']:.4f}" + busy(row),
            f"{row['cpu_s_per_s']:.4f}",
            f"{row['whole_s_per_s']:.4f}",
            f"{row['error_m']:.1e} m",
            str(row["steps"]),
            str(row["rhs_evaluations"]),
        )
        for row in rows
    ]
    return ReportTable("lissom beside the peer, by tolerance", columns, cells)


def asked_table(rows: Sequence[Mapping[str, Any]]) -> ReportTable:
    """How many times faster than the peer, at the errors asked for."""
    columns = (
        "case",
        "peer",
        "step",
        "peer cpu s/s",
        "error",
        "lissom cpu s/s",
        "error",
        "ratio",
        "of single repeats",
        "with dataset",
        "aim",
    )
    cells = []
    for row in rows:
        ours = row["lissom"]
        found = ["none", "", "", "", ""]
        if ours:
            least, most = row["cpu_ratios"]
            found = [
                f"{ours['cpu_s_per_s']:.4f}",
                f"{ours['error_m']:.1e} m",
                f"{row['cpu_ratio']:.1f}",
                f"{least:.1f} to {most:.1f}",
                f"{row['whole_ratio']:.1f}",
            ]
        peer = (row["case"], row["model"], f"{row['step_s']:g} s")
        cost = (f"{row['cpu_s_per_s']:.3f}", f"{row['error_m']:.1e} m")
        cells.append((*peer, *cost, *found, f"{row['aim']:g}"))
    note = (
        "Processor seconds per simulated second, one core, warm, at an error in time not larger than the peer's; the "
        "shortest of runs taken in turn, one program after the other. "
        "Counted of the peer: its solver with a sensor at the tip. Counted of lissom: the run, and positions of all "
        "nodes, energies and torques at all output times; `with dataset` also names, checks and packs them."
    )
    return ReportTable("Beside Exudyn, at the errors asked for", columns, cells, note)


def peer_table(rows: Sequence[Mapping[str, Any]]) -> ReportTable:
    """The peer's runs, each beside the fastest of ours that is at least as accurate."""
    columns = (
        "case",
        "peer",
        "step",
        "wall s/s",
        "error",
        "lissom rtol",
        "wall s/s",
        "error",
        "ratio",
        "cpu ratio",
        "models differ",
    )
    cells = [_peer_cells(row) for row in rows]
    note = (
        "Ratio: the peer's time over ours, above 1 where lissom is faster, at an error in time that is not larger. "
        "Errors are against each program's own tight run; `models differ` is the distance between the two tight runs. "
        "Building and compiling are not counted."
    )
    return ReportTable("Side by side", columns, cells, note + BUSY)


def _peer_cells(row: Mapping[str, Any]) -> Cells:
    ours = row["lissom"]
    # None of our runs may be as accurate as the peer's.
    matched = ["none", "", "", "", ""]
    if ours:
        matched = [
            f"{ours['rtol']:g}",
            f"{ours['wall_s_per_s']:.3f}",
            f"{ours['error_m']:.1e} m",
            f"{row['ratio']:.2f}",
            f"{row['cpu_ratio']:.2f}",
        ]
    return (
        row["case"],
        row["model"],
        f"{row['step_s']:g} s",
        f"{row['wall_s_per_s']:.3f}" + busy(row),
        f"{row['error_m']:.1e} m",
        *matched,
        f"{row['difference_from_lissom_m']:.1e} m",
    )


def rigid_table(rigid: Mapping[str, Any]) -> ReportTable:
    """Forward dynamics of a rigid arm, per call."""
    columns = "program", "per call", "difference"
    gap = f"{rigid['largest_relative_difference']:.0e}"
    rows = [
        (
            "Pinocchio, articulated bodies, called from Python",
            f"{rigid['pinocchio_aba_us']:.2f} us",
            "",
        ),
        ("lissom, one state per call", f"{rigid['lissom_us']:.2f} us", gap),
        (
            f"lissom, {rigid['batch']} states per call",
            f"{rigid['lissom_batch_us']:.2f} us",
            gap,
        ),
    ]
    note = "Context, not a contest: the engine carries what flexible links need and has no special code for rigid ones."
    return ReportTable(
        f"Forward dynamics of the rigid {rigid['robot']} robot", columns, rows, note
    )


def physics_table(rows: Sequence[Mapping[str, Any]]) -> ReportTable:
    """Known values beside ours."""
    columns = (
        "check",
        "known",
        "ours",
        "unit",
        "difference",
        "allowed",
        "verdict",
        "source",
    )
    cells = [
        (
            row["check"],
            numbers(row["known"]) if any(row["known"]) else "0",
            numbers(row["ours"]),
            row["unit"],
            f"{row['difference']:.1e}" + (" rel." if row["relative"] else ""),
            f"{row['tolerance']:g}",
            "agrees" if row["agrees"] else "DIFFERS",
            row["source"],
        )
        for row in rows
    ]
    return ReportTable("Physics: known numbers beside ours", columns, cells)


def published_table(rows: Sequence[Mapping[str, Any]]) -> ReportTable:
    """Table 2 of [Vidoni2015] beside ours."""
    ways = list(rows[0]["ours"])
    columns = (
        "modes",
        "values of",
        "theta",
        "X3",
        "Y3",
        "Z3",
        "X5",
        "Y5",
        "Z5",
        "off by",
        "verdict",
    )
    cells = []
    for row in rows:
        slip = " (a slip)" if row["slip"] else ""
        angle, *nodes = row["published"]
        shown = [f"{value:.4f}" for value in nodes]
        shown[4] += slip
        cells.append(
            (str(row["modes"]), "published", f"{angle:.2f}", *shown, "", row["verdict"])
        )
        for way in ways:
            angle, *nodes = row["ours"][way]
            gap = f"{row['difference_deg'][way]:.2f} deg, {1e3 * row['difference_m'][way]:.1f} mm"
            cells.append(
                (
                    "",
                    f"ours, {way}",
                    f"{angle:.2f}",
                    *(f"{value:.4f}" for value in nodes),
                    gap,
                    "",
                )
            )
    note = (
        "Modes count the six rigid ones, as the paper does. Reproduced: every coordinate within 3 mm, theta within 0.5 "
        "deg. `as printed`: E = 2e11 Pa and consistent mass. Lumped mass and E = 9e9 Pa are inferred from the table, "
        "not printed. Y5 marked as a slip is taken as 0.5 m from the first rod."
    )
    return ReportTable(
        "Table 2 of [Vidoni2015], t = 0.5 s, beside ours", columns, cells, note
    )


def peak_table(rows: Sequence[Mapping[str, Any]]) -> ReportTable:
    """Peaks in the spectrum of the elbow's acceleration."""
    columns = "mass", "published", "ours", "deviation", "amplitude"
    cells = [
        (
            row["mass"],
            f"{row['published_hz']:g} Hz",
            f"{row['ours_hz']:.2f} Hz",
            f"{100 * row['deviation']:+.1f} %",
            f"{row['amplitude']:.1e} m/s^2",
        )
        for row in rows
    ]
    note = (
        "The torque of the paper is lost and chosen here, so that amplitudes cannot be compared. The fourth frequency "
        "is matched by neither mass; it is shown and not held to a bound."
    )
    return ReportTable(
        "[Vidoni2015] test 3: peaks of the elbow's acceleration", columns, cells, note
    )


BUSY = " *: other programs held the processor, the wall time is too long."


def busy(row: Mapping[str, Any]) -> str:
    """A star on times that waited for the processor."""
    return "*" if row["machine_busy"] else ""


def seconds(value: float) -> str:
    """Three significant digits, at least to the millisecond."""
    return f"{value:.3f}" if value < 1 else f"{value:.3g}"


def numbers(values: Sequence[float]) -> str:
    """A few values in five digits."""
    return ", ".join(f"{value:.5g}" for value in values)


def machine_line(machine: Mapping[str, Any]) -> str:
    """The machine in one line."""
    versions = ", ".join(
        f"{name} {machine[name]}"
        for name in ("lissom", "jax", "exudyn", "pinocchio")
        if name in machine
    )
    cores = f"{machine['cores_used']} of {machine['cores_available']} cores used"
    where = f"{machine['cpu']}, {cores} ({machine['threads']}), load {machine['load']}"
    return f"{where}; Python {machine['python']}, {versions}"


def code_line(code: Mapping[str, Any]) -> str:
    """Whether compile times are those of a first start."""
    if code["folder"] is None:
        return "Compiled code is not kept: compile times are those of a first start."
    return (
        f"Compiled code: {code['hits']} from the cache, {code['misses']} new; "
        "compile times of cached code are short."
    )


def as_markdown(report: Mapping[str, Any]) -> str:
    """The report as a Markdown page."""
    parts = [machine_line(report["machine"]), code_line(report["compiled_code"])]
    for table in tables_of(report):
        parts += [f"## {table.title}", table_text(table)]
    return "\n\n".join(parts) + "\n"


def table_text(table: ReportTable) -> str:
    """Rows and note of a table in Markdown."""
    lines = [_line(table.columns), _line(["---"] * len(table.columns))]
    lines += [_line(row) for row in table.rows]
    rows = "\n".join(lines)
    return f"{rows}\n\n{table.note}" if table.note else rows


def _line(cells: Cells) -> str:
    return "| " + " | ".join(cells) + " |"


def print_report(report: Mapping[str, Any]) -> None:
    """The report on stdout."""
    import sys

    from rich.console import Console
    from rich.table import Table

    out = Console(width=None if sys.stdout.isatty() else 220)
    if "machine" in report:
        out.print(machine_line(report["machine"]), highlight=False)
    if "compiled_code" in report:
        out.print(code_line(report["compiled_code"]), highlight=False)
    for table in tables_of(report):
        grid = Table(
            *table.columns,
            title=table.title,
            title_justify="left",
            caption=table.note or None,
            caption_justify="left",
        )
        for cells in table.rows:
            grid.add_row(*cells)
        out.print(grid)
