"""The tables of speeds in README and docs, from the files of measurements.

    lissom bench -o robots.json
    python -m benchmarks payloads -o payloads.json
    python -m benchmarks peers --repeat 7 -o peers.json
    python -m benchmarks.speed.tables robots.json payloads.json peers.json

Each file fills the tables that it has numbers for. A table stands between `<!-- NAME -->` and `<!-- /NAME -->`.
"""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lissom.bench.report_cells import ReportTable, seconds
from lissom.bench.report_tables import machine_line, table_text

from ..peers.peer_tables import asked_table
from .speed_tables import payloads_table, residual_table

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PAGE = ROOT / "docs" / "howto" / "speed.md"


def robots_table(cases: Sequence[Mapping[str, Any]]) -> ReportTable:
    """Every robot of the library in one line."""
    columns = (
        "robot",
        "coordinates",
        "simulated",
        "warm run",
        "times faster than real time",
        "times faster than XLA",
        "error of the tip",
    )
    return ReportTable("", columns, [_robot(case) for case in cases])


def _robot(case: Mapping[str, Any]) -> tuple[str, ...]:
    warm = {row["backend"]: row["warm_s"] for row in case["backends"]}
    # Measured with --native, there is nothing to compare with.
    faster = f"{warm['xla'] / warm['native']:.0f}" if "xla" in warm else "-"
    return (
        case["case"],
        str(case["coordinates"]),
        f"{case['simulated_s']:g} s",
        f"{seconds(case['warm']['best_s'])} s",
        f"{case['real_time_factor']:.0f}",
        faster,
        f"{case['tip_error_m']:.0e} m",
    )


# What a measurement is kept under, where its table goes, and who makes it.
TABLES = (
    ("cases", README, "bench", robots_table),
    ("payloads", PAGE, "payloads", payloads_table),
    ("residual", PAGE, "residual", residual_table),
    ("asked", PAGE, "peers", asked_table),
)


def put(file: Path, mark: str, text: str) -> None:
    """Writes a text between its marks in a file.

    Raises:
        ValueError: the file has no such marks.
    """
    opening, closing = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    between = re.compile(f"{opening}.*?{closing}", re.DOTALL)
    before = file.read_text()
    if not between.search(before):
        raise ValueError(f"{file}: there is no {opening} ... {closing}")
    block = f"{opening}\n{text}\n{closing}"
    file.write_text(between.sub(lambda _: block, before))


def main(files: Sequence[str]) -> None:
    """Fills all tables that the files have numbers for."""
    for name in files:
        report = json.loads(Path(name).read_text())
        for key, page, mark, make in TABLES:
            if report.get(key):
                text = table_text(make(report[key]))
                put(page, mark, f"{text}\n\n{machine_line(report['machine'])}.")
                print(f"{page.relative_to(ROOT)}: {mark}")


if __name__ == "__main__":
    main(sys.argv[1:])
