"""Calls from machine code back into Python, by function pointer."""

import ctypes
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from .call_memory import with_positive_zeros
from .host_failures import has_failed, keep_failure
from .program import Buffer, Function, kind_of


class HostCall:
    """A Python function of arrays that machine code calls with pointers to arguments and results.

    Args:
        callback: of arrays; gives a sequence of arrays.
        inputs: shapes and types of its arguments.
        outputs: and of its results.
    """

    def __init__(
        self,
        callback: Callable[..., Sequence[Any]],
        inputs: Sequence[Any],
        outputs: Sequence[Any],
    ):
        self._callback = callback
        self._inputs = [_form(aval) for aval in inputs]
        self._outputs = [_form(aval) for aval in outputs]
        pointers = [ctypes.c_void_p] * (len(inputs) + len(outputs))
        self._function = ctypes.CFUNCTYPE(None, *pointers)(self._called)
        address = ctypes.cast(self._function, ctypes.c_void_p).value
        assert address is not None
        self.address = address

    def _called(self, *pointers: int) -> None:
        count = len(self._inputs)
        results = _arrays(pointers[count:], self._outputs)
        try:
            # After a failure the program only has to find its end.
            if not has_failed():
                self._answer(_arrays(pointers[:count], self._inputs), results)
                return
        except BaseException as failure:
            keep_failure(failure)
        for result in results:
            result.fill(np.nan if result.dtype.kind in "fc" else 0)

    def _answer(self, given: list[np.ndarray], results: list[np.ndarray]) -> None:
        # Copies: the memory is overwritten when the program goes on.
        copies = with_positive_zeros([array.copy() for array in given])
        answers = self._callback(*copies)
        for result, answer in zip(results, answers, strict=True):
            found = np.asarray(answer)
            if found.shape != result.shape:
                raise ValueError(
                    f"a function called back gave an array of shape {found.shape}, expected {result.shape}"
                )
            result[...] = found


def _form(aval: Any) -> tuple[tuple[int, ...], np.dtype]:
    return tuple(aval.shape), np.dtype(aval.dtype)


def _arrays(pointers: Sequence[int], forms: Sequence[tuple]) -> list[np.ndarray]:
    """The memory at pointers as arrays."""
    found = []
    for pointer, (shape, dtype) in zip(pointers, forms, strict=True):
        size = prod(shape) * dtype.itemsize
        if not size:
            found.append(np.zeros(shape, dtype))
            continue
        memory = (ctypes.c_char * size).from_address(pointer)
        found.append(np.frombuffer(memory, dtype).reshape(shape))
    return found


def host_function(
    callback: Callable[..., Any], inputs: Sequence[Any], outputs: Sequence[Any]
) -> Function:
    """A Python function as a function of a program.

    Raises:
        Untranslatable: numbers of a type that programs do not have.
    """
    arguments = []
    for place, aval in enumerate((*inputs, *outputs)):
        kind_of(aval.dtype)
        name = np.dtype(aval.dtype).name
        arguments.append(Buffer("argument", name, prod(aval.shape), place))
    function = Function("host", arguments, len(outputs))
    function.host = HostCall(callback, inputs, outputs)
    return function


def hosts_of(function: Function) -> list[HostCall]:
    """All Python functions that a function calls."""
    found = [] if function.host is None else [function.host]
    for called in function.calls:
        found += hosts_of(called)
    return found
