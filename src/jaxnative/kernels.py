"""Factorisations and triangular solves as functions with loops: small dense systems, no library needed."""

import functools

from .kernel import Kernel
from .lu_kernel import lu_function
from .program import ONE, ZERO, Function
from .vector_lu import lu_text

WIDE = 8  # rows from which on matrices are factorised in vectors
STRIP = 12  # numbers of a product of matrices that are summed up in registers
# Numbers, of all unknowns, that stay there while a triangular system is solved.
IN_REGISTERS = 28
FEW_TERMS = 4  # of each number of a product, up to which they are added without a loop


@functools.cache
def lu_kernel(n: int, kind: str, for_solving: bool = False) -> Function:
    """P A = L U in place with row pivoting: arguments matrix, pivots, order of the rows.

    With `for_solving`, members in lanes may exchange the same rows, and not each those of its own largest numbers.
    """
    if not for_solving:
        function = lu_function(f"lu_{kind}_{n}", n, kind)
    else:
        function = lu_function(f"factors_{kind}_{n}", n, kind)
        function.in_lanes = lu_function(
            f"factors_in_lanes_{kind}_{n}", n, kind, in_lanes=True
        )
    if n >= WIDE:
        function.in_vectors = functools.partial(lu_text, n, kind == "c")
    return function


@functools.cache
def triangle_kernel(
    n: int, m_columns: int, kind: str, lower: bool, transposed: bool, unit: bool
) -> Function:
    """T Y = B or T^T Y = B in place: arguments B and the matrix that holds T."""
    sort = f"{'l' if lower else 'u'}{'t' if transposed else 'n'}{'u' if unit else 'd'}"
    k_ = Kernel(f"triangle_{kind}_{n}_{m_columns}_{sort}")
    dtype = "complex128" if kind == "c" else "float64"
    b = k_.argument(kind, (n, m_columns), dtype)
    a = k_.argument(kind, (n, n), dtype)
    m, whole = k_.math, k_.builder.whole
    last = whole(n - 1)
    forwards = lower != transposed
    kinds = ("d", "d") if kind == "c" else ("d",)

    def entry(i, j):
        return k_.read(a, j, i) if transposed else k_.read(a, i, j)

    def column_in_registers(c):
        """Every unknown is taken from all that follow as soon as it is known: no sum waits for its own last term."""
        order = [whole(i) for i in (range(n) if forwards else reversed(range(n)))]
        left = {i: k_.read(b, i, c) for i in order}
        for place, i in enumerate(order):
            if not unit:
                # Nothing waits for this division: it is done while other unknowns are found.
                inverse = k_.inverse(kind, entry(i, i))
                left[i] = k_.operate("mul", kind, left[i], inverse)
            for later in order[place + 1 :]:
                product = k_.operate("mul", kind, entry(later, i), left[i])
                left[later] = k_.operate("sub", kind, left[later], product)
        for i in order:
            k_.write(b, (i, c), left[i])

    def column(c):
        if n * len(kinds) <= IN_REGISTERS:
            column_in_registers(c)
            return

        def unknown(step):
            i = step if forwards else m.iadd(last, -step)
            first = ZERO if forwards else m.iadd(i, ONE)
            stop = i if forwards else whole(n)

            def term(j, total):
                product = k_.operate("mul", kind, entry(i, j), k_.read(b, j, c))
                return k_.operate("add", kind, total, product)

            zero = (ZERO,) * len(kinds)
            known = k_.store.fold(first, stop, zero, kinds, term)
            y = k_.operate("sub", kind, k_.read(b, i, c), known)
            if not unit:
                y = k_.operate("div", kind, y, entry(i, i))
            k_.write(b, (i, c), y)

        k_.store.count(ZERO, whole(n), unknown)

    k_.store.loop((m_columns,), lambda index: column(*index))
    return k_.finish(1)


