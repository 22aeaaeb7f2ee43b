"""Factors of matrices and triangular systems: calls of kernels, never written out."""

from . import kernels
from .marks import factors_for_solving
from .program import Function
from .untranslatable import Untranslatable
from .values import Memory, Value


def _lu(tr, params, operands, mark):
    (a,) = operands
    if len(a.shape) != 2 or a.shape[0] != a.shape[1]:
        raise Untranslatable("factors of several matrices at once")
    n = a.shape[0]
    matrix = tr.own(a)
    pivots = tr.store.allocate("i", (n,), tr.owner, "int32")
    order = tr.store.allocate("i", (n,), tr.owner, "int32")
    for_solving = mark == factors_for_solving.__name__
    kernel = kernels.lu_kernel(n, a.kind, for_solving)
    kernel_call(tr, kernel, [matrix, pivots, order])
    return _results(tr, [matrix, pivots, order])


def _triangular_solve(tr, params, operands, mark):
    a, b = operands
    if len(a.shape) != 2 or not params["left_side"] or params["conjugate_a"]:
        raise Untranslatable("triangular systems of this form")
    n, m = b.shape
    target = tr.own(b)
    matrix = tr.store.in_memory(a, tr.owner)
    kernel = kernels.triangle_kernel(
        n,
        m,
        a.kind,
        params["lower"],
        bool(params["transpose_a"]),
        params["unit_diagonal"],
    )
    kernel_call(tr, kernel, [target, matrix])
    return _results(tr, [target])


def _cholesky(tr, params, operands, mark):
    (a,) = operands
    if len(a.shape) != 2 or a.kind != "d":
        raise Untranslatable("factors of several matrices at once")
    target = tr.own(a)
    kernel_call(tr, kernels.cholesky_kernel(a.shape[0]), [target])
    return _results(tr, [target])


def kernel_call(tr, kernel: Function, arrays: list[Memory]) -> None:
    """Calls a function that overwrites arrays."""
    for array in arrays:
        if array.buffer.where == "frame":
            array.buffer.version += 1
    tr.emit_call(kernel, [(a.buffer, a.offset) for a in arrays])


def _results(tr, arrays: list[Memory]) -> list[Value]:
    return [tr.loaded(array.fresh()) for array in arrays]


FACTORISATION = {
    "lu": _lu,
    "triangular_solve": _triangular_solve,
    "cholesky": _cholesky,
}
