"""A linear model with names: matrices, files, other libraries."""

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Bool, Complex

from ...atomic import write_atomically
from ...drawing import picture_of
from ...files.array_file import read_arrays
from ...files.mat_file import write_mat
from ...files.summary import Result, Summary, count, number, numbers
from ...solve.channels import UnknownNameError
from ...types import Float
from .linear_matrices import LinearMatrices
from .linear_summary import linear_data, linear_facts, unstable_poles
from .state_reduction import (
    StateMatrices,
    balanced_truncation,
    minimal_realisation,
)

ENDINGS = (".npz", ".mat")
METHODS = ("zoh", "foh", "tustin", "euler", "backward_diff")
_SCIPY = {"tustin": "bilinear"}
# A sampled pole below this is one of zero and the rounding of its neighbours.
AT_ZERO = 1e-12
POLES = ("Re pole [rad/s]", "Im [rad/s]", "frequency [Hz]", "damping [%]")
NAMED = ("state", "input", "output")  # what has names: state_names, ...
JOINT_NAMES = ("joints", "independent")  # fields of the operating point that hold names


@dataclass(frozen=True)
class OperatingPoint:
    """The point about which a model was linearised."""

    robot: str
    formulation: str
    q: Float[np.ndarray, " i"]  # joint coordinates of the ERLS
    qd: Float[np.ndarray, " i"]
    qdd: Float[np.ndarray, " i"]
    # Elastic coordinates, in quasi-static balance unless a state was given.
    elastic: Float[np.ndarray, " d"]
    encoder: Float[np.ndarray, " j"]
    torque: Float[np.ndarray, " j"]  # that hold this motion [N m or N]
    outputs: Float[np.ndarray, " p"]  # values of the outputs
    joints: tuple[str, ...] = ()  # of `encoder` and `torque`: all that move
    # Of `q`, `qd` and `qdd`: all that move, unless a closed chain ties some of them to the others.
    independent: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class LinearModel(Result):
    """d(dx)/dt = A dx + B du, dy = C dx + D du about a point; every state, input and output has a name.

    `matrices` are those of second order, M dxdd + C dxd + K dx = F du, where the model has them: `lin.matrices.K`.

    Example:
        >>> import lissom as ls
        >>> linear = ls.linearize("simple-pendulum", outputs=["rod.encoder"])
        >>> path = linear.save("pendulum.npz")
        >>> ls.LinearModel.load(path).to_dict()["outputs"]
        ['rod.encoder']
    """

    A: Float[np.ndarray, "s s"]
    B: Float[np.ndarray, "s u"]
    C: Float[np.ndarray, "p s"]
    D: Float[np.ndarray, "p u"]
    state_names: tuple[str, ...]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    operating: OperatingPoint
    matrices: LinearMatrices | None = None  # lost by discretisation and reduction
    dt: float = 0.0  # sampling time [s]; 0 for continuous time
    # Record of a reduction.
    record: dict[str, Any] = field(default_factory=dict)
    # Whose linear model it is; lost in a file.
    origin: Any = field(default=None, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Operating point, sizes, names and poles as plain data; the matrices go to a file."""
        return linear_data(self)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may be wrong with the model at its point, one line each."""
        return () if self.origin is None else self.origin.warnings(self)

    def summary(self) -> Summary:
        """Sizes, names, operating point and slowest poles."""
        point = self.operating
        sizes = ", ".join(
            count(len(names), kind)
            for kind, names in zip(
                NAMED,
                (self.state_names, self.input_names, self.output_names),
                strict=True,
            )
        )
        steps = f", in steps of {self.dt:g} s" if self.dt else ""
        known = linear_facts(self)
        facts = (
            ("about q", numbers(point.q)),
            ("model", known.get("model", point.formulation)),
            ("inputs", ", ".join(self.input_names) or "none"),
            ("outputs", ", ".join(self.output_names) or "none"),
        )
        if self._poles_at_zero.any():
            facts += (("poles at zero", str(self._poles_at_zero.sum())),)
        unstable = 0 if self.dt else unstable_poles(self.poles)
        if unstable:
            facts += (("unstable poles", str(unstable)),)
        if self.origin is not None and self.origin.weight_note is not None:
            facts += (("note", self.origin.weight_note),)
        title = f"LinearModel of {point.robot}: {sizes}{steps}"
        rows = tuple(self._rows_of_poles())
        return Summary(title, facts, POLES, rows, parts=(self._point_summary(),))

    def plot(self, path: Any = None) -> Any:
        """Figure of the poles; `path` writes it too."""
        return picture_of(self, path=path)

    def _point_summary(self) -> Summary:
        """Motion and torque of each joint at the operating point."""
        point = self.operating
        qd = dict(zip(point.independent, point.qd, strict=True))
        qdd = dict(zip(point.independent, point.qdd, strict=True))
        rows = []
        for k, joint in enumerate(point.joints):
            # Joints of a closed chain that follow others have a reading and a torque, and no rate of their own here.
            rates = [
                number(rate[joint]) if joint in rate else "-" for rate in (qd, qdd)
            ]
            reading, torque = number(point.encoder[k]), number(point.torque[k])
            rows.append((joint, reading, *rates, torque))
        columns = ("joint", "encoder", "speed", "acceleration", "torque")
        return Summary("Operating point", (), columns, tuple(rows))

    def _rows_of_poles(self) -> Iterator[tuple[str, ...]]:
        """Poles, slowest first, one of each pair."""
        poles = self.poles[~self._poles_at_zero]
        rate = np.log(poles) / self.dt if self.dt else poles
        upper = rate[np.imag(rate) >= 0]
        for pole in sorted(upper, key=abs):
            size = abs(pole)
            ratio = -pole.real / size if size else np.nan
            yield (
                number(pole.real),
                number(pole.imag),
                number(size / (2 * np.pi)),
                number(100 * ratio),
            )

    @property
    def _poles_at_zero(self) -> Bool[np.ndarray, " s"]:
        """Which poles of a sampled system are zero but for rounding: such motions end within a few steps."""
        return (np.abs(self.poles) < AT_ZERO) & bool(self.dt)

    @property
    def poles(self) -> Complex[np.ndarray, " s"]:
        """Eigenvalues of A [rad/s], or of the sampled system."""
        return np.linalg.eigvals(self.A).astype(complex)

    def input_index(self, name: str) -> int:
        """Place of an input; a joint's name stands for its torque."""
        names = self.input_names
        if name not in names and f"{name}.torque" in names:
            name = f"{name}.torque"
        return _place(name, names, "input")

    def output_index(self, name: str) -> int:
        """Place of an output."""
        return _place(name, self.output_names, "output")

    def to_control(self) -> Any:
        """The same as a `control.StateSpace` with the names of states, inputs and outputs.

        python-control allows no dot in a name: `lower/tip.ax` is called `lower/tip_ax` there.
        """
        try:
            import control
        except ModuleNotFoundError as failure:
            message = "to_control needs python-control: pip install 'lissom[control]'"
            raise ModuleNotFoundError(message, name=failure.name) from None
        return control.ss(
            self.A,
            self.B,
            self.C,
            self.D,
            self.dt,
            states=[_dotless(name) for name in self.state_names],
            inputs=[_dotless(name) for name in self.input_names],
            outputs=[_dotless(name) for name in self.output_names],
            name=_plain_name(self.operating.robot),
        )

    def discretize(self, dt: float, method: str = "zoh") -> "LinearModel":
        """The model in steps of dt.

        Args:
            dt: sampling time [s].
            method: `zoh`, inputs held over the step (exact); `foh`, inputs straight between samples; `tustin`, the
                trapezoidal rule; `euler`; `backward_diff`.
        """
        import scipy.signal  # slow to import

        if self.dt:
            raise ValueError(
                f"the model is already discrete, with steps of {self.dt:g} s"
            )
        if not dt > 0.0 or not np.isfinite(dt):
            raise ValueError(f"dt must be a positive number of seconds, got {dt!r}")
        if method not in METHODS:
            raise ValueError(
                f"method must be one of {', '.join(METHODS)}, got {method!r}"
            )
        system = (self.A, self.B, self.C, self.D)
        scheme = _SCIPY.get(method, method)
        stepped: Any = scipy.signal.cont2discrete(system, dt, scheme)
        A, B, C, D, _ = stepped
        return dataclasses.replace(
            self,
            A=A,
            B=B,
            C=C,
            D=D,
            matrices=None,
            dt=float(dt),
        )

    def minimal(self, tolerance: float = 1e-9) -> "LinearModel":
        """The model without states that no input moves or no output sees.

        Args:
            tolerance: part of the largest Hankel singular value below which a state counts as such.
        """
        system = StateMatrices(self.A, self.B, self.C)
        return self._reduced(*minimal_realisation(system, self.dt, tolerance))

    def balanced(self, order: int) -> "LinearModel":
        """Balanced truncation to `order` states: motions that do not die out are kept, the rest is reduced.

        The error of the frequency response is at most `record["error_bound"]`, twice the sum of the Hankel singular
        values left out.

        Raises:
            ValueError: more motions than `order` do not die out: rigid, unstable or undamped ones.
        """
        system = StateMatrices(self.A, self.B, self.C)
        return self._reduced(*balanced_truncation(system, self.dt, order))

    def _reduced(self, system: StateMatrices, record: dict[str, Any]) -> "LinearModel":
        """The model with other states; nothing reduces the feed-through D."""
        names = tuple(f"z{k + 1}" for k in range(system.states))
        return dataclasses.replace(
            self,
            A=system.A,
            B=system.B,
            C=system.C,
            state_names=names,
            matrices=None,
            record={**self.record, **record},
        )

    def save(self, path: Any) -> Any:
        """Write everything in full precision: `.npz` for NumPy, `.mat` for MATLAB and Octave."""
        ending = _ending(path)
        data: dict[str, Any] = self._as_arrays()
        if ending == ".npz":
            return write_atomically(
                path, lambda file: np.savez_compressed(file, **data)
            )
        # MATLAB reads names of unequal lengths as cells, which are arrays of objects.
        keys = [f"{kind}_names" for kind in NAMED]
        keys += [f"point_{field}" for field in JOINT_NAMES]
        for key in keys:
            names = list(data[key])
            data[key] = np.array(names, dtype=object)
        return write_mat(path, data)

    @classmethod
    def load(cls, path: Any) -> "LinearModel":
        """A model read back from its file."""
        _ending(path)
        return _from_arrays(read_arrays(path))

    def _as_arrays(self) -> dict[str, np.ndarray]:
        arrays = {}
        for key in "ABCD":
            arrays[key] = np.asarray(getattr(self, key))
        for kind in NAMED:
            key = f"{kind}_names"
            arrays[key] = np.array(getattr(self, key), dtype=str)
        if self.matrices is not None:
            for key, value in self.matrices._asdict().items():
                arrays[f"second_{key}"] = np.asarray(value)
        for key, value in dataclasses.asdict(self.operating).items():
            kind = str if key in JOINT_NAMES else None
            arrays[f"point_{key}"] = np.asarray(value, dtype=kind)
        arrays["dt"] = np.asarray(self.dt)
        arrays["record"] = np.array(json.dumps(self.record))
        return arrays


def _from_arrays(data: dict[str, np.ndarray]) -> LinearModel:
    needed = ("A", "B", "C", "D", "state_names", "point_q")
    missing = [key for key in needed if key not in data]
    if missing:
        raise ValueError(
            f"not a linear model of lissom: {', '.join(missing)} is missing"
        )
    states, inputs, outputs = (_names(data[f"{kind}_names"]) for kind in NAMED)
    s = len(states)
    u = len(inputs)
    p = len(outputs)

    def matrix(key, rows, columns):
        # A `.mat` file knows no empty matrices of a shape, and none of one dimension.
        return np.asarray(data[key], dtype=float).reshape(rows, columns)

    return LinearModel(
        A=matrix("A", s, s),
        B=matrix("B", s, u),
        C=matrix("C", p, s),
        D=matrix("D", p, u),
        state_names=states,
        input_names=inputs,
        output_names=outputs,
        operating=_operating_point(data),
        matrices=_second_order(data, s // 2),
        dt=float(_single(data, "dt")),
        record=json.loads(str(_single(data, "record"))),
    )


def _operating_point(data: dict[str, np.ndarray]) -> OperatingPoint:
    values: dict[str, Any] = {}
    for entry in dataclasses.fields(OperatingPoint):
        key = f"point_{entry.name}"
        if entry.name in ("robot", "formulation"):
            values[entry.name] = str(_single(data, key))
        elif entry.name in JOINT_NAMES:
            # Files of version 0.1 do not name the joints of the point.
            values[entry.name] = _names(data.get(key, np.zeros(0, dtype=str)))
        else:
            values[entry.name] = np.asarray(data[key], dtype=float).ravel()
    return OperatingPoint(**values)


def _second_order(data: dict[str, np.ndarray], n: int) -> LinearMatrices | None:
    if "second_M" not in data:
        return None
    parts = {}
    for key in LinearMatrices._fields:
        part = np.asarray(data[f"second_{key}"])
        parts[key] = part.reshape(n, -1)
    return LinearMatrices(**parts)


def _single(data: dict[str, np.ndarray], key: str) -> Any:
    """The one entry of an array: a `.mat` file makes every number and every text a matrix."""
    return np.asarray(data[key]).ravel()[0]


def _names(array: np.ndarray) -> tuple[str, ...]:
    """Names from an array of texts, or from the cells of a `.mat` file."""
    names = []
    for entry in np.ravel(array):
        cell = np.asarray(entry).ravel()
        names.append(str(cell[0]))
    return tuple(names)


def _place(name: str, names: tuple[str, ...], kind: str) -> int:
    if name not in names:
        raise UnknownNameError(
            name, f"the model has no such {kind}; it has {', '.join(names) or 'none'}"
        )
    return names.index(name)


def _dotless(name: str) -> str:
    return name.replace(".", "_")


def _plain_name(text: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in text)


def _ending(path: Any) -> str:
    for ending in ENDINGS:
        if str(path).lower().endswith(ending):
            return ending
    raise ValueError(f"{path}: the name must end in {' or '.join(ENDINGS)}")
