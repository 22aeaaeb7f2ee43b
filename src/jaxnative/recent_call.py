"""Repeated calls: time integration calls the same program with the same model and a new state."""

import weakref
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Int, UInt64

from .call_memory import addresses_of
from .compilation import Program, split_arguments

Addresses = UInt64[np.ndarray, " n"]

NOT_SERVED = object()
MOST_RESULTS = 4  # that are recognised when they come back as arguments


class RecentCall:
    """A recent call: addresses and checks of its arguments are cached for calls with some of the same.

    Args:
        program: what the call ran.
        known: zeros and ones that the program assumes, for each number; None where it assumes none.
        args: of the call.
    """

    def __init__(
        self,
        program: Program,
        known: Sequence[np.ndarray | None],
        args: tuple[Any, ...],
    ):
        self.program = program
        self.arguments: list[Argument] = []
        first = 0
        for arg in args:
            argument = Argument(arg, known[first:])
            self.arguments.append(argument)
            first += len(argument.arrays)
        # Under XLA a program takes numbers, as machine code a list of addresses.
        self._run_at = getattr(program.call, "run_at", None)

    def value(self, args: tuple[Any, ...]) -> Any:
        """Value of another call, if the same program serves it for sure; else NOT_SERVED."""
        if self._run_at is None:
            numbers = self.numbers(args)
            return NOT_SERVED if numbers is None else self.program.call(numbers)
        if len(args) != len(self.arguments):
            return NOT_SERVED
        places = []
        alive: list[np.ndarray] = []
        for argument, arg in zip(self.arguments, args, strict=True):
            found = argument.places_of(arg, alive)
            if found is None:
                return NOT_SERVED
            places.append(found)
        return self._run_at(np.concatenate(places))

    def serves(self, args: tuple[Any, ...]) -> bool:
        """True if the same program serves another call for sure; shapes may stand for its numbers."""
        if len(args) != len(self.arguments):
            return False
        pairs = zip(self.arguments, args, strict=True)
        return all(argument.serves(arg) for argument, arg in pairs)

    def numbers(self, args: tuple[Any, ...]) -> list[Any] | None:
        """The numbers of another call, if the same program serves it for sure."""
        if len(args) != len(self.arguments):
            return None
        found: list[Any] = []
        for argument, arg in zip(self.arguments, args, strict=True):
            numbers = argument.numbers_of(arg)
            if numbers is None:
                return None
            found += numbers
        return found


class ArgumentForm(NamedTuple):
    """Structure that arguments of the same program share: everything but their numbers."""

    structure: Any
    shapes: tuple[tuple[tuple[int, ...], np.dtype], ...]


def form_of(numbers: Sequence[Any], structure: Any) -> ArgumentForm:
    """The form of an argument that was split into its numbers and all the rest."""
    return ArgumentForm(
        structure, tuple([(n.shape, np.dtype(n.dtype)) for n in numbers])
    )


