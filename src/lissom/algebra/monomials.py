"""Monomials in several variables up to a total order: the terms of a truncated Taylor series."""

import functools
import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from ..types import Real, namespace


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
            last = levels[-1]
            # raise only the last variable present or a later one: every monomial appears once
            first = [int(np.flatnonzero(row)[-1]) if row.any() else 0 for row in last]
            raised = [row + np.eye(self.variables, dtype=np.int64)[v] for row, f in zip(last, first, strict=True)
                      for v in range(f, self.variables)]  # fmt: skip
            levels.append(np.array(raised, dtype=np.int64).reshape(-1, self.variables))
        return np.concatenate(levels)

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
        one = np.eye(self.variables, dtype=np.int64)
        up = [0] + [
            self.place[tuple(row - one[v])]
            for row, v in zip(self.exponents[1:], self.factor[1:], strict=True)
        ]
        return np.array(up, dtype=np.int64)

    @functools.cached_property
    def factor(self) -> Int[np.ndarray, " T"]:
        """The variable by which each term extends its parent: the last one present."""
        last = [0] + [int(np.flatnonzero(row)[-1]) for row in self.exponents[1:]]
        return np.array(last, dtype=np.int64)

    @functools.cached_property
    def product(self) -> Int[np.ndarray, "T T"]:
        """Number of the term a b, or -1 where its order is too high."""
        sums = self.exponents[:, None, :] + self.exponents[None, :, :]
        radix = (
            (self.order + 1) ** np.arange(self.variables, dtype=np.int64)
            if self.variables < 20
            else None
        )
        if radix is None:
            return np.array(
                [[self.place.get(tuple(s), -1) for s in row] for row in sums.tolist()],
                dtype=np.int64,
            )
        codes = self.exponents @ radix
        order = np.argsort(codes)
        fits = sums.sum(axis=2) <= self.order
        wanted = np.where(fits, sums @ radix, codes[0])
        return np.where(fits, order[np.searchsorted(codes[order], wanted)], -1)

    def values(self, dx: Float[Real, "... p"]) -> Float[Real, "... T"]:
        """Every monomial at dx, batched over leading axes; NumPy or JAX like its argument."""
        xp = namespace(dx)
        parts = [xp.ones((*dx.shape[:-1], 1))]
        for parent, factor in self.levels:
            parts.append(parts[-1][..., parent] * dx[..., factor])
        return xp.concatenate(parts, axis=-1)

    @functools.cached_property
    def levels(self) -> list[tuple[Int[np.ndarray, " s"], Int[np.ndarray, " s"]]]:
        """For each order above zero: parents, counted within the order below, and factors."""
        found = []
        for t in range(1, self.order + 1):
            level = np.flatnonzero(self.degree == t)
            found.append(
                (
                    self.parent[level] - np.flatnonzero(self.degree == t - 1)[0],
                    self.factor[level],
                )
            )
        return found

    def derivative(
        self, variable: int
    ) -> tuple[Int[np.ndarray, " s"], Int[np.ndarray, " s"], Int[np.ndarray, " s"]]:
        """Terms that depend on a variable, what they become when differentiated, and the factor that comes down."""
        source = np.flatnonzero(self.exponents[:, variable])
        lowered = (
            self.exponents[source] - np.eye(self.variables, dtype=np.int64)[variable]
        )
        target = np.array(
            [self.place[tuple(row)] for row in lowered.tolist()], dtype=np.int64
        )
        return source, target, self.exponents[source, variable]


@functools.lru_cache(maxsize=256)
def monomials_of(variables: int, order: int) -> Monomials:
    """The monomials, their tables made once."""
    return Monomials(variables, order)
