"""What studies cost beside their runs."""

import pytest

from benchmarks.speed.speed_tables import studies_table
from benchmarks.speed.study_engine import engine_share

MEASURED = {
    "runs": 512,
    "span": 1.0,
    "run_s": 0.03,
    "engine_s": 3e-4,
    "engine_share": 0.01,
    "one_worker_s": 9.0,
    "two_workers_s": 5.0,
    "speed_up": 1.8,
    "rounds": 5,
    "cluster_runs": 256,
}


def test_the_table_says_what_the_engine_and_a_second_worker_cost_and_bring():
    table = studies_table(MEASURED)
    assert "1.00 %" in table.note and "1.80 times" in table.note
    without = {key: MEASURED[key] for key in list(MEASURED)[:5]}
    table = studies_table(without)
    assert "Dask workers are" not in table.note


@pytest.mark.slow
def test_the_engine_takes_less_than_two_percent_of_real_runs():
    """Runs of the double pendulum over 1 s, which take ten milliseconds and more."""
    measured = engine_share(512)
    print(measured)
    assert measured["run_s"] > 0.01
    assert measured["engine_share"] < 0.02
