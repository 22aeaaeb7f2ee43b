"""Which verbs a browser may ask for, and what of them it may say."""

import pytest
from pydantic import ValidationError

from lissom.studio.explanation import RequestError
from lissom.studio.verb_calls import checked_values, declarations
from lissom.studio.verb_routes import known_verb
from lissom.verbs.declared import declared, request_type
from lissom.verbs.registry import verbs

# How the command line calls what names a file, a folder or a machine.
PLACES = ("NC", "RUN.nc", "RUN.nc ...", "YAML", "FILE", "FE_FILE", "FOLDER", "DIR")
PLACES += ("PNG", "HTML", "JSON", "CSV", "PEM", "ADDRESS", "STUDY", "SCENARIO")
PLACES += ("ROBOT.urdf",)


def test_a_browser_chooses_nothing_of_this_machine():
    assert "doctor" not in declarations()
    closed = set()
    for name, verb in verbs().items():
        if not verb.in_studio:
            with pytest.raises(RequestError, match="no such verb"):
                known_verb(name)
            continue
        assert known_verb(name) is verb
        fields = request_type(verb, from_browser=True).model_fields
        offered = {one["name"] for one in declarations()[name]["parameters"]}
        for one in declared(verb):
            facts = one.facts
            if facts.by_position or facts.kind == "result" or facts.metavar in PLACES:
                closed.add((name, one.name))
                assert one.name not in fields and one.name not in offered
                with pytest.raises(ValidationError, match="not permitted"):
                    checked_values(name, {one.name: "/etc/passwd"})
        # Files come back under a name of the studio's own.
        assert not fields.keys() & {output.name for output in verb.writes}
    assert {("mode-map", "along"), ("sweep", "study"), ("sweep", "cluster")} < closed
    assert {("simulate", "start"), ("control compare", "results")} < closed
    processes = request_type(verbs()["sweep"], from_browser=True).model_fields
    assert "workers" not in processes


@pytest.mark.parametrize(
    "values",
    [
        {"count": 13},
        {"over": 3 * [{"name": "a", "start": 0, "stop": 1}]},
        {"over": [{"name": "a", "start": 0, "stop": 1, "points": 61}]},
    ],
)
def test_a_map_for_a_browser_is_no_larger_than_its_row_says(values):
    with pytest.raises(ValidationError):
        checked_values("mode-map", values)


@pytest.mark.parametrize(
    "values",
    [{"over": {f"k{i}": [0] for i in range(7)}}, {"metrics": 13 * ["sag"]}],
)
def test_a_study_for_a_browser_is_no_larger_than_its_row_says(values):
    with pytest.raises(ValidationError):
        checked_values("sweep", values)
