"""The equations of motion of a robot at a state, by names: what `lissom matrices` shows and writes."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import equinox as eqx
import numpy as np

from ..describe.modelled import model_facts
from ..describe.robot_facts import values_by_name
from ..files.summary import Result, Summary, plain
from ..parameters import Balanced, Pose, Speeds
from ..solve.arguments import ModelLike, model_from
from ..solve.model import Model
from ..solve.robot_matrices import RobotMatrices
from ..solve.smallest_inertia import smallest_at
from ..solve.state import State
from .validity.inertia import inertia_warnings
from .validity.validity_warning import warning_lines


@dataclass(frozen=True, repr=False)
class EquationsOfMotion(Result):
    """M xdd + coriolis + damping + elastic + gravity = B tau at a state; `matrices` holds the numbers."""

    model: Model
    state: State
    matrices: RobotMatrices

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """That the inertia is not positive definite, if so."""
        smallest = smallest_at(self.model, self.state.q, self.state.x)
        if smallest is None:
            return ()
        return warning_lines(inertia_warnings(np.array([smallest])))

    def to_dict(self) -> dict[str, Any]:
        """State, sizes and names; the numbers go to a file."""
        joints, system = self.model.joint_names, self.matrices
        data = model_facts(self.model.robot.name, self.model.modelled) | {
            "q": values_by_name(joints, self.state.q),
            "qd": values_by_name(joints, self.state.qd),
            "arrays": {
                name: {"shape": np.shape(array), "printed": self.matrices.printed[name]}
                for name, array in system.arrays.items()
            },
            "coordinates": system.coordinates,
            "joints": system.joints,
            "links": system.links,
            "nodes": system.nodes,
        }
        return plain(data)

    def summary(self) -> Summary:
        """Size and meaning of each array."""
        rows = []
        for name, array in self.matrices.arrays.items():
            size = " x ".join(str(length) for length in array.shape)
            rows.append((name, size, self.matrices.printed[name]))
        title = f"{self.model.robot.name}: M xdd + coriolis + damping + elastic + gravity = B tau"
        facts = (
            ("model", str(self.model.modelled)),
            ("coordinates", ", ".join(self.matrices.coordinates)),
        )
        return Summary(title, facts, ("array", "size", "meaning"), tuple(rows))

    def save(self, path: Any) -> Any:
        """Write arrays, names and equation numbers in full precision: `.npz` for NumPy, `.mat` for MATLAB, Octave."""
        return self.matrices.save(path)


def matrices(
    model: ModelLike,
    state: Pose = None,
    *,
    qd: Speeds = None,
    balanced: Balanced = False,
) -> EquationsOfMotion:
    """Inertia, Coriolis, stiffness, damping, Jacobians and force vectors at a state.

    Args:
        model: the robot: a `Model`, or a `Robot`, a library name or a file in the default formulation.
        state: joint coordinates q, zero by default, or a `State`, which brings its own rates.
        qd: joint speeds [rad/s or m/s].
        balanced: links in balance under gravity; by default they are undeformed.

    Returns:
        The equations with names and equation numbers; `.matrices.M` and its like are the numbers.

    Raises:
        ValueError: speeds beside a state, which has its own.

    Example:
        >>> import lissom as ls
        >>> ls.matrices("double-pendulum", [0.0, 0.5]).matrices.coordinates[:2]
        ('upper', 'lower')
    """
    model = model_from(model)
    if not isinstance(state, State):
        moving = model.at(state, qd)
        if balanced:
            held = model.static(state)
            moving = eqx.tree_at(lambda s: s.qd, held, moving.qd)
        state, qd = moving, None
    return EquationsOfMotion(model, state, model.matrices(state, qd))
