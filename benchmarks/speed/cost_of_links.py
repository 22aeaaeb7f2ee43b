"""Scalar operations and time of one right-hand side against the number of elastic links, both formulations.

Expected: the mass matrix is a product over all links for every pair of coordinates, so that operations grow with a
power between two and three; short chains are dearer per operation than long ones.
"""

import json
import sys
from pathlib import Path

from matplotlib.ticker import NullFormatter

sys.path.insert(0, str(Path(__file__).parent.parent / "physics"))
from figures import chart, heading, keep  # noqa: E402

from lissom.benchmarks.cost_of_links import LINKS, measure_links  # noqa: E402
from lissom.benchmarks.machine import machine_facts  # noqa: E402
from lissom.show.figure import PALETTE  # noqa: E402


def main() -> None:
    """Measure (or take the JSON file of an earlier measurement), figure, numbers."""
    earlier = json.loads(Path(sys.argv[1]).read_text()) if len(sys.argv) > 1 else None
    report = earlier or {"machine": machine_facts(), "rows": measure_links(tell=print)}
    rows = report["rows"]
    figure, axes = chart()
    kinds = dict.fromkeys((row["formulation"], row["terms"]) for row in rows)
    for colour, kind in zip(PALETTE, kinds, strict=False):
        own = [row for row in rows if (row["formulation"], row["terms"]) == kind]
        label = f"{kind[0]}, {kind[1]}: exponent {own[0]['operations_exponent']:.2f}"
        axes.loglog(
            LINKS, [row["operations"] for row in own], "o-", color=colour, label=label
        )
    axes.set(
        xlabel="elastic links, six modes each",
        ylabel="scalar operations of one right-hand side",
    )
    axes.set_xticks(LINKS, [str(n) for n in LINKS])
    axes.xaxis.set_minor_formatter(NullFormatter())
    heading(axes, "Cost of one right-hand side against the number of links")
    axes.legend(frameon=False)
    keep("cost-of-links", report, figure)


if __name__ == "__main__":
    main()
