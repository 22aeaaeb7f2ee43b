"""Machine code in which every number is a vector of this processor: one member in each lane."""

import functools

import llvmlite.binding as llvm

from . import machine_code
from .lane_analysis import LaneForm, LaneForms
from .llvm_text import lane_function_text
from .program import Function


@functools.cache
def lane_count() -> int:
    """Doubles in the widest vector of this processor."""
    features = llvm.get_host_cpu_features()
    if features.get("avx512f"):
        return 8
    return 4 if features.get("avx") else 2


def load(function: Function, shared: tuple[bool, ...], width: int) -> str:
    """Puts a function for lanes and all it calls into this process; its name there.

    Args:
        function: of one lane.
        shared: arguments that are the same in all lanes.
        width: number of lanes.

    Raises:
        Untranslatable: lanes cannot do it.
    """
    writer = _Writer(width)
    name = writer.write(LaneForms().of(function, shared), is_entry=True)
    # Only now is it known that all of them have a text.
    for text in writer.texts:
        machine_code.load_text(*text)
    return name


class _Writer:
    """Writes functions for lanes, callees first."""

    def __init__(self, width: int):
        self.width = width
        self.names: dict[LaneForm, str] = {}
        self.texts: list[tuple[str, str, machine_code.Effort, list[str]]] = []

    def write(self, form: LaneForm, is_entry: bool = False) -> str:
        """Name of a function, its text added to `texts`."""
        for called in form.calls.values():
            if called not in self.names:
                self.names[called] = self.write(called)
        name, text = lane_function_text(form, self.width, self.names, is_entry)
        called = dict.fromkeys(self.names[other] for other in form.calls.values())
        # Its loops are vectors already: there is nothing in them for LLVM to improve.
        effort = machine_code.effort_without_loops(form.function)
        self.texts.append((name, text, effort, list(called)))
        return name
