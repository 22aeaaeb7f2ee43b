"""Machine code in which every number is a vector of this processor: one robot, or one state, in each lane."""

import functools

import llvmlite.binding as llvm

from . import machine_code
from .lane_analysis import LaneForm, LaneForms
from .lane_text import lane_function_text
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

    Raises:
        Untranslatable: lanes cannot do it.
    """
    writer = _Writer(width)
    name = writer.write(LaneForms().of(function, shared), is_entry=True)
    # Only now is it known that there is a text of all of them: to make code of some would be in vain.
    for text in writer.texts:
        machine_code.load_text(*text)
    return name


class _Writer:
    """Writes functions for lanes, those that are called first."""

    def __init__(self, width: int):
        self.width = width
        self.names: dict[LaneForm, str] = {}
        self.texts: list[tuple[str, str, machine_code.Effort, list[str]]] = []

    def write(self, form: LaneForm, is_entry: bool = False) -> str:
        """Name of a function of which the text is there now."""
        for called in form.calls.values():
            if called not in self.names:
                self.names[called] = self.write(called)
        name, text = lane_function_text(form, self.width, self.names, is_entry)
        called = dict.fromkeys(self.names[other] for other in form.calls.values())
        # Its loops are vectors already: there is nothing in them for LLVM to improve.
        effort = machine_code.effort_without_loops(form.function)
        self.texts.append((name, text, effort, list(called)))
        return name
