"""The page that lists what is refused says all that the records of the formulations refuse, with their reasons."""

from pathlib import Path

import pytest

from lissom.describe.supported import SUPPORT, Support, refusals

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "refusals.md"
# Tests may have registered more: those come after the package's own.
OURS = ("erls-fem", "erls-cms", "dual-screw", "nonlinear")


@pytest.mark.parametrize("name", OURS)
def test_every_refusal_of_a_formulation_is_on_the_page_with_its_reason(name):
    text = PAGE.read_text()
    for refusal in refusals(SUPPORT[name]):
        assert refusal.reason != "not declared"
        row = f"| `{refusal.formulation}` | `{refusal.choice}` | {refusal.reason} |"
        assert row in text


def test_the_page_lists_nothing_that_is_taken():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    refused = [refusal for name in OURS for refusal in refusals(SUPPORT[name])]
    by_formulation = [row for row in rows if row.split("`")[1] in OURS]
    assert len(by_formulation) == len(refused)


def test_a_formulation_that_declares_little_is_refused_much():
    least = Support("least", default_basis="nodal")
    found = [refusal.choice for refusal in refusals(least)]
    assert found == [
        "reference: minimum-norm, zeroed",
        "terms: published, published-planar",
        "basis: assumed, craig-bampton",
        "stiffening: geometric",
        "parent: another link",
        "loops: closed chains",
        "segments: of a beam",
    ]
