"""A few seconds of the fuzz run, always the same; `make fuzz` is the whole of it."""

import os
from random import Random

import numpy as np
import pytest

from fuzz import command_lines, files, schema
from fuzz.array_mutations import mutated_arrays
from fuzz.originals import originals
from fuzz.outcome import Case, Outcome
from fuzz.tally import Tally
from fuzz.text_mutations import MUTATIONS, mutated_text
from fuzz.tree_mutations import mutated_tree, yaml_text
from lissom.files.document import parse_document

FILES = range(60)
# Lines that end at the door: nothing is compiled.
LINES = range(20)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_broken_files_are_accepted_or_refused_in_words(folder):
    for seed in FILES:
        outcome = files.run(seed, folder)
        assert outcome.is_good, (seed, outcome.text)
        for file in folder.iterdir():
            file.unlink()


def test_every_file_that_is_broken_is_whole_before(folder):
    refused = {}
    for original in {(one.label, one.name): one for one in originals()}.values():
        for name, data in original.companions.items():
            (folder / name).write_bytes(data)
        (folder / original.name).write_bytes(original.data)
        outcome = files.opened(original, folder / original.name, "", Random(0))
        if outcome.verdict != "accepted":
            refused[original.name] = outcome.text
    assert not refused


def test_described_robots_come_back_equal_and_broken_ones_are_refused(folder):
    outcome = schema.run(1, folder)
    assert outcome.is_good and outcome.count >= schema.EXAMPLES


def test_a_file_broken_with_one_seed_is_broken_the_same_way_again():
    data = originals()[0].data
    first, second = (mutated_text(data, Random(7)) for _ in range(2))
    assert first == second != data


@pytest.mark.parametrize("mutation", tuple(dict.fromkeys(MUTATIONS)))
def test_mutations_of_text_take_files_without_content(mutation):
    for seed in range(20):
        assert isinstance(mutation(b"", Random(seed)), bytes)


def test_broken_data_is_written_as_yaml_that_says_the_same():
    tree = {"a": [1.0, {"b": "x: y"}], "c": {"d": None, "e": [[[2]]]}}
    assert parse_document(yaml_text(tree)).data == tree
    changed = mutated_tree(tree, Random(4))
    assert changed != tree


def test_broken_arrays_leave_the_original_alone():
    array = np.arange(6.0).reshape(2, 3)
    for seed in range(30):
        mutated_arrays({"a": array}, Random(seed))
    np.testing.assert_array_equal(array, np.arange(6.0).reshape(2, 3))


def test_the_table_counts_what_was_run_and_what_went_wrong():
    tally = Tally()
    tally.add(Case("files", 1), Outcome("refused", "robot files", "no"))
    tally.add(Case("files", 2), Outcome("hang", "robot files", "no end"))
    robots = Outcome("accepted", "robots: motion", count=2, names=("tree", "1", "2"))
    tally.add(Case("robots", 1), robots)
    assert tally.headline() == (
        "2 files, 2 robots over 1 structures: 0 tracebacks, 0 violations, 1 hangs, 0 crashes"
    )
    assert tally.failures == 1 and "robot files" in tally.table()


def test_command_lines_reach_every_verb():
    names = {name for name, _ in command_lines.commands()}
    lines = [command_lines.random_line(Random(seed)) for seed in range(600)]
    begun = {tuple(line[: len(name)]) for line in lines for name in names}
    assert names <= begun


def test_refused_command_lines_end_in_words(folder):
    os.environ.setdefault("LISSOM_CACHE", "off")
    for seed in LINES:
        line = [*command_lines.random_line(Random(seed)), "--no-such-option"]
        code, out, err = command_lines.answer(line)
        assert code in (0, 2) and out + err
        assert "Traceback" not in err and command_lines.UNEXPECTED not in err
