"""Elementwise operations: rules on the nodes of one element."""

from collections.abc import Callable
from typing import Any

from .arithmetic import Arithmetic
from .program import ONE, ZERO, kind_of
from .untranslatable import Untranslatable

Parts = tuple[int, ...]
# rule(math, params, kinds of the operands, operands) -> parts of the result
Rule = Callable[[Arithmetic, Any, list[str], list[Parts]], Parts]


def _pick(**by_kind: Callable) -> Rule:
    """A rule that depends on the kind of the first operand."""

    def rule(math, params, kinds, operands):
        if kinds[0] not in by_kind:
            raise Untranslatable(f"operation on numbers of kind {kinds[0]}")
        if kinds[0] == "c":
            return by_kind["c"](math, *operands)
        return (by_kind[kinds[0]](math, *[parts[0] for parts in operands]),)

    return rule


def _function(name: str) -> Rule:
    return _pick(d=lambda m, a: m.function(name, a))


def _compare(op: str, swapped: bool = False) -> Rule:
    def compare(prefix):
        def rule(m, a, b):
            first, second = (b, a) if swapped else (a, b)
            return m.compare(prefix + op, first, second)

        return rule

    def of_truths(m, a, b):
        if op == "eq":
            return m.negate(m.differ(a, b))
        if op == "ne":
            return m.differ(a, b)
        raise Untranslatable("order of truth values")

    return _pick(d=compare("f"), i=compare("i"), b=of_truths)


# --- complex numbers, as pairs


def _c_add(m, a, b):
    return m.add(a[0], b[0]), m.add(a[1], b[1])


def _c_sub(m, a, b):
    return m.sub(a[0], b[0]), m.sub(a[1], b[1])


def _c_mul(m, a, b):
    real = m.sub(m.mul(a[0], b[0]), m.mul(a[1], b[1]))
    imaginary = m.add(m.mul(a[0], b[1]), m.mul(a[1], b[0]))
    return real, imaginary


def _c_div(m, a, b):
    size = m.add(m.mul(b[0], b[0]), m.mul(b[1], b[1]))
    top = _c_mul(m, a, (b[0], -b[1]))
    return m.div(top[0], size), m.div(top[1], size)


def _c_neg(m, a):
    return -a[0], -a[1]


def _c_abs(math, a):
    return (math.binary("hypot", *a),)


# --- rules with parameters


def _select(math, params, kinds, operands):
    choice, *cases = operands
    kind = kinds[1]
    if kinds[0] == "b":
        no, yes = cases
        return tuple(
            math.select(choice[0], y, n, "d" if kind == "c" else kind)
            for y, n in zip(yes, no, strict=True)
        )
    result = cases[-1]
    for k in range(len(cases) - 2, -1, -1):
        is_this = math.compare("ieq", choice[0], math.builder.whole(k))
        result = tuple(
            math.select(is_this, y, n, "d" if kind == "c" else kind)
            for y, n in zip(cases[k], result, strict=True)
        )
    return result


def _convert(math, params, kinds, operands):
    after = kind_of(params["new_dtype"])
    (parts,) = operands
    if after == "c":
        real = parts[0] if kinds[0] == "c" else math.convert(parts[0], kinds[0], "d")
        return real, parts[1] if kinds[0] == "c" else ZERO
    if kinds[0] == "c":
        return (math.convert(parts[0], "d", after),)
    return (math.convert(parts[0], kinds[0], after),)


def _integer_pow(math, params, kinds, operands):
    (parts,) = operands
    n = params["y"]
    if kinds[0] == "c":
        result = (ONE, ZERO)
        for _ in range(abs(n)):
            result = _c_mul(math, result, parts)
        return result if n >= 0 else _c_div(math, (ONE, ZERO), result)
    if kinds[0] == "i":
        result = ONE
        for _ in range(n):
            result = math.imul(result, parts[0])
        return (result,)
    return (math.power(parts[0], n),)


def _clamp(math, params, kinds, operands):
    low, x, high = (parts[0] for parts in operands)
    if kinds[1] == "i":
        return (math.imin(math.imax(x, low), high),)
    return (math.minimum(math.maximum(x, low), high),)


def _order(strict: bool) -> Rule:
    """Comparison in a total order: NaN comes last."""

    def rule(m, a, b):
        first, second = (a, b) if strict else (b, a)
        below = m.compare("flt", first, second)
        a_is_none, b_is_none = (
            m.compare("fne", first, first),
            m.compare("fne", second, second),
        )
        is_last = m.both(b_is_none, m.negate(a_is_none))
        less = m.either(below, is_last)
        return less if strict else m.negate(less)

    def of_whole(m, a, b):
        return m.compare("ilt" if strict else "ile", a, b)

    return _pick(d=rule, i=of_whole)


def _is_finite(m, a):
    infinity = m.builder.real(float("inf"))
    return m.compare("flt", m.function("fabs", a), infinity)


def _sign(m, a):
    below = m.compare("flt", a, ZERO)
    above = m.compare("flt", ZERO, a)
    return m.select(above, ONE, m.select(below, -ONE, a, "d"), "d")


def _isign(m, a):
    below = m.compare("ilt", a, ZERO)
    above = m.compare("ilt", ZERO, a)
    return m.select(above, ONE, m.select(below, -ONE, ZERO, "i"), "i")


