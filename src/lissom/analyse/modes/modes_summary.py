"""Modes in one table: frequency, damping, and which links and joints take part most."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dynamics.formulation import AbstractFormulation
from ...files.summary import Summary, count, number
from ...solve.model import Model

COLUMNS = ("mode", "frequency [Hz]", "damping [%]", "kind", "most energy in")


class ModesOrigin:
    """The robot and the coordinates about which modes are; two of them are never equal."""

    def __init__(self, model: Model, formulation: AbstractFormulation, x: Any):
        self.model = model
        self.formulation = formulation
        self.x = x


def modes_summary(modes: Any, title: str) -> Summary:
    """Table of undamped or damped modes."""
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
    facts = ()
    if modes.origin is not None:
        facts = (("formulation", str(modes.origin.model.modelled)),)
    title = f"{title}: {count(len(rows), 'mode')}"
    return Summary(title, facts, COLUMNS, tuple(rows))


def _largest(share: Mapping[str, np.ndarray], k: int) -> str:
    """The link or joint with the largest part in the kinetic energy of mode k."""
    if not share:
        return "-"
    name = max(share, key=lambda name: share[name][k])
    return f"{name} ({100 * share[name][k]:.0f} %)"
