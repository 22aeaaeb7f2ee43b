"""Modes in tables and as plain data: frequency, damping, and which links and joints take part."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...describe.modelled import model_facts
from ...describe.robot_facts import has_damping, values_by_name
from ...files.summary import Summary, count, number, plain
from .modes_origin import UNDEFORMED, ModesOrigin

OF_JOINTS = (
    "Joints: kinetic energy of their motion alone, relative to the sum over all joints "
    "and the elastic motion."
)
COLUMNS = ("mode", "frequency [Hz]", "damping [%]", "kind", "most energy in")


def modes_summary(modes: Any, kind: str) -> Summary:
    """Tables of undamped or damped modes; `kind` is what they are called."""
    rows = [
        (
            str(k + 1),
            number(frequency),
            number(100 * modes.damping_ratio[k]),
            modes.stability[k],
            _largest(modes.share, k),
        )
        for k, frequency in enumerate(modes.frequency_hz)
    ]
    title = f"{kind}: {count(len(rows), 'mode')}"
    summary = Summary(title, (), COLUMNS, tuple(rows))
    if modes.origin is None:
        return summary
    origin = modes.origin
    name = origin.model.robot.name
    about = "undeformed robot" if origin.about == UNDEFORMED else origin.about
    joints = "joints locked" if origin.locked else "joints free"
    return summary._replace(
        title=f"{name}: {kind} about the {about}, {joints}",
        facts=tuple(_facts(origin)),
        parts=(_shares(modes),),
    )


def _facts(origin: ModesOrigin) -> Iterator[tuple[str, str]]:
    yield "model", str(origin.model.modelled)
    if not has_damping(origin.model.robot):
        yield "damping", "none in the robot"
    if origin.weight_note is not None:
        yield "note", origin.weight_note


def _shares(modes: Any) -> Summary:
    """Shares of all links and joints; locked joints take no part in any mode."""
    locked = modes.origin.locked
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


def modes_data(modes: Any) -> dict[str, Any]:
    """Modes as plain data, by the names of links and joints."""
    data: dict[str, Any] = {
        "frequency_hz": modes.frequency_hz,
        "damping_ratio": modes.damping_ratio,
        "share": _by_mode(modes.share),
        "strain_share": _by_mode(modes.strain),
        "eigenvalue": _exponents(modes.eigenvalue),
        "stability": modes.stability,
    }
    origin = modes.origin
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
    )


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
