"""Back ends are timed in turn, and the best time of each counts."""

import itertools

from lissom.bench.cases import Case
from lissom.bench.residual_times import best_in_turn, time_inside
from lissom.describe.scenario import Scenario


def test_jobs_run_in_turn_and_the_best_time_of_each_counts():
    order = []

    def job(name, times):
        told = itertools.cycle(times)

        def once():
            order.append(name)
            return next(told)

        return once

    jobs = {"a": job("a", [3.0, 1.0, 2.0]), "b": job("b", [5.0, 6.0, 4.0])}
    assert best_in_turn(jobs, 0.01) == {"a": 1.0, "b": 4.0}
    assert order[:4] == ["a", "b", "a", "b"]
    assert order.count("a") == order.count("b")


def test_a_residual_inside_compiled_code_takes_some_time():
    case = Case(Scenario.load("simple-pendulum"))
    best = time_inside(case.robot, case.state, ["native"], seconds=0.05)
    assert 0 < best["native"] < 1e-3
