"""The words that a scenario accepts, as forms offer them."""

from lissom.describe import Scenario
from lissom.describe.choices import choices
from lissom.describe.material import library_materials
from lissom.describe.supported import SUPPORT


def test_every_offered_word_is_accepted_by_a_scenario():
    offered = choices()
    plain = Scenario.load("simple-pendulum")
    for method in offered["methods"]:
        assert plain.replace({"solver.method": method}).solver.method == method
    for start in offered["starts"]:
        assert plain.replace({"initial.elastic": start}).initial.elastic == start
    assert set(offered["starts"]) == {"zero", "static"}
    assert set(offered["formulations"]) == set(SUPPORT)


def test_materials_have_the_values_of_their_file():
    by_name = {material["name"]: material for material in library_materials()}
    steel = by_name["steel"]
    assert (steel["E"], steel["nu"], steel["density"]) == (2.1e11, 0.3, 7850)
    assert by_name["nylon"]["yield_stress"] == 5.0e7
