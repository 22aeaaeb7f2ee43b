"""The smallest eigenvalue of the inertia matrix, where the equations of motion do not keep it above zero.

Equations cut after first order in the elastic coordinates have an inertia M_0 + M_1[eta], which is negative along some
motion where links bend far. Each row and column is scaled by the root of its diagonal entry, so that units do not
matter; by Sylvester's law of inertia the signs of the eigenvalues stay.
"""

from typing import Any

import numpy as np

from jaxnative.compilation import QUICK
from jaxnative.marks import noinline
from jaxnative.rows import RowsAhead

from ..algebra.eigen import symmetric_part
from ..dynamics import engine
from ..dynamics.formulation import on_branch_near
from ..types import Float, Real
from .inputs import Inputs
from .march import DrivenRobot
from .model import IndefiniteInertiaError, Model
from .outputs import RowsOfRun, map_run
from .record import rows_of_window
from .solution import Solution

# Rounding leaves a coordinate without mass some 1e-16 of either sign: that is said in other words.
ROUNDING = 1e-13
SCALED = "scaled to a unit diagonal"
CUT_TERMS = "These links bend too far for terms that are cut after first order"
ADVICE = "Use terms: consistent, or a gentler motion"


def smallest_eigenvalue(M: Float[Real, "n n"]) -> float:
    """The smallest eigenvalue of an inertia matrix scaled to a unit diagonal; infinite where there is no coordinate."""
    size = np.sqrt(np.abs(np.diag(M)))
    scale = np.where(size > 0.0, size, 1.0)
    scaled = symmetric_part(np.asarray(M)) / np.outer(scale, scale)
    if not np.all(np.isfinite(scaled)):
        return np.nan
    return float(np.linalg.eigvalsh(scaled).min(initial=np.inf))


def smallest_at(model: Model, q: Any, x: Any) -> float | None:
    """The smallest eigenvalue at joint coordinates q and coordinates x; None where the equations keep it above zero."""
    if model.formulation.equations.has_positive_inertia:
        return None
    joints, x = np.asarray(q)[None], np.asarray(x)[None]
    inertia = _inertia(model.formulation_at(q), joints, x)
    return smallest_eigenvalue(np.asarray(inertia)[0])


def smallest_over_run(
    model: Model, inputs: Inputs, solution: Solution
) -> Float[np.ndarray, " t"] | None:
    """The smallest eigenvalue at every output time reached; None where the equations keep it above zero."""
    if model.formulation.equations.has_positive_inertia:
        return None

    def of_rows(robot: DrivenRobot, t_end: float, rows: RowsOfRun) -> np.ndarray:
        inertia = np.asarray(_inertia(robot.formulation, rows.joints, rows.x))
        return np.array([smallest_eigenvalue(M) for M in inertia[: rows.count]])

    return map_run(model, inputs, solution, of_rows)


def require_positive_inertia(
    model: Model, M: Float[Real, "n n"], where: str = "here"
) -> None:
    """Refuse to find modes of an inertia that is negative along some motion.

    Raises:
        IndefiniteInertiaError: with the eigenvalue.
    """
    if model.formulation.equations.has_positive_inertia:
        return
    smallest = smallest_eigenvalue(M)
    if smallest < -ROUNDING:
        raise IndefiniteInertiaError(
            f"no modes: the inertia matrix is not positive definite {where}, its smallest eigenvalue is {smallest:.3g} "
            f"({SCALED}). {CUT_TERMS}. {ADVICE}"
        )


@noinline
def _inertia_at(formulation, joints, x):
    """M at one state; `joints` say on which branch a closed chain is."""
    return engine.inertia_at(on_branch_near(formulation, joints), x)


_inertia = RowsAhead(_inertia_at, rows_of_window, **QUICK)
