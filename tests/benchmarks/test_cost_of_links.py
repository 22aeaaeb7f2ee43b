"""What a residual costs grows with the number of links, not with its square."""

import pytest

from lissom.benchmarks.cost_of_links import (
    counted_residual,
    exponent,
    measure_links,
    model_of,
)

MOST = 1.3  # exponent


@pytest.mark.parametrize("name", ["nonlinear", "erls-fem"])
def test_operations_of_a_residual_grow_with_the_number_of_links(name):
    links = (8, 16)
    counts = [counted_residual(model_of(name, "consistent", n)) for n in links]
    # Products over all pairs of links would double these exponents.
    assert exponent(links, [count["residual"] for count in counts]) < MOST
    assert exponent(links, [count["native_residual"] for count in counts]) < MOST


@pytest.mark.slow
def test_long_chains_are_measured_with_both_back_ends():
    rows = measure_links(repeat=1, links=(8, 16))
    assert len({(row["formulation"], row["terms"]) for row in rows}) == len(rows) / 2
    for row in rows:
        assert row["native_residual"] < row["residual"] < row["operations"]
        assert row["native_s"] < row["xla_s"]
        assert row["residual_exponent"] < MOST
