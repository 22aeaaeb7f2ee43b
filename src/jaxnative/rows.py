"""Functions of the rows of a run: several rows in each instruction of this processor, one in each lane."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import numpy as np

from . import machine_code
from .call_memory import OutputBlock, addresses_of, with_positive_zeros
from .compilation import joined_arguments, split_arguments
from .compiled import (
    MOST_RECENT,
    NativeAhead,
    Pattern,
    Runner,
    function_of,
    is_native,
    recipe_of,
    trace,
)
from .marks import vmap_first_rows
from .program_cache import Recipe
from .recent_call import NOT_SERVED, Addresses, Argument
from .untranslatable import Untranslatable


class RowsAhead(NativeAhead):
    """A function of a model and of rows, called with (model, columns...): results of all rows, however many there are.

    Args:
        function: of the model and one row of each column.
        window: how many rows a program takes that cannot take any number of them.
        fixed: of the model, the numbers that stay the same from call to call; all of them unless it is given.
        options: of XLA, where that has to do it.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        window: Callable[[], int],
        fixed: Callable[[Any], Any] = lambda model: model,
        **options: Any,
    ):
        self._of_row = function
        self._window = window
        self._recent_rows: tuple[_RecentRows, ...] = ()
        super().__init__(_OverRows(function), lambda model, *_: fixed(model), **options)

    @property
    def _is_in_lanes(self) -> bool:
        # Compiled quickly, a few rows are done one after the other: lanes take longer to write than they save.
        return is_native() and not self._is_quick

    def prepare(self, model: Any, *columns: Any) -> Any:
        """Compile for columns of these shapes, whatever their number of rows; the shapes of a window's results."""
        if self._is_in_lanes:
            for recent in self._recent_rows:
                if recent.serves(model, columns):
                    return recent.result
        return super().prepare(*self._blank_window(model, columns))

    def __call__(self, model: Any, *columns: Any) -> Any:
        """Results of all rows."""
        if self._is_in_lanes:
            for recent in self._recent_rows:
                value = recent.value(model, columns)
                if value is not NOT_SERVED:
                    return with_positive_zeros(value)
            window = self._blank_window(model, columns)
            pattern, program = self._pattern_and_program(window)
            if isinstance(program.call, _RowsRunner) and pattern is not None:
                recent = _RecentRows(program.call, pattern, window)
                # A user's code must not outlive the user's reference to it.
                if not program.user_code:
                    before = self._recent_rows[: MOST_RECENT - 1]
                    self._recent_rows = (recent, *before)
                return with_positive_zeros(recent.value(model, columns))
        return self._in_windows(model, columns)

    def _blank_window(self, model: Any, columns: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments of a program for one window."""
        rows = self._window()
        shapes = [jax.ShapeDtypeStruct((rows, *c.shape[1:]), c.dtype) for c in columns]
        return (model, np.asarray(rows), *shapes)

    def _in_windows(self, model: Any, columns: tuple[Any, ...]) -> Any:
        parts = []
        for count, window in windows_of(columns, self._window()):
            value = super().__call__(model, np.asarray(count), *window)
            parts.append(_first_rows(value, count))
        return joined_rows(parts)

    def _runner(self, recipe: Recipe) -> Runner:
        return _RowsRunner(recipe) if recipe.takes_any_rows else super()._runner(recipe)

    def _translate(self, pattern: Pattern, shapes: list[Any], structure: Any) -> Recipe:
        if self._is_quick:
            return super()._translate(pattern, shapes, structure)
        try:
            return self._in_lanes(pattern, shapes, structure)
        except (Untranslatable, RuntimeError):
            # One row after the other. LLVM says with a RuntimeError what it cannot do.
            return super()._translate(pattern, shapes, structure)

    def _in_lanes(self, pattern: Pattern, shapes: list[Any], structure: Any) -> Recipe:
        from . import lane_code
        from .rows_text import RowArgument, rows_text

        model, count, *columns = joined_arguments(shapes, structure)
        rows = [jax.ShapeDtypeStruct(c.shape[1:], c.dtype) for c in columns]
        numbers, structure = split_arguments((model, *rows))
        traced, result = trace(self._of_row, numbers, structure)
        known = (*pattern.known[: -len(columns) - 1], *pattern.known[-len(columns) :])
        function = function_of(traced, Pattern(known), unrolls=False)
        places = [*numbers, *[v.aval for v in traced.jaxpr.outvars]]
        of_model, given = len(numbers) - len(columns), len(numbers)
        arguments = [
            RowArgument(0 if k < of_model else _size(place), k < of_model, k >= given)
            for k, place in enumerate(places)
        ]
        shared = tuple(argument.is_shared for argument in arguments)
        width = lane_code.lane_count()
        inner = lane_code.load(function, shared, width)
        name, text = rows_text(inner, arguments, width, None)
        machine_code.load_text(name, text, machine_code.Effort(level=1), [inner])
        recipe = recipe_of(traced, name, result)
        return _of_all_rows(recipe, of_model, columns[0].shape[0])


class _OverRows:
    """The function of all rows at once, as XLA takes it; it has the name of that of one row."""

    def __init__(self, function: Callable[..., Any]):
        self.__module__ = function.__module__
        self.__name__ = function.__name__
        self.__qualname__ = f"rows of {function.__qualname__}"
        self._function = function

    def __call__(self, model: Any, count: Any, *columns: Any) -> Any:
        def of_row(*row: Any) -> Any:
            return self._function(model, *row)

        return vmap_first_rows(of_row, count)(*columns)


def _size(shape: Any) -> int:
    """Numbers of an array; in lanes all of them are doubles."""
    if np.dtype(shape.dtype) != np.dtype(float):
        raise Untranslatable(f"rows of {np.dtype(shape.dtype).name}")
    return int(np.prod(shape.shape, dtype=np.int64))


def _of_all_rows(recipe: Recipe, k: int, rows: int) -> Recipe:
    """The recipe of one row with shapes of all of them, and the number of rows as input k."""

    def longer(leaf: Any) -> Any:
        if not isinstance(leaf, jax.ShapeDtypeStruct):
            return leaf
        return jax.ShapeDtypeStruct((rows, *leaf.shape), leaf.dtype)

    return recipe._replace(
        count=recipe.count + 1,
        inputs=[*recipe.inputs[:k], "int64", *recipe.inputs[k:]],
        outputs=[((rows, *shape), name) for shape, name in recipe.outputs],
        result=jax.tree.map(longer, recipe.result),
        takes_any_rows=True,
    )


# --- calls with any number of rows ---------------------------------------------------------------------------------


class _RowsRunner(Runner):
    """A program that takes the number of rows as an input: its results have as many."""

    def __init__(self, recipe: Recipe):
        super().__init__(recipe)
        self.result = recipe.result
        # Its results have no form in common: their number of rows differs.
        self._form = None
        self._row_results = [(shape[1:], name) for shape, name in recipe.outputs]
        self._room: tuple[int, OutputBlock] | None = None

    def run_rows(self, model: Addresses, columns: Sequence[np.ndarray]) -> Any:
        """The results for a model whose numbers stand at these addresses."""
        count = np.array(len(columns[0]))
        sources = np.concatenate([model, addresses_of([count, *columns])])
        return self.run_at(sources, self._room_for(len(columns[0])))

    def _room_for(self, rows: int) -> OutputBlock:
        # Runs are repeated, and most have as many output times as the one before.
        room = self._room
        if room is None or room[0] != rows:
            shapes = [((rows, *shape), name) for shape, name in self._row_results]
            room = (rows, OutputBlock(shapes))
            self._room = room
        return room[1]


class _RecentRows:
    """A recent call of rows, for calls with the same model or a similar one, and other rows.

    Args:
        runner: of the program.
        pattern: zeros and ones that it assumes.
        args: of one window; its rows may be shapes alone.
    """

    def __init__(self, runner: _RowsRunner, pattern: Pattern, args: tuple[Any, ...]):
        model, _, *columns = args
        self._runner = runner
        self.result = runner.result
        self._model = Argument(model, pattern.known)
        self._columns = [(shape.shape[1:], np.dtype(shape.dtype)) for shape in columns]

    def serves(self, model: Any, columns: Sequence[Any]) -> bool:
        """True if the program serves this model and these rows for sure."""
        return self._serves_rows(columns) and self._model.serves(model)

    def value(self, model: Any, columns: Sequence[Any]) -> Any:
        """The results of all rows, if the program serves this model and these rows for sure; else NOT_SERVED."""
        if not self._serves_rows(columns):
            return NOT_SERVED
        alive: list[np.ndarray] = []
        places = self._model.places_of(model, alive)
        if places is None:
            return NOT_SERVED
        found = [np.ascontiguousarray(column) for column in columns]
        return self._runner.run_rows(places, found)

    def _serves_rows(self, columns: Sequence[Any]) -> bool:
        shapes = [(column.shape[1:], column.dtype) for column in columns]
        return shapes == self._columns


def windows_of(
    columns: Sequence[Any], rows: int
) -> Iterator[tuple[int, list[np.ndarray]]]:
    """The columns in windows of so many rows, and how many are valid: the last row pads the last window."""
    whole = [np.asarray(column) for column in columns]
    total = len(whole[0])
    for first in range(0, max(total, 1), rows):
        parts = [column[first : first + rows] for column in whole]
        count = len(parts[0])
        yield count, [_filled_up(part, rows) for part in parts]


def _filled_up(part: np.ndarray, rows: int) -> np.ndarray:
    count = len(part)
    if count == rows:
        return part
    whole = np.empty((rows, *part.shape[1:]), part.dtype)
    whole[:count] = part
    whole[count:] = part[-1] if count else 0
    return whole


def _first_rows(results: Any, count: int) -> Any:
    return jax.tree.map(lambda rows: np.asarray(rows)[:count], results)


def joined_rows(parts: Sequence[Any]) -> Any:
    """Results of rows that follow each other, in one."""
    if len(parts) == 1:
        return parts[0]
    return jax.tree.map(lambda *pieces: np.concatenate(pieces), *parts)
