"""What the docstrings of exported functions must hold: arguments, result, errors and an example that runs.

tests/test_reference_examples.py runs the examples."""

import inspect
import re

import pytest

import lissom as ls

# They only compute: what they are given was checked where it was made.
RAISE_NOTHING = {"closed_loop_poles", "doctor", "linear_matrices"}


def exported_functions() -> list[str]:
    return [name for name in dir(ls) if name[0].islower()]


def sections(docstring: str) -> dict[str, str]:
    """Texts of the sections of a docstring, by their titles."""
    parts = re.split(r"^(\w+):\n", docstring, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("name", exported_functions())
def test_an_exported_function_says_arguments_result_errors_and_an_example(name):
    function = getattr(ls, name)
    found = sections(inspect.getdoc(function) or "")
    wanted = {"Args", "Returns", "Raises", "Example"}
    if name in RAISE_NOTHING:
        wanted = wanted - {"Raises"}
    if not inspect.signature(function).parameters:
        wanted = wanted - {"Args"}
    assert wanted <= set(found)
    assert ">>>" in found["Example"]
    described = re.findall(r"^    (\w+): ", found.get("Args", ""), re.MULTILINE)
    assert described == list(inspect.signature(function).parameters)