def _imag(math, params, kinds, operands):
    return (operands[0][1],)


def _real(math, params, kinds, operands):
    return (operands[0][0],)


def _conj(math, params, kinds, operands):
    parts = operands[0]
    return parts if kinds[0] == "d" else (parts[0], -parts[1])


def _complex(math, params, kinds, operands):
    return operands[0][0], operands[1][0]


def _same(math, params, kinds, operands):
    return operands[0]


def _pow(math, params, kinds, operands):
    base, power = operands[0][0], operands[1][0]
    number = math.builder.number(power)
    if kinds[1] == "i":
        power = math.convert(power, "i", "d")
    elif number is not None and abs(number) in (0.25, 0.5):
        return (_square_roots(math, base, float(number)),)
    if number is not None and float(number).is_integer() and abs(number) <= 16:
        return (math.power(base, int(number)),)
    return (math.binary("pow", base, power),)


def _square_roots(math, base: int, power: float) -> int:
    """A number to the power 1/2 or 1/4, or one over that."""
    root = math.function("sqrt", base)
    if abs(power) == 0.25:
        root = math.function("sqrt", root)
    return math.div(ONE, root) if power < 0 else root


def _round(math, params, kinds, operands):
    # 1: to the nearest even number; 0: halves away from zero.
    even = int(params["rounding_method"]) == 1
    return (math.function("rint" if even else "round", operands[0][0]),)


ELEMENTWISE: dict[str, Rule] = {
    "add": _pick(d=Arithmetic.add, i=Arithmetic.iadd, c=_c_add, b=Arithmetic.either),
    "add_any": _pick(d=Arithmetic.add, i=Arithmetic.iadd, c=_c_add),
    "sub": _pick(d=Arithmetic.sub, i=lambda m, a, b: m.iadd(a, -b), c=_c_sub),
    "mul": _pick(d=Arithmetic.mul, i=Arithmetic.imul, c=_c_mul, b=Arithmetic.both),
    "div": _pick(d=Arithmetic.div, i=lambda m, a, b: m.ibinary("idiv", a, b), c=_c_div),
    "rem": _pick(
        d=lambda m, a, b: m.binary("fmod", a, b),
        i=lambda m, a, b: m.ibinary("irem", a, b),
    ),
    "neg": _pick(d=lambda m, a: -a, i=lambda m, a: -a, c=_c_neg),
    "abs": _pick(
        d=lambda m, a: m.function("fabs", a), i=lambda m, a: m.imax(a, -a), c=_c_abs
    ),
    "max": _pick(d=Arithmetic.maximum, i=Arithmetic.imax, b=Arithmetic.either),
    "min": _pick(d=Arithmetic.minimum, i=Arithmetic.imin, b=Arithmetic.both),
    "square": _pick(d=lambda m, a: m.mul(a, a), c=lambda m, a: _c_mul(m, a, a)),
    # 1 - a^2, of JAX 0.12 and newer, without what cancels near one.
    "one_minus_square": _pick(d=lambda m, a: m.mul(m.add(ONE, -a), m.add(ONE, a))),
    "rsqrt": _pick(d=lambda m, a: m.div(ONE, m.function("sqrt", a))),
    "logistic": _pick(d=lambda m, a: m.div(ONE, m.add(ONE, m.function("exp", -a)))),
    "atan2": _pick(d=lambda m, a, b: m.binary("atan2", a, b)),
    "nextafter": _pick(d=lambda m, a, b: m.binary("nextafter", a, b)),
    "pow": _pow,
    "integer_pow": _integer_pow,
    "sign": _pick(d=_sign, i=_isign),
    "is_finite": _pick(d=_is_finite),
    "eq": _compare("eq"),
    "ne": _compare("ne"),
    "lt": _compare("lt"),
    "le": _compare("le"),
    "gt": _compare("lt", swapped=True),
    "ge": _compare("le", swapped=True),
    "lt_to": _order(strict=True),
    "le_to": _order(strict=False),
    "and": _pick(b=Arithmetic.both, i=lambda m, a, b: m.ibinary("iand", a, b)),
    "or": _pick(b=Arithmetic.either, i=lambda m, a, b: m.ibinary("ior", a, b)),
    "xor": _pick(b=Arithmetic.differ, i=lambda m, a, b: m.ibinary("ixor", a, b)),
    "not": _pick(b=Arithmetic.negate, i=lambda m, a: m.iadd(-a, -ONE)),
    "shift_left": _pick(i=lambda m, a, b: m.ibinary("ishl", a, b)),
    "shift_right_arithmetic": _pick(i=lambda m, a, b: m.ibinary("isar", a, b)),
    "select_n": _select,
    "clamp": _clamp,
    "convert_element_type": _convert,
    "real": _real,
    "imag": _imag,
    "conj": _conj,
    "complex": _complex,
    "stop_gradient": _same,
    "copy": _same,
    "copy_p": _same,
    "optimization_barrier": _same,
    "reduce_precision": _same,
    "sharding_constraint": _same,
}
for _name in (
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log1p sqrt cbrt floor ceil "
    "erf erfc lgamma"
).split():
    ELEMENTWISE[_name] = _function(_name)
ELEMENTWISE["round"] = _round
