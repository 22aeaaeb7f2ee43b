"""The recipe "How to add a control law" of CONTRIBUTING.md, followed: one file and one call offer a law in files."""

import importlib
from pathlib import Path

import numpy as np
import own_law
import pytest

import lissom as ls
from lissom import controller_types
from lissom.control.law_table import LAWS
from lissom.control.laws import register_law
from lissom.describe.controllers import CONTROLLERS
from lissom.describe.forms import file_forms

BRAKE = {"type": "brake", "damping": [0.4, 0.2]}
SCENARIO = {
    "robot": "double-pendulum",
    "formulation": "nonlinear",
    "t_end": 0.05,
    "output_dt": 0.01,
}


@pytest.fixture
def offered(monkeypatch):
    """The law is known while a test runs."""
    known = dict(controller_types.controller_types())
    monkeypatch.setattr(controller_types, "_types", known)
    register_law(own_law.LAW)


def test_the_recipe_in_contributing_names_what_its_example_uses():
    root = Path(__file__).parents[2]
    recipe = (root / "CONTRIBUTING.md").read_text()
    recipe = recipe.partition("## How to add a control law")[2].partition("\n## ")[0]
    example = Path(own_law.__file__).read_text()
    assert len(example.splitlines()) < 60
    for name in ("AbstractLaw", "sensors", "Part", "findings", "Literal", "LAW = "):
        assert name in recipe and name in example, name
    assert "DescribedLaw" in recipe and "register_law(LAW)" in recipe
    assert "tests/contracts/own_law.py" in recipe


def test_a_scenario_with_it_runs_as_the_law_alone_does(offered):
    described = ls.run_scenario(
        ls.Scenario.from_dict({**SCENARIO, "controller": BRAKE})
    )
    model = ls.Model("double-pendulum", "nonlinear")
    law = own_law.OwnLaw(np.array(BRAKE["damping"]), None)
    alone = ls.simulate(model, model.at(), t_end=0.05, output_dt=0.01, torque=law)
    np.testing.assert_array_equal(described.data["q"], alone.data["q"])
    free = ls.simulate(model, model.at(), t_end=0.05, output_dt=0.01)
    assert np.abs(np.asarray(described.data["q"] - free.data["q"])).max() > 1e-6


def test_a_wrong_file_is_refused_by_line_and_key(offered, tmp_path):
    file = tmp_path / "braked.yaml"
    file.write_text(
        "robot: double-pendulum\n"
        "controller:\n"
        "  type: brake\n"
        "  damping: [0, 0]\n"
        "  samples: 1 ms\n"
    )
    with pytest.raises(ls.DescriptionError) as failure:
        ls.Scenario.load(file)
    (unknown,) = failure.value.problems
    assert (unknown.line, unknown.field) == (5, "controller.samples")
    assert "did you mean 'sample'?" in unknown.message
    file.write_text(file.read_text().replace("samples", "sample"))
    with pytest.raises(ls.DescriptionError, match="brakes no joint") as failure:
        ls.Scenario.load(file)
    assert failure.value.problems[0].line == 4


def test_forms_show_it_and_messages_name_it(offered):
    form = file_forms()["controller"].forms[-1]
    assert (form.type, form.about) == ("brake", "A brake on every joint.")
    assert [field.key for field in form.fields] == ["damping", "sample"]
    with pytest.raises(ls.DescriptionError, match="hybrid, brake, did you mean"):
        ls.Scenario.from_dict({**SCENARIO, "controller": {"type": "brak"}})


def test_without_it_the_type_is_unknown():
    with pytest.raises(ls.DescriptionError, match="must be one of pd, .*, hybrid"):
        ls.Scenario.from_dict({**SCENARIO, "controller": BRAKE})


@pytest.mark.parametrize("name", LAWS)
def test_a_row_of_the_table_is_a_file_with_a_law(name):
    module = importlib.import_module(f"lissom.control.{LAWS[name]}")
    description, build = module.LAW
    assert CONTROLLERS[name] is description
    assert description.__module__ == build.__module__ == module.__name__
    (word,) = description.model_fields["type"].annotation.__args__
    assert word == name
    # The table imports laws when they are named; a law that imported the table would close a circle.
    source = Path(module.__file__).read_text()
    assert "law_table" not in source and "from .laws" not in source
