"""Table of the controllers and the modules of their laws; a module is imported when its controller is named."""

from importlib import import_module
from typing import Any

from ..controller_types import register_type

# `type` of a controller, and the module with its `LAW`.
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
