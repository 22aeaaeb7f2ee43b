"""The tables of a benchmark report: on the terminal, and as Markdown."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Cells = Sequence[str]


class Table(NamedTuple):
    """A title, the names of the columns, the rows, and what has to be said about them."""

    title: str
    columns: Cells
    rows: Sequence[Cells]
    note: str = ""


def tables_of(report: Mapping[str, Any]) -> list[Table]:
    """Every table that the report has numbers for."""
    makers = {
        "physics": physics_table,
        "table_2": published_table,
        "peaks": peak_table,
        "links": links_table,
        "manoeuvre": manoeuvre_table,
        "cases": case_table,
        "lissom": lissom_table,
        "peers": peer_table,
        "rigid": rigid_table,
    }
    found = [make(report[key]) for key, make in makers.items() if report.get(key)]
    return found + (
        eigenpair_tables(report["eigenpairs"]) if report.get("eigenpairs") else []
    )


def eigenpair_tables(found: Mapping[str, Any]) -> list[Table]:
    """Parametric eigenpairs: the reference table, errors along the path, automatic expansions, times."""

    def percent(value):
        return f"{100 * value:.3g} %"

    known = [(name, *(percent(part["worst"][key]) for key in ("hz_off", "torque_off", "damping_off")))
             for name, part in found["table"].items()]  # fmt: skip

    def errors(name, part, what):
        return [
            (name, what(part), f"mode {k + 1}", *(f"{part[key][of][k]:.3g} %" for key in ("eps_f", "eps_xi")
                                                  for of in ("worst", "mean")),
             *(f"{part[key]['worst'][k]:.6f}" for key in ("mac_right", "mac_left")))
            for k in range(len(part["eps_f"]["worst"]))
        ]  # fmt: skip

    path = [
        row
        for name, part in found["path"].items()
        for row in errors(name, part, lambda part: "order 4, 1 point")
    ]
    chosen = [row for name, part in found["automatic"].items()
              for row in errors(name, part["errors"], lambda _, part=part: f"order {part['order']}, "
                                f"{part['expansion_points']} point(s)")]  # fmt: skip
    times = [(name, str(part["points"]), str(part["coordinates"]), *(seconds(part[f"{key}_s"]) for key in
              ("lapack", "lapack_batched", "polynomials", "polynomials_eigenvalues_only")),
              f"{part['factor_polynomials']:.0f}") for name, part in found["timing"].items()]  # fmt: skip
    columns = (
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
    return [
        Table("Manipulator of [Palomba2019], chosen data: largest difference from the reference at five times",
              ("model", "frequencies", "torques", "damping ratios"), known),
        Table("Polynomial eigenpairs against LAPACK along the path, 51 points", columns, path),
        Table("Automatic expansion: frequencies within 0.1 %, MAC above 0.999", columns, chosen),
        Table("Times for all points", ("case", "points", "coordinates", "LAPACK", "batched", "polynomials",
                                       "eigenvalues only", "LAPACK / polynomials"), times),
    ]  # fmt: skip


def links_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Cost of one right-hand side against the number of links."""
    columns = (
        "formulation",
        "terms",
        "links",
        "coordinates",
        "operations",
        "forces",
        "mass matrix",
        "time",
        "growth",
    )
    cells = [
        (
            row["formulation"],
            row["terms"],
            str(row["links"]),
            str(row["coordinates"]),
            *(f"{row[key]:,}" for key in ("operations", "forces", "mass_matrix")),
            f"{row['cpu_s'] * 1e6:.0f} us",
            f"{row['operations_exponent']:.2f} / {row['cpu_s_exponent']:.2f}",
        )
        for row in rows
    ]
    note = (
        "One right-hand side: scalar operations of the traced program, of its forces and its mass matrix alone, and "
        "processor time on one core. Growth: exponent of operations and of time over the number of links."
    )
    return Table("Cost against the number of links", columns, cells, note)


def case_table(cases: Sequence[Mapping[str, Any]]) -> Table:
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
    )
    columns += "steps", "rhs", "tip error", "reference"
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
    return Table(
        "Library cases at their own tolerance",
        columns,
        rows,
        note + "`x real time` counts the best warm run." + BUSY,
    )


