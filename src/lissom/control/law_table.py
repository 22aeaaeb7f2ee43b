"""Which file of this room has the description and the law of which controller; a law is imported when it is named."""

from importlib import import_module
from typing import Any

from ..controller_types import register_type

# What a file writes as `type`, and the module whose `LAW` it is.
LAWS = {
    "pd": "pd",
    "pid": "pid",
    "computed-torque": "computed_torque",
    "lqr": "lqr",
    "lqg": "lqg",
    "mpc": "predictive",
    "scheduled-lqr": "scheduled",
    "ekf": "extended_kalman",
    "mixed-norm": "mixed_norm",
    "delayed-reference": "delayed_reference",
    "hybrid": "hybrid",
}


def _law_in(module: str) -> Any:
    return import_module(f".{module}", __package__).LAW


for _name, _module in LAWS.items():
    register_type(_name, lambda module=_module: _law_in(module))
