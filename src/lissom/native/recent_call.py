"""Calls that come again: a march calls the same program with the same robot, and a state that moves on."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Int

from ..compilation import Program, split_arguments


class RecentCall:
    """A call that may come again with some of its arguments: what was found out about those is kept.

    Args:
        program: what the call ran.
        known: zeros and ones that the program takes for granted, for each number; None where it takes nothing.
        args: of the call.
    """

    def __init__(
        self,
        program: Program,
        known: Sequence[np.ndarray | None],
        args: tuple[Any, ...],
    ):
        self.program = program
        self.args = list(args)
        self.parts = [split_arguments((arg,)) for arg in args]
        counts = [len(numbers) for numbers, _ in self.parts]
        ends = np.cumsum(counts).tolist()
        pairs = zip(ends, counts, strict=True)
        self.known = [known[end - count : end] for end, count in pairs]
        self.arrays = [
            # In one piece; unlike `ascontiguousarray`, this leaves scalars without an axis.
            [np.asarray(number, order="C") for number in numbers]
            for numbers, _ in self.parts
        ]

    def numbers(self, args: tuple[Any, ...]) -> list[Any] | None:
        """The numbers of another call, if the same program serves it for sure."""
        if len(args) != len(self.args):
            return None
        found: list[Any] = []
        for k, arg in enumerate(args):
            # What is frozen is the same as long as it is the same object.
            if arg is self.args[k] and isinstance(arg, eqx.Module):
                found += self.arrays[k]
                continue
            numbers = self._like(k, arg)
            if numbers is None:
                return None
            found += numbers
        return found

    def _like(self, k: int, arg: Any) -> list[Any] | None:
        """The numbers of an argument that has the structure, and the zeros and ones, of the one before."""
        before, structure = self.parts[k]
        numbers, other = split_arguments((arg,))
        if structure != other:
            return None
        if all(old is new for old, new in zip(before, numbers, strict=True)):
            # Put together anew from the very arrays of the one before: asked for again, it is known at sight.
            self.args[k] = arg
            return self.arrays[k]
        found = []
        pairs = zip(before, numbers, self.known[k], self.arrays[k], strict=True)
        for old, new, known, array in pairs:
            if old is new and known is not None:
                # In one piece already, and its zeros are known.
                found.append(array)
                continue
            if old.shape != new.shape or old.dtype != new.dtype:
                return None
            if known is not None and not holds(known, new):
                return None
            found.append(new)
        return found


def holds(known: Int[np.ndarray, "*n"], number: Any) -> bool:
    """True if a number has the zeros and ones that are taken for granted: 0 or 1 where they are, -1 elsewhere."""
    if isinstance(number, jax.ShapeDtypeStruct):
        return False
    return bool(((known < 0) | (known == np.asarray(number))).all())
