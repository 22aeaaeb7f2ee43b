"""Machine code of a function on a few rows: all of them at once, one in each lane of a vector."""

from weakref import WeakKeyDictionary

from . import lane_code
from .few_rows import FEW as WIDTH
from .machine_code import Effort, load_text
from .program import Function, Rows
from .rows_text import RowArgument, rows_text
from .untranslatable import Untranslatable

LARGEST = 16384  # bytes: larger rows are not put on the stack
# Names of functions that are in this process, by which arguments their rows share.
_in_lanes: WeakKeyDictionary[Function, dict[tuple[bool, ...], str]] = (
    WeakKeyDictionary()
)


def load(rows: Rows) -> str:
    """Puts the function of all rows into this process, in lanes; its name there.

    Raises:
        Untranslatable: rows that do not fit into lanes.
        RuntimeError: LLVM cannot do it.
    """
    _check(rows)
    names = _in_lanes.setdefault(rows.function, {})
    if rows.shared not in names:
        names[rows.shared] = lane_code.load(rows.function, rows.shared, WIDTH)
    inner, places = names[rows.shared], rows.function.arguments
    first_result = len(places) - rows.function.n_results
    arguments = [
        RowArgument(place.size, is_shared, place.place >= first_result)
        for place, is_shared in zip(places, rows.shared, strict=True)
    ]
    name, text = rows_text(inner, arguments, WIDTH, rows.count)
    load_text(name, text, Effort(level=1), [inner])
    return name


def _check(rows: Rows) -> None:
    if rows.count > WIDTH or lane_code.lane_count() < WIDTH:
        raise Untranslatable(f"{rows.count} rows")
    for place, is_shared in zip(rows.function.arguments, rows.shared, strict=True):
        if is_shared:
            continue
        size = max(place.size, 1) * 8 * WIDTH
        if place.dtype != "float64" or size > LARGEST:
            raise Untranslatable(f"rows of {place.size} {place.dtype}")
