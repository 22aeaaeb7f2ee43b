"""Warnings about inertia matrices that are not positive definite."""

from collections.abc import Iterator

import numpy as np

from ...solve.smallest_inertia import ADVICE, CUT_TERMS, SCALED
from ...types import Float
from .validity_warning import ValidityWarning

REMEDY = f"{CUT_TERMS}. {ADVICE}"


def inertia_warnings(
    smallest: Float[np.ndarray, " t"], t: Float[np.ndarray, " t"] | None = None
) -> Iterator[ValidityWarning]:
    """A motion of negative kinetic energy, from the smallest eigenvalue of the inertia in a state or over time."""
    beyond = np.flatnonzero(~(smallest > 0.0))
    if not len(beyond):
        return
    worst = int(beyond[np.argmin(smallest[beyond])])
    when, at = "", ""
    if t is not None:
        first, last = t[beyond[0]], t[beyond[-1]]
        spell = f"between {first:.4g} and {last:.4g} s, at {len(beyond)} output times"
        when = f" at {first:.4g} s" if len(beyond) == 1 else f" {spell}"
        at = "" if len(beyond) == 1 else f" at {t[worst]:.4g} s"
    message = (
        f"its inertia matrix is not positive definite{when}: the smallest eigenvalue is {smallest[worst]:.3g}{at} "
        f"({SCALED}; accepted: above 0)"
    )
    yield ValidityWarning(
        "positive inertia", "robot", message, float(smallest[worst]), 0.0, REMEDY
    )