class Argument:
    """One argument of a call, with cached addresses and checks.

    Args:
        arg: the argument.
        known: zeros and ones that are taken for granted of its numbers, and of those that follow.
    """

    def __init__(self, arg: Any, known: Sequence[np.ndarray | None]):
        self._numbers, structure = split_arguments((arg,))
        self._form = form_of(self._numbers, structure)
        self._known = known[: len(self._numbers)]
        self._takes_nothing = all(zeros is None for zeros in self._known)
        # In one piece; unlike `ascontiguousarray`, this leaves scalars without an axis.
        self.arrays = [np.asarray(number, order="C") for number in self._numbers]
        self._places = addresses_of(self.arrays)
        self._arg = arg
        self._is_array = type(arg) is np.ndarray
        # What is frozen is the same as long as it is the same object.
        self._is_frozen = isinstance(arg, eqx.Module)
        pairs = zip(self._numbers, self.arrays, strict=True)
        # A copy says nothing about an array that was written to since.
        has_copies = any(isinstance(n, np.ndarray) and n is not a for n, a in pairs)
        self._lasts = self._is_frozen or not has_copies
        # Numbers of an array may be others by now; they are still where they were.
        is_in_place = self._is_array and self._takes_nothing and not has_copies
        self._stays_in_place = self._is_frozen or is_in_place
        self._form_of_result: ArgumentForm | None = None
        self._served: Any = None

    def serves(self, arg: Any) -> bool:
        """True if the program serves another argument too; shapes may stand for its numbers."""
        if (arg is self._arg or arg is self._served) and self._is_frozen:
            return True
        if self._like(arg) is None:
            return False
        # Shapes of a result, which are compared with what the next program takes, are the same object in every run.
        self._served = arg
        return True

    def numbers_of(self, arg: Any) -> list[Any] | None:
        """The numbers of another argument, if the program serves it too."""
        if arg is self._arg and self._is_frozen:
            return self.arrays
        return self._like(arg)

    def places_of(self, arg: Any, alive: list[np.ndarray]) -> Addresses | None:
        """Where the numbers of another argument begin, if the program serves it too.

        What is copied to stand in one piece goes to `alive`, which has to outlive the call.
        """
        if arg is self._arg and self._stays_in_place:
            return self._places
        if self._takes_nothing:
            result = known_result(arg)
            if result is not None and self._is_of_form(result.form):
                return result.places
        if self._is_array and type(arg) is np.ndarray:
            numbers = self._like_array(arg)
        else:
            numbers = self._like(arg)
        if numbers is None:
            return None
        if numbers is self.arrays:
            return self._places
        arrays = [np.ascontiguousarray(number) for number in numbers]
        alive += arrays
        return addresses_of(arrays)

    def _is_of_form(self, form: ArgumentForm) -> bool:
        if form is self._form_of_result:
            return True
        is_same = form == self._form
        if is_same:
            # Results of one program have one form, and structures take a while to compare.
            self._form_of_result = form
        return is_same

    def _like_array(self, array: np.ndarray) -> list[Any] | None:
        """An array in place of another one; nothing has to be taken apart."""
        ((shape, dtype),) = self._form.shapes
        if array.shape != shape or array.dtype != dtype:
            return None
        (known,) = self._known
        return [array] if known is None or holds(known, array) else None

    def _like(self, arg: Any) -> list[Any] | None:
        """The numbers of an argument that has the structure, and the zeros and ones, of the one before."""
        numbers, structure = split_arguments((arg,))
        if structure != self._form.structure:
            return None
        pairs = zip(self._numbers, numbers, strict=True)
        if self._lasts and all(old is new for old, new in pairs):
            # A new tree of the same arrays as the one before: recognised by identity from now on.
            self._arg = arg
            return self.arrays
        found = []
        parts = (numbers, self._numbers, self._form.shapes, self._known, self.arrays)
        for new, old, (shape, dtype), known, array in zip(*parts, strict=True):
            if old is new and known is not None:
                # In one piece already, and its zeros are known.
                found.append(array)
                continue
            if new.shape != shape or new.dtype != dtype:
                return None
            if known is not None and not holds(known, new):
                return None
            found.append(new)
        return found


# --- results that come back as arguments ---------------------------------------------------------------------------


class KnownResult(NamedTuple):
    """A result of machine code, which may be an argument of the next call: time integration passes its state on."""

    module: weakref.ref
    form: ArgumentForm
    places: Addresses


# The last of them; older ones are dropped.
_results: deque[KnownResult] = deque(maxlen=MOST_RESULTS)


def remember_result(module: eqx.Module, form: ArgumentForm, places: Addresses) -> None:
    """Caches the addresses of a result as long as it lives."""
    _results.append(KnownResult(weakref.ref(module), form, places))


def known_result(arg: Any) -> KnownResult | None:
    """The cached entry of an argument that is one of the last results."""
    # Another thread may add one meanwhile.
    for result in tuple(_results):
        module = result.module()
        if module is not None and module is arg:
            return result
    return None


def holds(known: Int[np.ndarray, "*n"], number: Any) -> bool:
    """True if an array has the zeros and ones of a pattern: 0 or 1 where they are assumed, -1 elsewhere."""
    if isinstance(number, jax.ShapeDtypeStruct):
        return False
    return bool(((known < 0) | (known == np.asarray(number))).all())
