"""A linear model with names: matrices, files, other libraries."""

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.io
import scipy.signal
from jaxtyping import Complex, Float

from ...atomic import write_atomically
from ...solve.channels import UnknownNameError
from .linear_matrices import LinearMatrices
from .reduction import balanced_truncation, minimal_realisation

ENDINGS = (".npz", ".mat")
METHODS = ("zoh", "foh", "tustin", "euler", "backward_diff")
_SCIPY = {"tustin": "bilinear"}


@dataclass(frozen=True)
class Operating:
    """The point about which a model was linearised."""

    robot: str
    formulation: str
    q: Float[np.ndarray, " i"]  # joint coordinates of the ERLS
    qd: Float[np.ndarray, " i"]
    qdd: Float[np.ndarray, " i"]
    elastic: Float[
        np.ndarray, " d"
    ]  # elastic coordinates, in quasi-static balance unless a state was given
    encoder: Float[np.ndarray, " j"]
    torque: Float[np.ndarray, " j"]  # that hold this motion [N m or N]
    outputs: Float[np.ndarray, " p"]  # values of the outputs


@dataclass(frozen=True)
class LinearModel:
    """d(dx)/dt = A dx + B du, dy = C dx + D du about a point; every state, input and output has a name.

    `matrices` are those of second order, M dxdd + C dxd + K dx = F du, where the model has them: `lin.matrices.K`.
    """

    A: Float[np.ndarray, "s s"]
    B: Float[np.ndarray, "s u"]
    C: Float[np.ndarray, "p s"]
    D: Float[np.ndarray, "p u"]
    state_names: tuple[str, ...]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    operating: Operating
    matrices: LinearMatrices | None = None  # lost by discretisation and reduction
    dt: float = 0.0  # sampling time [s]; 0 for continuous time
    record: dict[str, Any] = field(
        default_factory=dict
    )  # what a reduction kept and left out

    @property
    def poles(self) -> Complex[np.ndarray, " s"]:
        """Eigenvalues of A [rad/s], or of the sampled system."""
        return np.linalg.eigvals(self.A).astype(complex)

    def input_index(self, name: str) -> int:
        """Place of an input; a joint's name stands for its torque."""
        names = self.input_names
        return _place(
            name
            if name in names
            else f"{name}.torque"
            if f"{name}.torque" in names
            else name,
            names,
            "input",
        )

    def output_index(self, name: str) -> int:
        """Place of an output."""
        return _place(name, self.output_names, "output")

    def to_control(self) -> Any:
        """The same as a `control.StateSpace` with the names of states, inputs and outputs.

        python-control allows no dot in a name: `lower/tip.ax` is called `lower/tip_ax` there.
        """
        import control

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
        if self.dt:
            raise ValueError(f"the model is already in steps of {self.dt:g} s")
        if not dt > 0.0 or not np.isfinite(dt):
            raise ValueError(f"dt must be a positive number of seconds, got {dt!r}")
        if method not in METHODS:
            raise ValueError(
                f"method must be one of {', '.join(METHODS)}, got {method!r}"
            )
        system = (self.A, self.B, self.C, self.D)
        stepped: Any = scipy.signal.cont2discrete(
            system, dt, _SCIPY.get(method, method)
        )
        A, B, C, D, _ = stepped
        return dataclasses.replace(
            self, A=A, B=B, C=C, D=D, matrices=None, dt=float(dt)
        )

    def minimal(self, tolerance: float = 1e-9) -> "LinearModel":
        """The model without states that no input moves or no output sees.

        Args:
            tolerance: part of the largest Hankel singular value below which a state counts as such.
        """
        A, B, C, record = minimal_realisation(
            self.A, self.B, self.C, self.dt, tolerance
        )
        return self._reduced(A, B, C, self.D, record)

    def balanced(self, order: int) -> "LinearModel":
        """Balanced truncation to `order` states: motions that do not die out are kept, the rest is reduced.

        The error of the frequency response is at most `record["error_bound"]`, twice the sum of the Hankel singular
        values left out.

        Raises:
            ValueError: more motions than `order` do not die out: rigid, unstable or undamped ones.
        """
        A, B, C, record = balanced_truncation(self.A, self.B, self.C, self.dt, order)
        return self._reduced(A, B, C, self.D, record)

    def _reduced(self, A, B, C, D, record) -> "LinearModel":
        names = tuple(f"z{k + 1}" for k in range(len(A)))
        return dataclasses.replace(
            self,
            A=A,
            B=B,
            C=C,
            D=D,
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
        cells = {
            k: np.array(list(v), dtype=object) if k.endswith("_names") else v
            for k, v in data.items()
        }
        return write_atomically(
            path, lambda file: scipy.io.savemat(file, cells, oned_as="column")
        )

    @classmethod
    def load(cls, path: Any) -> "LinearModel":
        """A model read back from its file."""
        if _ending(path) == ".npz":
            with np.load(path, allow_pickle=False) as file:
                data = {key: file[key] for key in file.files}
        else:
            data = {
                k: v
                for k, v in scipy.io.loadmat(path).items()
                if not k.startswith("__")
            }
        return _from_arrays(cls, data)

    def _as_arrays(self) -> dict[str, np.ndarray]:
        point = dataclasses.asdict(self.operating)
        second = (
            {}
            if self.matrices is None
            else {f"second_{k}": v for k, v in self.matrices._asdict().items()}
        )
        return {
            **{key: np.asarray(getattr(self, key)) for key in ("A", "B", "C", "D")},
            **{
                f"{key}_names": np.array(getattr(self, f"{key}_names"), dtype=str)
                for key in ("state", "input", "output")
            },
            **{key: np.asarray(value) for key, value in second.items()},
            **{f"point_{key}": np.asarray(value) for key, value in point.items()},
            "dt": np.asarray(self.dt),
            "record": np.array(json.dumps(self.record)),
        }


def _from_arrays(cls: type, data: dict[str, np.ndarray]) -> LinearModel:
    missing = [
        key for key in ("A", "B", "C", "D", "state_names", "point_q") if key not in data
    ]
    if missing:
        raise ValueError(
            f"not a linear model of lissom: {', '.join(missing)} is missing"
        )
    states, inputs, outputs = (
        _names(data[f"{key}_names"]) for key in ("state", "input", "output")
    )
    s, u, p = len(states), len(inputs), len(outputs)

    def text(key):
        return str(np.asarray(data[key]).ravel()[0])

    def vector(key):
        return np.asarray(data[f"point_{key}"], dtype=float).ravel()

    numbers = {
        key.name: vector(key.name)
        for key in dataclasses.fields(Operating)
        if key.type != "str" and key.type is not str
    }
    second = [data.get(f"second_{key}") for key in LinearMatrices._fields]

    def shape(key, rows, columns):
        return np.asarray(data[key], dtype=float).reshape(rows, columns)

    return cls(
        A=shape("A", s, s),
        B=shape("B", s, u),
        C=shape("C", p, s),
        D=shape("D", p, u),
        state_names=states,
        input_names=inputs,
        output_names=outputs,
        operating=Operating(
            robot=text("point_robot"), formulation=text("point_formulation"), **numbers
        ),
        matrices=None
        if second[0] is None
        else LinearMatrices(*(np.asarray(a).reshape(s // 2, -1) for a in second)),
        dt=float(np.asarray(data["dt"]).ravel()[0]),
        record=json.loads(text("record")),
    )


def _names(array: np.ndarray) -> tuple[str, ...]:
    """Names from an array of texts, or from the cells of a `.mat` file."""
    return tuple(
        str(np.asarray(entry).ravel()[0]) if np.ndim(entry) else str(entry)
        for entry in np.ravel(array)
    )


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
    ending = next(
        (ending for ending in ENDINGS if str(path).lower().endswith(ending)), None
    )
    if ending is None:
        raise ValueError(f"{path}: the name must end in {' or '.join(ENDINGS)}")
    return ending
