"""The queue of runs: order, progress, cancelling, failures, and processes that die."""

import os
import signal
import threading

import pytest
from studio_client import studio, wait_for

from lissom.studio.explanation import RequestError, explanation
from lissom.studio.jobs import Job, JobQueue
from lissom.studio.limits import StudioLimits
from lissom.studio.server import NEW_ROBOT, warm_run
from lissom.studio.worker import VERB, CallFailed, Worker


class ScriptedWorker(Worker):
    """A worker without a process: each run goes on until it is let go, stopped, or fails by its name."""

    def __init__(self):
        super().__init__()
        self.go_on = threading.Event()
        self.requests = []

    def call(self, function, data, limit_s, watch=None):
        self.requests.append(data)
        self._stopping.clear()
        watch({"t": 0.25, "t_end": 1.0, "picture": {"nodes": []}})
        while not self.go_on.wait(0.005):
            if self._stopping.is_set():
                partial = {"files": {"result": data["result"]}, "t_end": 0.25}
                reason = explanation("interrupted", "interrupted", partial=partial)
                raise CallFailed(reason)
        if data["scenario"] == "bad":
            raise CallFailed(explanation("bad input", "no such robot"))
        if data["scenario"] == "full disk":
            partial = {"files": {"rescued": "/tmp/run.nc"}, "t_end": 1.0}
            reason = "cannot be written; the run is in /tmp/run.nc"
            raise CallFailed(explanation("analysis failed", reason, partial=partial))
        return {"t_end": 1.0}


@pytest.fixture
def worker():
    return ScriptedWorker()


@pytest.fixture
def queue(worker):
    made = JobQueue(worker, StudioLimits(run_s=10.0, jobs=20, history=5))
    yield made
    made.close()


def add(queue, tmp_path, source="arm"):
    def job():
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.nc"
        path.touch()
        request = {"scenario": source, "result": str(path)}
        file = f"runs/{path.name}"
        return Job("simulate", source, source, request, {}, file, path)

    return queue.add(job).number


def states(queue):
    return {job["number"]: job["state"] for job in queue.jobs()}


def test_runs_go_one_after_the_other_in_their_order(queue, worker, tmp_path):
    numbers = [add(queue, tmp_path, f"arm{k}") for k in range(3)]
    assert wait_for(lambda: states(queue)[numbers[0]] == "running")
    assert [states(queue)[n] for n in numbers] == ["running", "queued", "queued"]
    worker.go_on.set()
    assert wait_for(lambda: set(states(queue).values()) == {"done"})
    assert [one["scenario"] for one in worker.requests] == ["arm0", "arm1", "arm2"]


def test_the_picture_of_a_run_is_there_until_it_ends(queue, worker, tmp_path):
    number = add(queue, tmp_path)
    assert wait_for(lambda: queue.job(number).picture == {"nodes": []})
    job = queue.jobs()[0]
    # The list counts pictures and does not contain them.
    assert job["pictures"] == 1 and "picture" not in job
    worker.go_on.set()
    assert wait_for(lambda: states(queue)[number] == "done")
    assert queue.job(number).picture is None


def test_progress_is_listed_and_counted_as_a_change(queue, tmp_path):
    before = queue.version
    number = add(queue, tmp_path)
    assert wait_for(lambda: queue.jobs()[0]["t_end"] == 1.0)
    job = queue.jobs()[0]
    assert (job["number"], job["t"]) == (number, 0.25)
    assert queue.version > before


def test_a_cancelled_run_saves_what_is_done(queue, tmp_path):
    number = add(queue, tmp_path)
    assert wait_for(lambda: queue.jobs()[0]["moving"] is not None)
    assert queue.cancel(number)
    assert wait_for(lambda: states(queue)[number] == "cancelled")
    assert queue.jobs()[0]["has_result"]
    assert not queue.cancel(number)


def test_a_run_that_is_cancelled_before_its_call_began_stops(queue, worker, tmp_path):
    begin = threading.Event()
    call = worker.call
    worker.call = lambda *data: begin.wait(10.0) and call(*data)
    number = add(queue, tmp_path)
    assert wait_for(lambda: states(queue)[number] == "running")
    # The call forgets it when it begins.
    assert queue.cancel(number)
    begin.set()
    assert wait_for(lambda: states(queue)[number] == "cancelled")


def test_a_run_that_waits_is_cancelled_without_a_trace(queue, worker, tmp_path):
    first, second = add(queue, tmp_path), add(queue, tmp_path)
    assert queue.cancel(second)
    assert states(queue)[second] == "cancelled"
    worker.go_on.set()
    assert wait_for(lambda: states(queue)[first] == "done")
    assert len(worker.requests) == 1
    # The names that were reserved for results are free again.
    assert not list(tmp_path.iterdir())


