"""Arithmetic on nodes: constants are folded, zeros and ones drop out, signs move outwards."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from .lane_math import POLYNOMIALS
from .program import FUSED, ONE, ZERO, Builder

ODD = {"rint", "round", "sin", "tan", "asin", "atan", "sinh", "tanh", "erf", "cbrt"}
EVEN = {"cos", "cosh", "fabs"}
FUNCTIONS: dict[str, Callable[[float], float]] = {
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
    "asinh": math.asinh,
    "acosh": math.acosh,
    "atanh": math.atanh,
    "exp": math.exp,
    "exp2": math.exp2,
    "expm1": math.expm1,
    "log": math.log,
    "log1p": math.log1p,
    "sqrt": math.sqrt,
    "cbrt": math.cbrt,
    "fabs": math.fabs,
    "floor": lambda x: float(math.floor(x)),
    "ceil": lambda x: float(math.ceil(x)),
    "rint": lambda x: float(round(x)),
    "round": lambda x: math.copysign(math.floor(abs(x) + 0.5), x),
    "erf": math.erf,
    "erfc": math.erfc,
    "lgamma": math.lgamma,
}


class Arithmetic:
    """Operations on single nodes."""

    def __init__(self, builder: Builder):
        self.builder = builder
        self.value = builder.function.value

    # --- doubles

    def add(self, a: int, b: int) -> int:
        """Sum a + b."""
        if a == 0:
            return b
        if b == 0:
            return a
        if a == -b:
            return ZERO
        x, y = self.value[abs(a)], self.value[abs(b)]
        if x is not None and y is not None:
            return self.builder.real((x if a > 0 else -x) + (y if b > 0 else -y))
        if a < 0 and b < 0:
            return -self.add(-a, -b)
        if a < 0:
            a, b = b, a
        if b > 0:
            return self.builder.node("fadd", (a, b) if a < b else (b, a), "d")
        b = -b
        if a < b:
            return self.builder.node("fsub", (a, b), "d")
        return -self.builder.node("fsub", (b, a), "d")

    def sub(self, a: int, b: int) -> int:
        """Difference a - b."""
        return self.add(a, -b)

    def mul(self, a: int, b: int) -> int:
        """Product a b."""
        if a == 0 or b == 0:
            return ZERO
        negative = (a < 0) != (b < 0)
        a, b = abs(a), abs(b)
        if a == 1:
            product = b
        elif b == 1:
            product = a
        else:
            x, y = self.value[a], self.value[b]
            if x is not None and y is not None:
                product = self.builder.real(x * y)
            else:
                product = self.builder.node("fmul", (a, b) if a < b else (b, a), "d")
        return -product if negative else product

    def fma(self, a: int, b: int, c: int) -> int:
        """The sum a b + c with one rounding."""
        if c == 0 or abs(a) <= 1 or abs(b) <= 1:
            return self.add(self.mul(a, b), c)
        numbers = [self.builder.number(node) for node in (a, b, c)]
        if None not in numbers:
            return self.builder.real(_fused(*numbers))
        is_negative = (a < 0) != (b < 0)
        first, second = sorted((abs(a), abs(b)))
        # -(a b) + c = -(a b - c)
        total = self.builder.node(FUSED, (first, second, -c if is_negative else c), "d")
        return -total if is_negative else total

    def div(self, a: int, b: int) -> int:
        """Quotient a / b."""
        if a == 0 and b != 0:
            return ZERO
        if b == 1:
            return a
        negative = (a < 0) != (b < 0)
        x, y = self.value[abs(a)], self.value[abs(b)]
        if y is not None and y != 0.0:
            if x is not None:
                quotient = self.builder.real(x / y)
            elif abs(math.frexp(y)[0]) == 0.5:
                # The reciprocal of a power of two is exact.
                quotient = self.mul(abs(a), self.builder.real(1.0 / y))
            else:
                quotient = self.builder.node("fdiv", (abs(a), abs(b)), "d")
        else:
            quotient = self.builder.node("fdiv", (abs(a), abs(b)), "d")
        return -quotient if negative else quotient

    def function(self, name: str, a: int) -> int:
        """A function of one double."""
        x = self.builder.number(a)
        if x is not None and (x == 0.0 or name not in POLYNOMIALS):
            try:
                return self.builder.real(FUNCTIONS[name](x))
            except (ValueError, OverflowError):
                pass
        if a < 0 and name in ODD:
            return -self.function(name, -a)
        if a < 0 and name in EVEN:
            return self.function(name, -a)
        return self.builder.node(name, (a,), "d")

    def power(self, a: int, n: int) -> int:
        """The number a to a whole power."""
        if n == 0:
            return ONE
        if n < 0:
            return self.div(ONE, self.power(a, -n))
        half = self.power(a, n // 2) if n > 1 else ONE
        square = self.mul(half, half)
        return self.mul(square, a) if n % 2 else square

    def binary(self, name: str, a: int, b: int) -> int:
        """A function of two doubles (pow, atan2, fmod, ...)."""
        return self.builder.node(name, (a, b), "d")

    def maximum(self, a: int, b: int) -> int:
        """The larger one; NaN where either is."""
        return self._extreme(a, b, largest=True)

    def minimum(self, a: int, b: int) -> int:
        """The smaller one; NaN where either is."""
        return self._extreme(a, b, largest=False)

    def _extreme(self, a: int, b: int, largest: bool) -> int:
        if a == b:
            return a
        x, y = self.builder.number(a), self.builder.number(b)
        if x is not None and y is not None:
            return a if (x > y) == largest else b
        if y is not None:
            a, b, x, y = b, a, y, x
        first = self.compare("fle", b, a) if largest else self.compare("fle", a, b)
        # A constant is a number: only b can be none, and then the comparison fails.
        if x is None:
            first = self.either(first, self.compare("fne", a, a))
        return self.select(first, a, b, "d")

    def compare(self, op: str, a: int, b: int) -> int:
        """Comparison: feq fne flt fle, and ieq ine ilt ile for whole numbers."""
        x, y = self.builder.number(a), self.builder.number(b)
        if x is not None and y is not None:
            test = op[1:]
            truth = {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y}[test]
            return int(truth)
        if op[0] == "i" and a == b:
            return int(op in ("ieq", "ile"))
        return self.builder.node(op, (a, b), "b")

    # --- truth

    def negate(self, a: int) -> int:
        """Logical not."""
        if a in (ZERO, ONE):
            return ONE - a
        if self.builder.function.op[a] == "bnot":
            return self.builder.function.args[a][0]
        return self.builder.node("bnot", (a,), "b")

    def both(self, a: int, b: int) -> int:
        """Logical and."""
        if a == ZERO or b == ZERO:
            return ZERO
        if a == ONE or a == b:
            return b
        if b == ONE:
            return a
        return self.builder.node("band", (min(a, b), max(a, b)), "b")

    def either(self, a: int, b: int) -> int:
        """Logical or."""
        if a == ONE or b == ONE:
            return ONE
        if a == ZERO or a == b:
            return b
        if b == ZERO:
            return a
        return self.builder.node("bor", (min(a, b), max(a, b)), "b")

    def differ(self, a: int, b: int) -> int:
        """Logical exclusive or."""
        if a == ZERO:
            return b
        if b == ZERO:
            return a
        if a == ONE:
            return self.negate(b)
        if b == ONE:
            return self.negate(a)
        return self.builder.node("bxor", (min(a, b), max(a, b)), "b")

    def select(self, truth: int, yes: int, no: int, kind: str) -> int:
        """One of two numbers, by a condition."""
        if truth == ONE or yes == no:
            return yes
        if truth == ZERO:
            return no
        if kind == "b":
            picked = self.both(truth, yes)
            return self.either(picked, self.both(self.negate(truth), no))
        return self.builder.node("select" + kind, (truth, yes, no), kind)

    # --- lanes

    def in_all_lanes(self, a: int) -> int:
        """Whether a condition holds in every active lane."""
        return self.builder.node("all", (a,), "b")

    def least_of_lanes(self, a: int) -> int:
        """The minimum of a double over all active lanes."""
        return self.builder.node("least", (a,), "d")

    def of_first_lane(self, a: int) -> int:
        """A whole number of the first active lane, broadcast to all."""
        return self.builder.node("first", (a,), "i")

    # --- whole numbers

    def iadd(self, a: int, b: int) -> int:
        """Sum a + b."""
        if a == 0:
            return b
        if b == 0:
            return a
        x, y = self.builder.number(a), self.builder.number(b)
        if x is not None and y is not None:
            return self.builder.whole(x + y)
        return self.builder.node("iadd", (a, b), "i")

    def imul(self, a: int, b: int) -> int:
        """Product a b."""
        if a == 0 or b == 0:
            return ZERO
        if a == 1:
            return b
        if b == 1:
            return a
        x, y = self.builder.number(a), self.builder.number(b)
        if x is not None and y is not None:
            return self.builder.whole(x * y)
        return self.builder.node("imul", (a, b), "i")

    def ibinary(self, op: str, a: int, b: int) -> int:
        """Division towards zero, remainder, bit operations."""
        x, y = self.builder.number(a), self.builder.number(b)
        if x is not None and y is not None and op in FOLDED:
            return self.builder.whole(FOLDED[op](int(x), int(y)))
        return self.builder.node(op, (a, b), "i")

    def imax(self, a: int, b: int) -> int:
        """The larger whole number."""
        return self.select(self.compare("ilt", a, b), b, a, "i")

    def imin(self, a: int, b: int) -> int:
        """The smaller whole number."""
        return self.select(self.compare("ilt", a, b), a, b, "i")

    def convert(self, a: int, before: str, after: str) -> int:
        """The same number of another kind."""
        if before == after or (a in (ZERO, ONE) and after != "b"):
            return a
        if after == "b":
            return self.compare("fne" if before == "d" else "ine", a, ZERO)
        x = self.builder.number(a)
        if x is not None:
            return self.builder.real(x) if after == "d" else self.builder.whole(x)
        if before == "b":
            return self.select(a, ONE, ZERO, after)
        if a < 0:
            return -self.convert(-a, before, after)
        return self.builder.node("i2d" if after == "d" else "d2i", (a,), after)


def _quotient(a: int, b: int) -> int:
    return 0 if b == 0 else int(math.copysign(1, a * b)) * (abs(a) // abs(b))


FOLDED: dict[str, Callable[[int, int], int]] = {
    "idiv": _quotient,
    "irem": lambda a, b: 0 if b == 0 else int(math.fmod(a, b)),
    "iand": lambda a, b: a & b,
    "ior": lambda a, b: a | b,
    "ixor": lambda a, b: a ^ b,
    "ishl": lambda a, b: a << b,
    "isar": lambda a, b: a >> b,
}


# --- arrays of nodes ----------------------------------------------------------------------------------------------


def add_arrays(math: Arithmetic, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Sum of arrays of nodes."""
    a, b = np.broadcast_arrays(a, b)
    out = np.array(a + b)
    hard = np.asarray((a != 0) & (b != 0))
    return _filled(out, hard, math.add, a, b)


