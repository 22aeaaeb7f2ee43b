"""Functions of power series, by composition with the Taylor coefficients of the function at the constant term."""

from collections.abc import Callable

import numpy as np

from .. import series as s
from ..series import Series, add_series, compose, constant
from .arithmetic import divide

Coefficients = Callable[[s.Value, int], list[s.Value]]


def sine(x: s.Value, order: int) -> list[s.Value]:
    """Coefficients of sin about x."""
    sin = np.sin(x)
    cos = np.cos(x)
    return s.cycle((sin, cos, -sin, -cos), order)


def cosine(x: s.Value, order: int) -> list[s.Value]:
    """Coefficients of cos about x."""
    sin = np.sin(x)
    cos = np.cos(x)
    return s.cycle((cos, -sin, -cos, sin), order)


def hyperbolic_sine(x: s.Value, order: int) -> list[s.Value]:
    """Coefficients of sinh about x."""
    return s.cycle((np.sinh(x), np.cosh(x)), order)


def hyperbolic_cosine(x: s.Value, order: int) -> list[s.Value]:
    """Coefficients of cosh about x."""
    return s.cycle((np.cosh(x), np.sinh(x)), order)


def cube_root(x: s.Value, order: int) -> list[s.Value]:
    """Coefficients of the cube root about x; its value exists for negative x too."""
    higher = s.power(x, 1.0 / 3.0, order)[1:]
    return [np.cbrt(x), *higher]


def arc_cosine(x: s.Value, order: int) -> list[s.Value]:
    """Coefficients of acos about x: pi/2 - asin."""
    of_arc_sine = s.inverse_function(x, x, -1.0, -0.5, order)
    higher = [-c for c in of_arc_sine[1:]]
    return [np.arccos(x), *higher]


COEFFICIENTS: dict[str, Coefficients] = {
    "sin": sine,
    "cos": cosine,
    "sinh": hyperbolic_sine,
    "cosh": hyperbolic_cosine,
    "tan": lambda x, n: s.riccati(np.tan(x), 1.0, n),
    "tanh": lambda x, n: s.riccati(np.tanh(x), -1.0, n),
    "exp": s.exponential,
    "log": s.logarithm,
    "sqrt": lambda x, n: s.power(x, 0.5, n),
    "rsqrt": lambda x, n: s.power(x, -0.5, n),
    "cbrt": cube_root,
    "square": lambda x, n: s.power(x, 2, n),
    "atan": lambda x, n: s.inverse_function(np.arctan(x), x, 1.0, -1.0, n),
    "asin": lambda x, n: s.inverse_function(np.arcsin(x), x, -1.0, -0.5, n),
    "acos": arc_cosine,
    "asinh": lambda x, n: s.inverse_function(np.arcsinh(x), x, 1.0, -0.5, n),
    "atanh": lambda x, n: s.inverse_function(np.arctanh(x), x, -1.0, -1.0, n),
}


def evaluate(m, a: Series, coefficients: Coefficients) -> Series:
    """A function of a series, from its Taylor coefficients."""
    order = 0 if a.constant else m.order
    return compose(m, a, coefficients(a.value, order))


def _rule(coefficients: Coefficients) -> Callable[..., Series]:
    return lambda m, params, a: evaluate(m, a, coefficients)


def integer_power(m, params, a: Series) -> Series:
    """Whole power of a series."""
    exponent = params["y"]
    return evaluate(m, a, lambda x, order: s.power(x, exponent, order))


def power(m, params, a: Series, b: Series) -> Series:
    """a^b: by the power's own series if b is one number, otherwise exp(b log a)."""
    if _is_one_number(b):
        exponent = float(b.value.flat[0])
        return evaluate(m, a, lambda x, order: s.power(x, exponent, order))
    log_a = evaluate(m, a, s.logarithm)
    exponent = s.multiply(m, b, log_a)
    return evaluate(m, exponent, s.exponential)


def _is_one_number(b: Series) -> bool:
    if not b.constant or not b.value.size:
        return False
    first = b.value.flat[0]
    return bool((b.value == first).all())


def absolute(m, params, a: Series) -> Series:
    """Absolute value, by the sign of the constant term."""
    sign = np.where(a.value < 0, -1.0, 1.0)
    return a.each(lambda data: data * sign)


def angle(m, params, y: Series, x: Series) -> Series:
    """atan2(y, x): the angle of the constant terms, and the angle between that direction and (x, y)."""
    x0 = x.value
    y0 = y.value
    # Components of (x, y) along the direction (x0, y0) and across it, both times its length.
    across = add_series([_times(y, x0), _times(x, -y0)])
    along = add_series([_times(x, x0), _times(y, y0)])
    tangent = divide(m, {}, across, along)
    further = evaluate(m, tangent, COEFFICIENTS["atan"])
    return add_series([constant(np.arctan2(y0, x0)), further])


def _times(a: Series, factor: s.Value) -> Series:
    return a.each(lambda data: data * factor)


RULES = {
    **{name: _rule(coefficients) for name, coefficients in COEFFICIENTS.items()},
    "integer_pow": integer_power,
    "pow": power,
    "abs": absolute,
    "atan2": angle,
}