@functools.cache
def cholesky_kernel(n: int) -> Function:
    """A = L L^T in place, zeros above the diagonal; not a number where A is not positive definite."""
    k_ = Kernel(f"cholesky_{n}")
    a = k_.argument("d", (n, n), "float64")
    m, whole = k_.math, k_.builder.whole

    def row(i):
        def column(j):
            def term(k, total):
                (product,) = k_.operate("mul", "d", k_.read(a, i, k), k_.read(a, j, k))
                return (m.add(total[0], product),)

            (known,) = k_.store.fold(ZERO, j, (ZERO,), ("d",), term)
            left = m.sub(k_.read(a, i, j)[0], known)
            is_diagonal = m.compare("ieq", i, j)
            k_.when(
                is_diagonal,
                lambda: k_.write(a, (i, j), (m.function("sqrt", left),)),
            )
            k_.when(
                m.negate(is_diagonal),
                lambda: k_.write(a, (i, j), (m.div(left, k_.read(a, j, j)[0]),)),
            )

        k_.store.count(ZERO, m.iadd(i, ONE), column)

    k_.store.count(ZERO, whole(n), row)

    def clear(i):
        k_.store.count(m.iadd(i, ONE), whole(n), lambda j: k_.write(a, (i, j), (ZERO,)))

    k_.store.count(ZERO, whole(n), clear)
    return k_.finish(1)


@functools.cache
def product_kernel(batch: int, m: int, k: int, n: int, kind: str) -> Function:
    """C = A B for matrices in rows, batch after batch: arguments C, A, B."""
    k_ = Kernel(f"product_{kind}_{batch}_{m}_{k}_{n}")
    dtype = {"c": "complex128", "d": "float64", "i": "int64"}[kind]
    c = k_.argument(kind, (batch, m, n), dtype)
    a = k_.argument(kind, (batch, m, k), dtype)
    b = k_.argument(kind, (batch, k, n), dtype)
    whole = k_.builder.whole
    zero = (ZERO, ZERO) if kind == "c" else (ZERO,)
    kinds = ("d", "d") if kind == "c" else (kind,)

    def block(s, rows):
        """Some rows of C, all their numbers in registers."""
        places = [(i, whole(j)) for i in rows for j in range(n)]

        def term(l, totals):
            left = {i: k_.read(a, s, i, l) for i in rows}
            right = [k_.read(b, s, l, whole(j)) for j in range(n)]
            sums: list[int] = []
            for place, (i, _) in enumerate(places):
                own = totals[place * len(kinds) : (place + 1) * len(kinds)]
                sums += k_.with_product(kind, own, left[i], right[place % n])
            return tuple(sums)

        count = len(places)
        totals = k_.store.fold(ZERO, whole(k), zero * count, kinds * count, term)
        for place, (i, j) in enumerate(places):
            own = totals[place * len(kinds) : (place + 1) * len(kinds)]
            k_.write(c, (s, i, j), own)

    def blocks(s):
        """All rows of C, as many at a time as there are registers for."""
        height = max(1, min(m, STRIP // n))
        times, left = divmod(m, height)

        def some(number):
            first = k_.math.imul(number, whole(height))
            block(s, [k_.math.iadd(first, whole(r)) for r in range(height)])

        k_.store.count(ZERO, whole(times), some)
        if left:
            block(s, [whole(i) for i in range(m - left, m)])

    def row_of_few_terms(s, i):
        """A row of C whose numbers have few terms each: nothing but the sums is written."""
        factors = [k_.read(a, s, i, whole(l)) for l in range(k)]

        def entry(j):
            numbers = [k_.read(b, s, whole(l), j) for l in range(k)]
            total = zero
            for x, y in zip(factors, numbers, strict=True):
                total = k_.with_product(kind, total, x, y)
            k_.write(c, (s, i, j), total)

        k_.store.count(ZERO, whole(n), entry)

    def row(s, i):
        if k <= FEW_TERMS:
            row_of_few_terms(s, i)
            return
        k_.store.count(ZERO, whole(n), lambda j: k_.write(c, (s, i, j), zero))

        def add_row(l):
            x = k_.read(a, s, i, l)

            def entry(j):
                before, y = k_.read(c, s, i, j), k_.read(b, s, l, j)
                k_.write(c, (s, i, j), k_.with_product(kind, before, x, y))

            k_.store.count(ZERO, whole(n), entry)

        k_.store.count(ZERO, whole(k), add_row)

    if n <= STRIP:
        k_.store.loop((batch,), lambda index: blocks(*index))
    else:
        k_.store.loop((batch, m), lambda index: row(*index))
    # Products of real numbers are written out elsewhere: both forms give the same numbers to the last bit.
    return k_.finish(1, reorders=kind == "c")
