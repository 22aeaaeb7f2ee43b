"""Monomials in several variables up to a total order: the terms of a truncated Taylor series."""

import functools
import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from ..types import Float, Real, namespace

# From so many variables on, exponents as digits no longer fit into a whole number of 64 bits.
CODED_VARIABLES = 20


def number_of_terms(variables: int, order: int) -> int:
    """Terms of a polynomial of total order t in p variables, C(p + t, t): Table 1 of [Palomba2019]."""
    return math.comb(variables + order, order)


@dataclass(frozen=True)
class Monomials:
    """All monomials x^sigma with |sigma| <= order, lowest total order first, [Palomba2019] section 3.1.

    Every monomial but the first is an earlier one (`parent`) times one variable (`factor`): the way to evaluate them
    with one product each.
    """

    variables: int
    order: int

    @functools.cached_property
    def exponents(self) -> Int[np.ndarray, "T p"]:
        """Powers sigma of every term."""
        levels = [np.zeros((1, self.variables), dtype=np.int64)]
        for _ in range(self.order):
            raised = []
            for row in levels[-1]:
                raised += self._one_order_higher(row)
            level = np.array(raised, dtype=np.int64).reshape(-1, self.variables)
            levels.append(level)
        return np.concatenate(levels)

    def _one_order_higher(
        self, row: Int[np.ndarray, " p"]
    ) -> list[Int[np.ndarray, " p"]]:
        """Monomials one order higher; only the last variable present or a later one is raised: each appears once."""
        first = int(np.flatnonzero(row)[-1]) if row.any() else 0
        unit = np.eye(self.variables, dtype=np.int64)
        return [row + unit[variable] for variable in range(first, self.variables)]

    @property
    def size(self) -> int:
        """Number of terms."""
        return number_of_terms(self.variables, self.order)

    @functools.cached_property
    def degree(self) -> Int[np.ndarray, " T"]:
        """|sigma| of every term."""
        return self.exponents.sum(axis=1)

    @functools.cached_property
    def place(self) -> dict[tuple[int, ...], int]:
        """Number of the term with given exponents."""
        return {tuple(row): k for k, row in enumerate(self.exponents.tolist())}

    @functools.cached_property
    def parent(self) -> Int[np.ndarray, " T"]:
        """The term that each one extends by its `factor`; the constant's is itself."""
        unit = np.eye(self.variables, dtype=np.int64)
        parents = [0]
        for row, variable in zip(self.exponents[1:], self.factor[1:], strict=True):
            lowered = row - unit[variable]
            parents.append(self.place[tuple(lowered)])
        return np.array(parents, dtype=np.int64)

    @functools.cached_property
    def factor(self) -> Int[np.ndarray, " T"]:
        """The variable by which each term extends its parent: the last one present."""
        last = [int(np.flatnonzero(row)[-1]) for row in self.exponents[1:]]
        return np.array([0, *last], dtype=np.int64)

    @functools.cached_property
    def product(self) -> Int[np.ndarray, "T T"]:
        """Number of the term a b, or -1 where its order is too high."""
        sums = self.exponents[:, None, :] + self.exponents[None, :, :]
        if self.variables >= CODED_VARIABLES:
            return self._product_by_table(sums)
        # Exponents read as digits make one number of each term, and no two terms the same.
        radix = (self.order + 1) ** np.arange(self.variables, dtype=np.int64)
        codes = self.exponents @ radix
        order = np.argsort(codes)
        fits = sums.sum(axis=2) <= self.order
        wanted = np.where(fits, sums @ radix, codes[0])
        terms = order[np.searchsorted(codes[order], wanted)]
        return np.where(fits, terms, -1)

    def _product_by_table(self, sums: Int[np.ndarray, "T T p"]):
        numbers = []
        for row in sums.tolist():
            numbers.append([self.place.get(tuple(term), -1) for term in row])
        return np.array(numbers, dtype=np.int64)

    def values(self, dx: Float[Real, "... p"]) -> Float[Real, "... T"]:
        """Every monomial at dx, batched over leading axes; NumPy or JAX like its argument."""
        xp = namespace(dx)
        parts = [xp.ones((*dx.shape[:-1], 1))]
        for parent, factor in self.levels:
            below = parts[-1]
            parts.append(below[..., parent] * dx[..., factor])
        return xp.concatenate(parts, axis=-1)

    @functools.cached_property
    def levels(self) -> list[tuple[Int[np.ndarray, " s"], Int[np.ndarray, " s"]]]:
        """For each order above zero: parents, counted within the order below, and factors."""
        levels = []
        for t in range(1, self.order + 1):
            level = np.flatnonzero(self.degree == t)
            first_below = np.flatnonzero(self.degree == t - 1)[0]
            levels.append((self.parent[level] - first_below, self.factor[level]))
        return levels

    def derivative(
        self, variable: int
    ) -> tuple[Int[np.ndarray, " s"], Int[np.ndarray, " s"], Int[np.ndarray, " s"]]:
        """Terms that depend on a variable, what they become when differentiated, and the factor that comes down."""
        source = np.flatnonzero(self.exponents[:, variable])
        unit = np.eye(self.variables, dtype=np.int64)[variable]
        lowered = self.exponents[source] - unit
        target = [self.place[tuple(row)] for row in lowered.tolist()]
        factor = self.exponents[source, variable]
        return source, np.array(target, dtype=np.int64), factor


@functools.lru_cache(maxsize=256)
def monomials_of(variables: int, order: int) -> Monomials:
    """The monomials, their tables made once."""
    return Monomials(variables, order)
