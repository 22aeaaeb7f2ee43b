"""Which verbs a browser may ask for."""

import pytest

from lissom.studio.folder import FolderError
from lissom.studio.verb_calls import declarations
from lissom.studio.verb_routes import known_verb
from lissom.verbs.declared import declared
from lissom.verbs.registry import verbs


def test_a_browser_never_asks_for_a_verb_that_reads_files_of_the_machine():
    assert "doctor" not in declarations({}, None)
    for name, verb in verbs().items():
        if any(
            one.facts.by_position or one.facts.kind == "result"
            for one in declared(verb)
        ):
            assert not verb.in_studio, name
        if verb.in_studio:
            assert known_verb(name) is verb
            continue
        with pytest.raises(FolderError, match="no such verb"):
            known_verb(name)
