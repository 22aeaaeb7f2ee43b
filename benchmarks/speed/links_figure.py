"""Scalar operations of one residual against the number of elastic links, as traced and as machine code.

Expected: a residual is one pass over the links outwards and one inwards, so that both grow with the number of links.
"""

from matplotlib.ticker import NullFormatter

from lissom.bench.machine import machine_facts
from lissom.show.axes import PALETTE

from ..physics.figures import chart, earlier_numbers, heading, keep
from .cost_of_links import LINKS, measure_links


def main() -> None:
    """Measure (or take the JSON file of an earlier measurement), figure, numbers."""
    report = earlier_numbers()
    if report is None:
        report = {"machine": machine_facts(), "rows": measure_links(log=print)}
    # Rows by formulation and terms, in the order of the report.
    series = {}
    for row in report["rows"]:
        kind = f"{row['formulation']}, {row['terms']}"
        series.setdefault(kind, []).append(row)
    figure, axes = chart()
    for colour, kind in zip(PALETTE, series, strict=False):
        rows = series[kind]
        for key, style in (("residual", "o-"), ("native_residual", "s--")):
            exponent = rows[0][f"{key}_exponent"]
            where = "traced" if key == "residual" else "machine code"
            axes.loglog(
                LINKS,
                [row[key] for row in rows],
                style,
                color=colour,
                label=f"{kind}, {where}: {exponent:.2f}",
            )
    axes.set_xlabel("elastic links")
    axes.set_ylabel("scalar operations of one residual")
    axes.set_xticks(LINKS, [str(n) for n in LINKS])
    axes.xaxis.set_minor_formatter(NullFormatter())
    heading(axes, "Cost of one residual; exponents over 8 to 32 links")
    axes.legend(frameon=False, fontsize=8)
    keep("cost-of-links", report, figure)


if __name__ == "__main__":
    main()
