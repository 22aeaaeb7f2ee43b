"""What a residual costs grows with the number of links, not with its square."""

import functools

import pytest

from benchmarks.speed.cost_of_links import (
    counted_residual,
    exponent,
    measure_links,
    model_of,
    residual,
    state_of_motion,
    traced_operations,
)

MOST = 1.3  # exponent; products over all pairs of links have two


@pytest.mark.parametrize("name", ["nonlinear", "erls-fem"])
def test_operations_of_a_residual_grow_with_the_number_of_links(name):
    counts = []
    for links in (8, 16):
        f = model_of(name, "consistent", links).formulation
        x, xd = state_of_motion(f)
        counts.append(traced_operations(functools.partial(residual, f), x, xd, xd))
    assert exponent((8, 16), counts) < MOST


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nonlinear", "erls-fem"])
def test_machine_code_of_a_residual_grows_with_the_number_of_links(name):
    counts = [counted_residual(model_of(name, "consistent", n)) for n in (8, 16)]
    native = [count["native_residual"] for count in counts]
    assert exponent((8, 16), native) < MOST
    # Most of what is traced is multiplied by zero.
    assert native[1] < 0.4 * counts[1]["residual"]


@pytest.mark.slow
def test_long_chains_are_measured_with_both_back_ends():
    rows = measure_links(repeat=1, links=(8, 16))
    assert len({(row["formulation"], row["terms"]) for row in rows}) == len(rows) / 2
    for row in rows:
        assert row["native_residual"] < row["residual"] < row["operations"]
        assert row["native_s"] < row["xla_s"]
        assert row["residual_exponent"] < MOST