def manoeuvre_table(rows: Sequence[Mapping[str, Any]]) -> Table:
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
    )
    columns += "steps", "rhs", "tip error"
    cells = [
        (f"{row['case']} [Cibicik2021]", f"{row['printed_s']:g}", *["-"] * 9)
        if "printed_s" in row
        else (
            row["case"],
            "-",
            *(seconds(row[key]) for key in ("build_s", "compile_s", "first_run_s")),
            seconds(row["warm"]["median_s"]),
            seconds(row["warm"]["best_s"]) + busy(row["warm"]),
            seconds(row["warm"]["cpu_s"]),
            str(row["steps"]),
            str(row["rhs_evaluations"]),
            f"{row['tip_error_m']:.1e} m",
        )
        for row in rows
    ]
    note = (
        "Times in seconds for 6 s of the 4-dof arm, 16 coordinates, one core, results written out. The paper's times "
        "are CPU times in Matlab/Simulink on another machine; its gains and solver are not printed. Ours: the same "
        "chosen gains, solver and tolerance for both. Tip error: against the same model a thousand times tighter."
    )
    return Table("The manoeuvre of [Cibicik2021]", columns, cells, note + BUSY)


def lissom_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Our own runs of the comparison, tolerance by tolerance."""
    columns = "case", "rtol", "wall s/s", "cpu s/s", "error in time", "steps", "rhs"
    cells = [
        (
            row["case"],
            f"{row['rtol']:g}",
            f"{row['wall_s_per_s']:.3f}" + busy(row),
            f"{row['cpu_s_per_s']:.3f}",
            f"{row['error_m']:.1e} m",
            str(row["steps"]),
            str(row["rhs_evaluations"]),
        )
        for row in rows
    ]
    return Table(
        "lissom, four Timoshenko elements per link, every nodal displacement kept",
        columns,
        cells,
    )


def peer_table(rows: Sequence[Mapping[str, Any]]) -> Table:
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
    cells = []
    for row in rows:
        ours = row["lissom"]
        cells.append(
            (
                row["case"],
                row["model"],
                f"{row['step_s']:g} s",
                f"{row['wall_s_per_s']:.3f}" + busy(row),
                f"{row['error_m']:.1e} m",
                *(
                    (
                        f"{ours['rtol']:g}",
                        f"{ours['wall_s_per_s']:.3f}",
                        f"{ours['error_m']:.1e} m",
                    )
                    if ours
                    else ("none", "", "")
                ),
                *(
                    (f"{row['ratio']:.2f}", f"{row['cpu_ratio']:.2f}")
                    if ours
                    else ("", "")
                ),
                f"{row['difference_from_lissom_m']:.1e} m",
            )
        )
    note = (
        "Ratio: the peer's time over ours, above 1 where lissom is faster, at an error in time that is not larger. "
        "Errors are against each program's own tight run; `models differ` is the distance between the two tight runs. "
        "Building and compiling are not counted."
    )
    return Table("Side by side, one simulated second", columns, cells, note + BUSY)


def rigid_table(rigid: Mapping[str, Any]) -> Table:
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
    return Table(
        f"Forward dynamics of the rigid {rigid['robot']} robot", columns, rows, note
    )


def physics_table(rows: Sequence[Mapping[str, Any]]) -> Table:
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
    return Table("Physics: known numbers beside ours", columns, cells)


def published_table(rows: Sequence[Mapping[str, Any]]) -> Table:
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
    return Table(
        "Table 2 of [Vidoni2015], t = 0.5 s, beside ours", columns, cells, note
    )


def peak_table(rows: Sequence[Mapping[str, Any]]) -> Table:
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
    return Table(
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
        lines = [
            _line(table.columns),
            _line(["---"] * len(table.columns)),
            *(_line(row) for row in table.rows),
        ]
        parts += [
            f"## {table.title}",
            "\n".join(lines),
            *([table.note] if table.note else []),
        ]
    return "\n\n".join(parts) + "\n"


def _line(cells: Cells) -> str:
    return "| " + " | ".join(cells) + " |"


def print_report(report: Mapping[str, Any]) -> None:
    """The report on stdout."""
    import sys

    from rich.console import Console
    from rich.table import Table as Grid

    out = Console(width=None if sys.stdout.isatty() else 220)
    if "machine" in report:
        out.print(machine_line(report["machine"]), highlight=False)
    if "compiled_code" in report:
        out.print(code_line(report["compiled_code"]), highlight=False)
    for table in tables_of(report):
        grid = Grid(
            *table.columns,
            title=table.title,
            title_justify="left",
            caption=table.note or None,
            caption_justify="left",
        )
        for cells in table.rows:
            grid.add_row(*cells)
        out.print(grid)