def test_a_run_that_fails_does_not_stop_the_next(queue, worker, tmp_path):
    bad, good = add(queue, tmp_path, "bad"), add(queue, tmp_path)
    worker.go_on.set()
    assert wait_for(lambda: states(queue)[good] == "done")
    assert states(queue)[bad] == "failed"
    failed = next(job for job in queue.jobs() if job["number"] == bad)
    assert failed["error"]["message"] == "no such robot"


def test_a_run_that_found_no_room_in_the_folder_has_failed_and_is_not_shown(
    queue, worker, tmp_path
):
    number = add(queue, tmp_path, "full disk")
    worker.go_on.set()
    assert wait_for(lambda: states(queue)[number] == "failed")
    (job,) = queue.jobs()
    assert not job["has_result"] and "the run is in" in job["error"]["message"]
    assert not list(tmp_path.iterdir())


def test_the_answer_of_an_analysis_is_stored_beside_the_list(queue, worker):
    job = Job("mode-map", "arm", "arm", {"scenario": "arm"}, {})
    number = queue.add(lambda: job).number
    worker.go_on.set()
    assert wait_for(lambda: states(queue)[number] == "done")
    (job,) = queue.jobs()
    assert job["call"] == "mode-map" and job["result"] is None
    assert not job["has_result"] and queue.job(number).answer == {"t_end": 1.0}
    assert "answer" not in job and queue.job(99) is None


def test_too_many_runs_are_refused(queue, tmp_path):
    for _ in range(20):
        add(queue, tmp_path)
    with pytest.raises(RequestError, match="20 runs wait"):
        add(queue, tmp_path)


def test_old_runs_are_forgotten_and_those_that_wait_are_not(queue, worker, tmp_path):
    worker.go_on.set()
    for _ in range(9):
        add(queue, tmp_path)
    assert wait_for(
        lambda: len(queue.jobs()) == 5 and set(states(queue).values()) == {"done"}
    )
    assert min(states(queue)) == 5


LONG = {"t_end": 2000, "output_dt": 0.01}  # nobody waits for its end

# --- with processes --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_killed_process_is_a_failed_run_and_not_the_end(tmp_path):
    made = studio(tmp_path, new_worker=Worker)
    body = {"source": "scenario:simple-pendulum", "changes": {"t_end": 0.05}}
    numbers = [
        made.client.request("POST", "/api/verbs/simulate", body).json["number"]
        for _ in range(2)
    ]
    worker = made.backend.runs
    assert wait_for(lambda: worker.process_id is not None, 30)
    assert wait_for(lambda: states(made.backend.queue)[numbers[0]] == "running", 30)
    os.kill(worker.process_id, signal.SIGKILL)
    queue = made.backend.queue
    assert wait_for(lambda: states(queue)[numbers[1]] == "done", 240)
    assert states(queue)[numbers[0]] == "failed"
    failed = next(job for job in queue.jobs() if job["number"] == numbers[0])
    assert failed["error"]["kind"] == "worker died"
    done = next(job for job in queue.jobs() if job["number"] == numbers[1])
    assert (tmp_path / done["file"]).stat().st_size > 1000
    made.backend.close()


@pytest.mark.slow
def test_a_call_that_takes_too_long_is_ended_and_the_next_is_answered():
    worker = Worker()
    with pytest.raises(CallFailed, match="took longer"):
        worker.call("studio.verb_calls:declarations", {}, 0.2)
    found = worker.call("describe.choices:choices", {}, 60.0)
    assert found["methods"][0] == "auto"
    worker.close()


@pytest.mark.slow
def test_a_first_run_finds_the_work_of_warming_done(tmp_path):
    made = studio(tmp_path, StudioLimits(call_s=300.0), Worker)
    warm_run(made.backend)
    request = {"name": "simulate", "source": str(NEW_ROBOT), "values": {}}
    request |= {"changes": {"payload.mass": 0.3}}
    request |= {"files": {"output": str(tmp_path / "a.nc")}}
    result = made.backend.call(made.backend.runs, VERB, **request)
    made.backend.close()
    # Another payload compiles nothing: compiled code is only looked up.
    assert result["complete"]
    assert result["wall_s"]["compile"] < 1.0


@pytest.mark.slow
def test_a_run_in_a_process_stops_when_it_is_cancelled_and_saves_its_part(tmp_path):
    made = studio(tmp_path, new_worker=Worker)
    body = {"source": "scenario:simple-pendulum", "changes": LONG}
    number = made.client.request("POST", "/api/verbs/simulate", body).json["number"]
    queue = made.backend.queue
    assert wait_for(lambda: queue.jobs()[0]["t"] > 0, 240)
    made.client.request("DELETE", f"/api/jobs/{number}")
    assert wait_for(lambda: states(queue)[number] == "cancelled", 60)
    job = queue.jobs()[0]
    assert job["has_result"] and 0 < job["error"]["partial"]["t_end"] < 2000
    assert (tmp_path / job["file"]).stat().st_size > 1000
    made.backend.close()
