"""What a name of the library means in the studio: a robot in the default formulation, or a scenario in its own."""

import json

import numpy as np
import pytest
from studio_client import studio, wait_for

from lissom.commands.cli import main
from lissom.describe.supported import DEFAULT_FORMULATION

NAME = "simple-pendulum"  # a robot, and a scenario that says erls-fem
ONLY_SCENARIO = "anthropomorphic-free-fall"
OWN = "erls-fem"
MAP = {"over": [{"name": "rod", "start": 0.0, "stop": 0.5, "points": 2}], "count": 1}


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    made = studio(tmp_path_factory.mktemp("names"))
    yield made
    made.backend.close()


def requested(house, path, body):
    answer = house.client.request("POST", path, body)
    assert answer.status in (200, 202), answer.body
    return answer


def finished(house, path, body):
    """The answer of a long analysis, once it is there."""
    number = requested(house, path, body).json["number"]

    def state():
        jobs = house.client.get("/api/jobs").json["jobs"]
        return next(job["state"] for job in jobs if job["number"] == number)

    assert wait_for(lambda: state() not in ("queued", "running"), 120)
    assert state() == "done"
    return house.client.get(f"/api/jobs/{number}/answer").json


QUESTIONS = {
    "pose": lambda house, source: (
        requested(house, "/api/pose", {"source": source}).json
    ),
    "modes at a pose": lambda house, source: requested(
        house, "/api/modes", {"source": source, "values": {"count": 1}}
    ).json["modes"],
    "modes": lambda house, source: (
        requested(
            house, "/api/verbs/modes", {"source": source, "values": {"count": 1}}
        ).json
    ),
    "linear model": lambda house, source: (
        requested(house, "/api/verbs/linearize", {"source": source}).json
    ),
    "map": lambda house, source: finished(
        house, "/api/verbs/mode-map", {"source": source, "values": MAP}
    ),
}


@pytest.mark.parametrize("source", [f"library:{NAME}", f"scenario:{NAME}"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_an_analysis_is_one_of_the_robot_in_the_default_formulation(
    house, question, source
):
    assert QUESTIONS[question](house, source)["formulation"] == DEFAULT_FORMULATION


@pytest.mark.parametrize("source", [f"library:{NAME}", f"scenario:{NAME}"])
def test_matrices_are_those_of_the_default_formulation(house, source, tmp_path):
    body = {"source": source, "ending": ".npz"}
    file = tmp_path / "matrices.npz"
    file.write_bytes(requested(house, "/api/verbs/matrices/file", body).body)
    with np.load(file) as data:
        assert str(data["formulation"]) == DEFAULT_FORMULATION


def test_a_name_that_is_a_scenario_alone_keeps_its_formulation(house):
    body = {"source": f"scenario:{ONLY_SCENARIO}", "values": {"count": 1}}
    answer = requested(house, "/api/verbs/modes", body).json
    assert answer["formulation"] == OWN


def test_the_command_line_means_the_same(capsys):
    for verb in ("static", "modes", "linearize", "matrices"):
        assert main([verb, NAME, "--json"]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert answer["formulation"] == DEFAULT_FORMULATION, verb
    assert main(["simulate", NAME, "--t-end", "0.01", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["formulation"] == OWN


def test_a_scenario_runs_in_its_own_formulation(house):
    body = {"source": f"scenario:{NAME}", "changes": {"t_end": 0.01}}
    assert finished(house, "/api/verbs/simulate", body)["formulation"] == OWN
