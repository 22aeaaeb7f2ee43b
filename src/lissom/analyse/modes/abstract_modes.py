"""Base of undamped and damped modes: their table, plain data, pictures and warnings."""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import equinox as eqx
import numpy as np

from ...atomic import write_atomically
from ...describe.defaults import SHOWN_MODES
from ...describe.modelled import model_facts
from ...describe.robot_facts import has_damping, values_by_name
from ...drawing import animation_of, picture_of
from ...files.errors import refused
from ...files.summary import Result, Summary, count, number, plain
from ...parameters import Locked
from ...types import Float
from .modes_origin import UNDEFORMED, ModesOrigin

OF_JOINTS = (
    "Joints: kinetic energy of their motion alone, relative to the sum over all joints "
    "and the elastic motion."
)
COLUMNS = ("mode", "frequency [Hz]", "damping [%]", "kind", "most energy in")


class AbstractModes(Result, eqx.Module):
    """Modes about a point of a motion, in order of their frequency; m modes."""

    kind: eqx.AbstractClassVar[str]  # what they are called in their title
    frequency_hz: eqx.AbstractVar[Float[np.ndarray, " m"]]
    damping_ratio: eqx.AbstractVar[Float[np.ndarray, " m"]]
    eigenvalue: eqx.AbstractVar[Any]
    stability: eqx.AbstractVar[tuple[str, ...]]
    names: eqx.AbstractVar[tuple[str, ...]]  # of the coordinates
    # Part of each link and joint in the kinetic energy, and of each link and controller in the potential energy.
    share: eqx.AbstractVar[dict[str, Float[np.ndarray, " m"]]]
    strain: eqx.AbstractVar[dict[str, Float[np.ndarray, " m"]]]
    # The point about which they are; None where only numbers were computed.
    origin: eqx.AbstractVar[ModesOrigin | None]

    def summary(self) -> Summary:
        """Frequencies, damping and where the energy is."""
        rows = [
            (
                str(k + 1),
                number(frequency),
                number(100 * self.damping_ratio[k]),
                self.stability[k],
                _largest(self.share, k),
            )
            for k, frequency in enumerate(self.frequency_hz)
        ]
        title = f"{self.kind}: {count(len(rows), 'mode')}"
        summary = Summary(title, (), COLUMNS, tuple(rows))
        origin = self.origin
        if origin is None:
            return summary
        name = origin.model.robot.name
        about = "undeformed robot" if origin.about == UNDEFORMED else origin.about
        joints = "joints locked" if origin.locked else "joints free"
        return summary._replace(
            title=f"{name}: {self.kind} about the {about}, {joints}",
            facts=tuple(_facts(self, origin)),
            parts=(_shares(self, origin.locked),),
        )

    def to_dict(self) -> dict[str, Any]:
        """Modes as plain data, by the names of links and joints."""
        data: dict[str, Any] = {
            "frequency_hz": self.frequency_hz,
            "damping_ratio": self.damping_ratio,
            "share": _by_mode(self.share),
            "strain_share": _by_mode(self.strain),
            "eigenvalue": _exponents(self.eigenvalue),
            "stability": self.stability,
        }
        origin = self.origin
        if origin is None:
            return plain(data)
        model = origin.model
        return plain(
            model_facts(model.robot.name, model.modelled)
            | {
                "about": origin.about,
                "locked": origin.locked,
                "q": values_by_name(model.joint_names, origin.state.q),
            }
            | data
            | {
                "damping": has_damping(model.robot),
                "warnings": origin.warnings,
                "weight_note": origin.weight_note,
            }
            | origin.reference_facts(self.frequency_hz)
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may be wrong with the modes or their robot, one line each."""
        return () if self.origin is None else self.origin.warnings

    def plot(self, count: int = SHOWN_MODES, path: Any = None) -> Any:
        """Figure of the lowest mode shapes; `path` writes it too."""
        return picture_of(self, count=count, path=path)

    def save(self, path: Any) -> Any:
        """Write everything in full precision: `.npz`; shares by part and mode, with the names of the parts."""
        if not str(path).lower().endswith(".npz"):
            raise refused("path", str(path), "the name must end in .npz")
        arrays: dict[str, Any] = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Mapping):
                arrays[f"{field.name}_names"] = np.array(list(value), dtype=str)
                value = list(value.values())
            if field.name != "origin":
                arrays[field.name] = np.asarray(value)
        return write_atomically(path, lambda file: np.savez_compressed(file, **arrays))

    def animate(self, path: Any, mode: int = 1) -> Any:
        """A page on which the robot swings in one mode, counted from 1, slowed down and enlarged."""
        return animation_of(self, mode=mode, path=path)


def _facts(modes: AbstractModes, origin: ModesOrigin) -> Iterator[tuple[str, str]]:
    yield "model", str(origin.model.modelled)
    reference = origin.reference_facts(modes.frequency_hz)
    if reference:
        said = (reference["reference"], reference["reference_note"])
        yield "reference", "; ".join(filter(None, said))
    if not has_damping(origin.model.robot):
        yield "damping", "none in the robot"
    if origin.weight_note is not None:
        yield "note", origin.weight_note


def _shares(modes: AbstractModes, locked: Locked) -> Summary:
    """Shares of all links and joints; locked joints take no part in any mode."""
    shares = {
        name: values
        for name, values in modes.share.items()
        if not (locked and name.startswith("joint "))
    }
    rows = [
        (str(k + 1), *(f"{100 * values[k]:.1f}" for values in shares.values()))
        for k in range(len(modes.frequency_hz))
    ]
    remark = "" if locked else OF_JOINTS
    title = "Shares of the kinetic energy [%]"
    return Summary(title, (), ("mode", *shares), tuple(rows), remark)


def _by_mode(shares: Mapping[str, Any]) -> list[dict[str, float]]:
    """Shares (mode,) of every part, mode by mode."""
    table = np.asarray(list(shares.values()))
    return [dict(zip(shares, column.tolist(), strict=True)) for column in table.T]


def _exponents(eigenvalue: Any) -> np.ndarray:
    """Lambda of each mode [rad/s]: damped modes have it, undamped ones omega^2 = -lambda^2."""
    values = np.asarray(eigenvalue)
    if np.iscomplexobj(values):
        return values
    return np.sqrt(-values.astype(complex))


def _largest(share: Mapping[str, np.ndarray], k: int) -> str:
    """The link or joint with the largest part in the kinetic energy of mode k."""
    if not share:
        return "-"
    name = max(share, key=lambda name: share[name][k])
    return f"{name} ({100 * share[name][k]:.0f} %)"
