"""Samples: the right values, the same for the same seed, and Sobol indices that a closed form knows."""

import numpy as np
import pytest

from lissom.studies.axis import AxisEntries, quantiles
from lissom.studies.sampling import SAMPLERS, grid, samples
from lissom.studies.sensitivity import sobol

from .made_up_runs import study

AXES = {
    "a": AxisEntries.model_validate({"from": 1.0, "to": 3.0}),
    "b": AxisEntries.model_validate({"normal": [5.0, 0.5]}),
}


def test_the_last_key_of_a_grid_runs_fastest():
    axes = {
        "a": AxisEntries.model_validate({"from": 0.0, "to": 1.0, "count": 2}),
        "b": AxisEntries.model_validate({"values": [1, 2, 3]}),
    }
    assert grid(axes).settings(0, 4) == [[0.0, 1], [0.0, 2], [0.0, 3], [1.0, 1]]


@pytest.mark.parametrize("sampling", SAMPLERS)
def test_a_seed_gives_the_same_samples_again_and_another_seed_others(sampling):
    one, again, other = (samples(AXES, sampling, 64, seed) for seed in (3, 3, 4))
    assert np.array_equal(one.columns, again.columns)
    assert not np.array_equal(one.columns, other.columns)


@pytest.mark.parametrize("sampling", SAMPLERS)
def test_samples_have_the_mean_and_the_spread_of_their_distributions(sampling):
    a, b = samples(AXES, sampling, 4096, 1).columns
    # Six standard errors of plain random numbers; the others are nearer.
    error = 6 / np.sqrt(4096)
    assert a.min() >= 1 and a.max() <= 3
    assert a.mean() == pytest.approx(2, abs=error * 2 / np.sqrt(12))
    assert b.mean() == pytest.approx(5, abs=error * 0.5)
    assert b.std() == pytest.approx(0.5, rel=error)


def test_a_truncated_normal_quantity_stays_within_its_bounds():
    axis = AxisEntries.model_validate({"normal": [0.0, 1.0], "within": [-1, 2]})
    values = quantiles(axis, np.linspace(0, 1, 101))
    assert values[0] == pytest.approx(-1) and values[-1] == pytest.approx(2)


@pytest.mark.slow
def test_sobol_indices_are_those_of_the_ishigami_function():
    """f = sin a + 7 sin^2 b + 0.1 c^4 sin a: [Saltelli2008], S = 0.3139, 0.4424, 0; S_T = 0.5576, 0.4424, 0.2437."""
    ends = {"from": -np.pi, "to": np.pi}
    keys = ("upper", "lower", "initial.qd.0")
    changes = {"initial.qd": [0.0, 0.0], "t_end": 0.2}
    described = study(
        over=dict.fromkeys(keys, ends),
        changes=changes,
        sampling="saltelli",
        samples=4096,
        metrics=["tip_deflection"],
    )
    a, b, c = described.design.columns
    assert len(a) == 5 * 4096
    f = np.sin(a) + 7 * np.sin(b) ** 2 + 0.1 * c**4 * np.sin(a)

    class Column:
        values = f

    found = sobol(described, {"tip_deflection": Column}, "tip_deflection")
    first, total = [0.3139, 0.4424, 0.0], [0.5576, 0.4424, 0.2437]
    np.testing.assert_allclose(found.first, first, atol=0.02)
    np.testing.assert_allclose(found.total, total, atol=0.02)
    low, high = found.total_interval
    assert np.all(low < total) and np.all(high > total)


def test_sobol_indices_of_another_sampling_are_refused_with_the_remedy():
    with pytest.raises(ValueError, match="sampling: saltelli"):
        sobol(study(), {}, "tip_deflection")
