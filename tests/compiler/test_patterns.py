"""Zeros and ones that programs take for granted: few programs serve many models, and the next process knows them."""

import numpy as np

from jaxnative.compiled import Pattern, chosen_pattern
from jaxnative.program_cache import keep_pattern, patterns


def pattern(*known):
    return Pattern((np.array(known),))


def test_a_kept_program_is_taken_where_it_holds_and_knows_nearly_as_much():
    numbers = [np.array([0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 1.0])]
    own = pattern(0, 0, 0, 0, 0, -1, 1)
    nearly = pattern(0, 0, 0, 0, 0, -1, -1)
    vague = pattern(0, -1, -1, -1, -1, -1, -1)
    other = pattern(0, 0, 0, 0, 0, 0, 1)
    assert chosen_pattern(own, [], [nearly, vague], numbers) is nearly
    # It would be slow, or wrong.
    assert chosen_pattern(own, [], [vague], numbers) is own
    weaker = chosen_pattern(own, [], [other], numbers)
    assert weaker.known[0].tolist() == [0, 0, 0, 0, 0, -1, 1]
    assert weaker.holds_for(numbers)


def test_patterns_are_kept_for_the_next_process(monkeypatch, tmp_path):
    monkeypatch.setattr("jaxnative.code_cache.folder", lambda: tmp_path)
    assert patterns("key") == []
    known = (None, np.array([[0, -1], [1, 0]]))
    keep_pattern("key", known)
    keep_pattern("key", (None, np.array([[0, 0], [0, 0]])))
    first, second = patterns("key")
    assert first[0] is None
    np.testing.assert_array_equal(first[1], known[1])
    assert (
        Pattern(first).digest() == Pattern(known).digest() != Pattern(second).digest()
    )
    # What cannot be read is as good as nothing.
    (tmp_path / "key-patterns").write_bytes(b"damaged")
    assert patterns("key") == []
