"""A function on a few rows, such as the stages of a step."""

from .program import ZERO, Builder, Call, Function, Rows
from .values import ValueStore

FEW = 4  # rows


def rows_function(name: str, rows: Rows) -> Function:
    """A function of all rows: it calls another one for each of them."""
    builder = Builder(name)
    arguments = list(zip(rows.function.arguments, rows.shared, strict=True))
    own = [
        builder.argument(place.dtype, place.size * (1 if is_shared else rows.count))
        for place, is_shared in arguments
    ]
    store = ValueStore(builder)

    def once(i: int) -> None:
        pointers = []
        for buffer, (place, is_shared) in zip(own, arguments, strict=True):
            first = store.math.imul(i, builder.whole(place.size))
            pointers.append((buffer, ZERO if is_shared else first))
        builder.emit(Call(rows.function, pointers))

    store.count(ZERO, builder.whole(rows.count), once)
    function = builder.function
    function.n_results = rows.function.n_results
    function.calls = [rows.function]
    function.rows = rows
    return function
