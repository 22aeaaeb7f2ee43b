"""Scalar operations and time of one right-hand side against the number of elastic links, both formulations.

Expected: the mass matrix is a product over all links for every pair of coordinates, so that operations grow with a
power between two and three; short chains are dearer per operation than long ones.
"""

import sys
from pathlib import Path

from matplotlib.ticker import NullFormatter

sys.path.insert(0, str(Path(__file__).parent.parent / "physics"))
from figures import chart, earlier_numbers, heading, keep  # noqa: E402

from lissom.benchmarks.cost_of_links import LINKS, measure_links  # noqa: E402
from lissom.benchmarks.machine import machine_facts  # noqa: E402
from lissom.show.axes import PALETTE  # noqa: E402


def main() -> None:
    """Measure (or take the JSON file of an earlier measurement), figure, numbers."""
    report = earlier_numbers()
    if report is None:
        report = {"machine": machine_facts(), "rows": measure_links(tell=print)}
    # Rows by formulation and terms, in the order of the report.
    series = {}
    for row in report["rows"]:
        kind = f"{row['formulation']}, {row['terms']}"
        series.setdefault(kind, []).append(row)
    figure, axes = chart()
    for colour, kind in zip(PALETTE, series, strict=False):
        exponent = series[kind][0]["operations_exponent"]
        axes.loglog(
            LINKS,
            [row["operations"] for row in series[kind]],
            "o-",
            color=colour,
            label=f"{kind}: exponent {exponent:.2f}",
        )
    axes.set_xlabel("elastic links, six modes each")
    axes.set_ylabel("scalar operations of one right-hand side")
    axes.set_xticks(LINKS, [str(n) for n in LINKS])
    axes.xaxis.set_minor_formatter(NullFormatter())
    heading(axes, "Cost of one right-hand side against the number of links")
    axes.legend(frameon=False)
    keep("cost-of-links", report, figure)


if __name__ == "__main__":
    main()