def mul_arrays(math: Arithmetic, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Product, element by element, of arrays of nodes."""
    a, b = np.broadcast_arrays(a, b)
    hard = np.asarray((abs(a) > 1) & (abs(b) > 1))
    # With 0, 1 or -1 as one factor, the product of the names is the name of the product.
    out = np.array(a * b)
    return _filled(out, hard, math.mul, a, b)


def _filled(out, hard, function, a, b) -> np.ndarray:
    if hard.any():
        pairs = zip(a[hard].tolist(), b[hard].tolist(), strict=True)
        out[hard] = [function(x, y) for x, y in pairs]
    return out


def product_of_matrices(math: Arithmetic, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Products (batch, m, k) (batch, k, n) of arrays of nodes; only what is not zero is multiplied."""
    batch, m, _ = a.shape
    n = b.shape[2]
    out = np.zeros((batch, m, n), dtype=np.int64)
    for s in range(batch):
        left = [_entries(row) for row in a[s].tolist()]
        rows = [_entries(row) for row in b[s].tolist()]
        for i in range(m):
            sums: dict[int, int] = {}
            for k, x in left[i]:
                for j, y in rows[k]:
                    sums[j] = math.fma(x, y, sums.get(j, ZERO))
            for j, total in sums.items():
                out[s, i, j] = total
    return out


def _entries(row: list[int]) -> list[tuple[int, int]]:
    return [(k, x) for k, x in enumerate(row) if x]


def _fused(x: float, y: float, z: float) -> float:
    """The sum x y + z with one rounding."""
    if not all(map(math.isfinite, (x, y, z))):
        return x * y + z
    return float(Fraction(x) * Fraction(y) + Fraction(z))


def constants(builder: Builder, numbers: np.ndarray, kind: str) -> np.ndarray:
    """Nodes of an array of numbers."""
    make: Any = builder.real if kind == "d" else builder.whole
    flat = [make(x) for x in np.asarray(numbers).ravel().tolist()]
    return np.array(flat, dtype=np.int64).reshape(np.shape(numbers))
