"""A simulated run: numbers by name, files, pictures."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import jax.numpy as jnp
import numpy as np

from ..atomic import write_atomically
from ..files.errors import nearest
from ..files.hdf5_checksum import with_checksum
from ..files.result_check import check_result_file
from ..files.summary import Result, Summary
from ..solve.channels import UnknownNameError
from ..solve.feedback import ControlState
from ..solve.state import NAMES, OPTIONAL, State
from .run_columns import (
    columns,
    csv_text,
    names_of_nodes,
    node_label,
    quantities,
    usual,
)
from .run_summary import run_data, run_summary
from .run_table import RunTable

if TYPE_CHECKING:
    from xarray import Dataset

    from ..show.page import Page


MOST_NAMES = 20  # in an error message


class SimulationError(RuntimeError):
    """A run that did not reach its end; `run` holds the part that was computed."""

    def __init__(self, message: str, run: "Run"):
        super().__init__(message)
        self.run = run


def unknown_name(kind: str, name: str, names: Iterable[str]) -> UnknownNameError:
    """The error about a name that a result does not hold."""
    known = list(names)
    hint = nearest(name, known) or "."
    shown = ", ".join(known[:MOST_NAMES])
    more = ", ..." if len(known) > MOST_NAMES else ""
    return UnknownNameError(name, f"no such {kind}{hint} There are: {shown}{more}")


class Interrupted(SimulationError):
    """A run stopped from the keyboard."""


class Run(Result):
    """Result of a simulation: `run.data` is the xarray.Dataset that `save` writes.

    Args:
        data: the dataset, or the table from which it is made at its first use.

    Example:
        >>> import lissom as ls
        >>> run = ls.simulate("simple-pendulum", [0.3], t_end=0.01)
        >>> path = run.save("run.nc")
        >>> ls.Run.load(path).to_dict()["warnings"] == list(run.warnings)
        True
    """

    def __init__(self, data: "Dataset | RunTable"):
        self._source = data
        self._control: ControlState | None = None  # of its sampled law at the end
        # Of a saved run: all notes about it, those known only at its end, and its files.
        self.notes: tuple[str, ...] = ()
        self.closing_notes: tuple[str, ...] = ()
        self.files: dict[str, str] = {}

    def summary(self) -> Summary:
        """Joints and tips at the end, energies, how it was computed, closing notes and files."""
        return run_summary(self)

    def to_dict(self) -> dict[str, Any]:
        """The final state, how it was computed, notes, warnings and files, as plain data."""
        return run_data(self)

    @property
    def data(self) -> "Dataset":
        """All numbers with their names and units."""
        if isinstance(self._source, RunTable):
            self._source = self._source.dataset()
        return self._source

    @property
    def facts(self) -> dict[str, Any]:
        """What was run, how, and how it ended: the attributes of `data`."""
        return self._source.attrs

    def values(self, name: str) -> np.ndarray:
        """The values of one variable or coordinate of `data`."""
        if name not in self.names:
            raise unknown_name("quantity", name, self.names)
        source = self._source
        if isinstance(source, RunTable):
            return source.values(name)
        return source[name].values

    @property
    def names(self) -> list[str]:
        """Names of all variables and coordinates."""
        source = self._source
        if isinstance(source, RunTable):
            return source.names
        return [str(name) for name in source.variables]

    def labels(self, coordinate: str) -> list[str]:
        """Names along a coordinate: `joint`, `link`, `node`, `kind` (of energy), `coordinate`."""
        return [str(name) for name in self.values(coordinate)]

    @property
    def t(self) -> np.ndarray:
        """Output times [s]."""
        return self.values("time")

    @property
    def q(self) -> np.ndarray:
        """Joint coordinates of the ERLS over time (time, joint)."""
        return self.values("q")

    @property
    def energy_residual(self) -> float:
        """Largest gap in the energy balance, against the largest energy of the run."""
        sizes = {kind: np.abs(self.energy(kind)).max() for kind in self.labels("kind")}
        residual = sizes.pop("residual")
        # A robot at rest without gravity has no energy at all: its residual is 0.
        return float(residual / max(*sizes.values(), 1e-300))

    @property
    def complete(self) -> bool:
        """True if the run reached its end."""
        return bool(self.facts["complete"])

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about the run, one line each."""
        return tuple(self.facts.get("warnings", "").splitlines())

    def trajectory(self) -> tuple[np.ndarray, np.ndarray]:
        """Output times [s] and what the encoders read at each of them (time, joint)."""
        return self.t, self.values("encoder")

    def position(self, node: str) -> np.ndarray:
        """World position of a node over time (time, 3) [m]; `link/tip` is a link's last node."""
        return self.values("position")[:, self._place("node", self._node(node))]

    def velocity(self, node: str) -> np.ndarray:
        """World velocity of a recorded node over time (time, 3) [m/s]."""
        return self._of_recorded("velocity", node)

    def acceleration(self, node: str) -> np.ndarray:
        """World acceleration of a recorded node over time (time, 3) [m/s^2]."""
        return self._of_recorded("acceleration", node)

    def _of_recorded(self, quantity: str, node: str) -> np.ndarray:
        label = self._node(node)
        recorded = self.labels("recorded") if "recorded" in self.names else []
        if label not in recorded:
            message = f"its {quantity} was not recorded: run with record={[*recorded, node]!r}"
            raise UnknownNameError(node, message)
        return self.values(quantity)[:, recorded.index(label)]

    def energy(self, kind: str) -> np.ndarray:
        """Energy of one kind over time [J]: kinetic, strain, gravity, input, dissipated, residual."""
        return self.values("energy")[:, self._place("kind", kind)]

    def _place(self, coordinate: str, name: str) -> int:
        """Position of a name along a coordinate.

        Raises:
            UnknownNameError: there is no such name.
        """
        names = self.labels(coordinate)
        if name not in names:
            raise unknown_name(coordinate, name, names)
        return names.index(name)

    def _node(self, node: str) -> str:
        """The name of a node in the data, where tips have their number."""
        names = self.labels("node")
        label = node_label(names, node)
        if label not in names:
            raise unknown_name("node", node, names_of_nodes(names))
        return label

    def plot(self, path: str | Path | None = None):
        """Figure of joint angles, tip path, nodal displacements, energies and torques."""
        from ..show.plot import plot_run  # slow to import, and few runs are drawn

        return plot_run(self.data, path)

    @overload
    def animate(self, path: None = None, *, scale: float | None = None) -> "Page": ...

    @overload
    def animate(self, path: str | Path, *, scale: float | None = None) -> Path: ...

    def animate(self, path: str | Path | None = None, *, scale: float | None = None):
        """One self-contained HTML page with the moving robot: a file, or without a path what notebooks show inline."""
        from ..show.viewer import animate, moving_page

        if path is None:
            return moving_page(self.data, scale=scale)
        return animate(self.data, path, scale=scale)

    def to_csv(self, path: str | Path, quantities: Sequence[str] | None = None) -> Path:
        """A table with one row for each output time; `quantities` are names such as `q`, `position`, `elastic`.

        Raises:
            UnknownNameError: the run holds no such quantity.
        """
        wanted = usual(self.data) if quantities is None else quantities
        text = csv_text(self.data, self._known(wanted))
        return write_atomically(path, lambda file: file.write(text.encode()))

    def to_pandas(self, quantity: str | None = None) -> Any:
        """A `pandas.DataFrame` over time: of one quantity such as `position`, or of the usual ones."""
        import pandas

        wanted = usual(self.data) if quantity is None else (quantity,)
        names = self._known(wanted)
        table = dict(columns(self.data, names))
        time = table.pop("time")
        return pandas.DataFrame(table, index=pandas.Index(time, name="time [s]"))

    def _known(self, names: Sequence[str]) -> list[str]:
        """The names, if the run holds these quantities over time."""
        held = quantities(self.data)
        for name in names:
            if name not in held:
                raise unknown_name("quantity", name, held)
        return list(names)

    def state(self, k: int = -1) -> State:
        """The state at output time k, the last one by default: `simulate` continues from it.

        Raises:
            ValueError: the run has no such time, or does not hold the rates of its links.
        """
        count = len(self.t)
        if not -count <= k < count:
            raise ValueError(f"k: {k}: the run has {count} output times")
        if "elastic_rate" not in self.names:
            raise ValueError(
                "the file is of an older version and holds no rates of elastic coordinates: run it again"
            )
        parts: dict[str, Any] = {
            field: jnp.asarray(self.values(name)[k])
            for field, name in NAMES.items()
            if name not in OPTIONAL
        }
        return State(**parts, independent=self._independent(float(self.t[k])))

    def initial(self, k: int = -1) -> dict[str, Any]:
        """The state at output time k as the key `initial` of a scenario, whose run continues from it."""
        state = self.state(k)
        return {
            "time": float(self.t[k]),
            "q": state.q.tolist(),
            "qd": state.qd.tolist(),
            "elastic": state.elastic.tolist(),
            "elastic_rate": state.elastic_d.tolist(),
        }

    def _independent(self, t: float) -> tuple[int, ...] | None:
        """Numbers of the joints of a closed chain that are coordinates at a time, None of an open one."""
        chosen = None
        for line in filter(None, self.facts.get("independent", "").split("; ")):
            names, _, since = line.removesuffix(" s").rpartition(" from ")
            if float(since) <= t * (1 + 1e-5):
                chosen = names.split(", ")
        if chosen is None:
            return None
        return tuple(map(self.labels("joint").index, chosen))

    def save(self, path: str | Path) -> Path:
        """NetCDF-4 file that `xarray.open_dataset` and `lissom simulate` read."""
        content = self.netcdf()
        return write_atomically(path, lambda file: file.write(content))

    def write(self, path: str | Path) -> Path:
        """A NetCDF file, or a table where the name ends in .csv."""
        is_table = Path(path).suffix.lower() == ".csv"
        return self.to_csv(path) if is_table else self.save(path)

    def netcdf(self) -> bytes:
        """The content of the NetCDF file, with its checksum."""
        source = self._source
        if isinstance(source, RunTable):
            return with_checksum(source.netcdf())
        return with_checksum(bytes(source.to_netcdf(engine="h5netcdf")))

    @classmethod
    def load(cls, path: str | Path) -> "Run":
        """A run read back from its file.

        Raises:
            ArrayFileError: the file is damaged, or not of this kind.
        """
        # Brings xarray.
        from .node_index import dataset_of_file

        check_result_file(path)
        return cls(dataset_of_file(path))
