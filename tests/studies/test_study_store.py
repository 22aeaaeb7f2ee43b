"""The store of a study: whole chunks or none, nothing twice, and no mixing of studies."""

import errno
import json
import re

import numpy as np
import pytest
import xarray as xr

import lissom as ls
from lissom.files.digest_frame import FrameError
from lissom.files.hdf5_checksum import checksum_problem, has_checksum
from lissom.files.summary import number
from lissom.studies.chunk import decode, encode
from lissom.studies.engine import compute_missing, survey
from lissom.studies.pictures import plot_heat_map, plot_scatter
from lissom.studies.report import StudyResults, _numbers, report_page
from lissom.studies.store import ChunkStore, Plan, StoreError
from lissom.studies.sweep import finish_sweep
from lissom.studies.worker import compute_remotely
from lissom.studies.worst_cases import worst_cases

from .made_up_runs import E, MadeUpWorkers, content_of, numbers, study

SOME = 3  # chunks of seven


@pytest.fixture(scope="module")
def plan():
    return Plan.of(study())


def test_a_chunk_that_lost_a_byte_anywhere_is_not_read(plan):
    data = encode(content_of(plan, 0))
    assert decode(data).reasons == content_of(plan, 0).reasons
    for k in range(0, len(data), 37):
        damaged = data[:k] + bytes([data[k] ^ 1]) + data[k + 1 :]
        with pytest.raises(FrameError):
            decode(damaged)
    with pytest.raises(FrameError):
        decode(data[:-1])


def test_a_study_that_was_stopped_computes_only_what_is_missing(plan, tmp_path):
    store = ChunkStore(tmp_path / "s")
    first = MadeUpWorkers(stop_after=SOME)
    with pytest.raises(KeyboardInterrupt):
        compute_missing(plan, store, first)
    assert survey(plan, store).tally.done == SOME * 3
    second = MadeUpWorkers()
    found = compute_missing(plan, store, second)
    assert sorted(first.asked + second.asked) == list(range(plan.chunks))
    assert found.tally.done == 20 and found.tally.failed == 4
    third = MadeUpWorkers()
    compute_missing(plan, store, third)
    assert third.asked == []


def test_a_damaged_chunk_is_computed_anew(plan, tmp_path):
    store = ChunkStore(tmp_path / "s")
    compute_missing(plan, store, MadeUpWorkers())
    chunks = sorted(store.chunk_folder.glob("*/*.chunk"))
    good = chunks[2].read_bytes()
    chunks[2].write_bytes(good[: len(good) // 2])
    workers = MadeUpWorkers()
    compute_missing(plan, store, workers)
    assert len(workers.asked) == 1
    assert chunks[2].read_bytes() == good


def test_a_damaged_dataset_is_written_again_from_the_chunks(plan, tmp_path):
    store = ChunkStore(tmp_path / "s")
    results = finish_sweep(plan, store, compute_missing(plan, store, MadeUpWorkers()))
    good = results.file.read_bytes()
    assert has_checksum(results.file)
    results.file.write_bytes(good[:900] + bytes([good[900] ^ 8]) + good[901:])
    assert checksum_problem(results.file) is not None
    finish_sweep(plan, store, compute_missing(plan, store, MadeUpWorkers()))
    assert results.file.read_bytes() == good


def test_runs_that_never_settle_are_among_the_numbers_of_the_report(plan, tmp_path):
    store = ChunkStore(tmp_path / "s")
    results = finish_sweep(plan, store, compute_missing(plan, store, MadeUpWorkers()))
    data = results.data.load()
    settling = np.arange(20.0)
    settling[[3, 4, 5, 6, 7, 8, 9, 10, 11, 12]] = np.inf
    settling[0] = np.nan
    data["torque_peak"].values[:] = settling
    data["tip_deflection"].values[:] = np.arange(20.0)
    study_results = StudyResults(results.study, data, results.tally, {})
    # 9 finite numbers of 19: the median is the tenth.
    row = [*map(number, (1, 1.9, np.inf, np.inf, np.inf))]
    cells = re.findall(r"<td[^>]*>(.*?)</td>", _numbers(study_results))
    place = next(k for k, cell in enumerate(cells) if "torque_peak" in cell)
    assert cells[place + 1 : place + 8] == [*row, "19", "10"]
    place = next(k for k, cell in enumerate(cells) if "tip_deflection" in cell)
    assert cells[place + 1 : place + 8] == [
        "0",
        "0.95",
        "9.5",
        "18.05",
        "19",
        "20",
        "0",
    ]
    worst = worst_cases(results.study, data)
    (axes, *_) = plot_heat_map(results.study, data, ["torque_peak"], worst).get_axes()
    assert "10 infinite, 1 no number" in axes.get_title(loc="left")
    figure = plot_scatter(results.study, data, ["torque_peak"], worst)
    marks = [line for axes in figure.get_axes() for line in axes.get_lines()]
    infinite = [line for line in marks if line.get_gid() == "infinite"]
    assert [len(line.get_xdata()) for line in infinite] == [10, 10]
    page = report_page(study_results)
    assert "infinite" in page and "inf" in page


def test_a_damaged_record_of_a_study_is_refused(plan, tmp_path):
    store = ChunkStore(tmp_path / "s")
    compute_missing(plan, store, MadeUpWorkers())
    record = store.folder / "study.json"
    record.write_text(record.read_text().replace('"runs": 20', '"runs": 28'))
    with pytest.raises(ls.DescriptionError, match="is damaged: its checksum"):
        compute_missing(plan, store, MadeUpWorkers())


def test_a_changed_study_is_refused_with_what_changed(plan, tmp_path):
    store = ChunkStore(tmp_path / "s")
    compute_missing(plan, store, MadeUpWorkers(), lambda tally: None)
    other = Plan.of(study(over={E: "150:220:4 GPa", "payload.mass": "0:2:5 kg"}))
    before = sorted(store.chunk_folder.glob("*/*"))
    with pytest.raises(ls.DescriptionError) as refused:
        compute_missing(other, store, MadeUpWorkers())
    message = str(refused.value)
    assert "over.payload.mass.to was 1 kg, now 2 kg" in message
    assert "--store" in message
    assert sorted(store.chunk_folder.glob("*/*")) == before


def test_a_folder_of_something_else_is_left_alone(plan, tmp_path):
    (tmp_path / "letters.txt").write_text("mine")
    with pytest.raises(ls.DescriptionError, match="not the folder of a study"):
        compute_missing(plan, ChunkStore(tmp_path), MadeUpWorkers())
    assert [path.name for path in tmp_path.iterdir()] == ["letters.txt"]


def test_two_processes_do_not_compute_one_study(plan, tmp_path):
    store = ChunkStore(tmp_path / "s")
    store.begin(plan)
    with store.in_use(), pytest.raises(StoreError, match="another process"):
        compute_missing(plan, store, MadeUpWorkers())


def test_a_full_disk_stops_a_study_and_leaves_whole_chunks(plan, tmp_path, monkeypatch):
    from lissom.studies import store as module

    store = ChunkStore(tmp_path / "s")
    written = module.write_atomically

    def full(path, write):
        if len(store.present()) == SOME:
            raise OSError(errno.ENOSPC, "No space left on device")
        return written(path, write)

    monkeypatch.setattr(module, "write_atomically", full)
    with pytest.raises(StoreError, match="no room left on the disk"):
        compute_missing(plan, store, MadeUpWorkers())
    monkeypatch.undo()
    workers = MadeUpWorkers()
    compute_missing(plan, store, workers)
    assert len(workers.asked) == plan.chunks - SOME


def test_the_dataset_has_every_run_with_its_values_units_and_reasons(plan, tmp_path):
    store = ChunkStore(tmp_path / "s")
    results = finish_sweep(plan, store, compute_missing(plan, store, MadeUpWorkers()))
    with xr.open_dataset(results.file, engine="h5netcdf") as data:
        assert data.sizes["run"] == 20
        assert data["tip_deflection"].attrs["units"] == "m"
        assert data[E].attrs["units"] == "Pa"
        assert {E, "payload.mass"} <= set(data.coords)
        for k in (1, 7, 19):
            values = [float(data[key][k]) for key in (E, "payload.mass")]
            assert float(data["tip_deflection"][k]) == numbers(values)[0]
        assert np.isnan(data["tip_deflection"][0])
        assert "double-pendulum" in data.attrs["study"]
    assert results.failures() == dict.fromkeys((0, 5, 10, 15), "no load")
    laid_out = results.on_grid()
    assert laid_out["torque_peak"].dims == (E, "payload.mass")
    assert (
        laid_out["torque_peak"].sel({"payload.mass": 0.5}).values.tolist() == [0.5] * 4
    )


def test_the_worst_case_names_run_values_and_the_command_that_repeats_it(
    plan, tmp_path
):
    store = ChunkStore(tmp_path / "s")
    results = finish_sweep(plan, store, compute_missing(plan, store, MadeUpWorkers()))
    worst = results.worst()[0]
    # Softest and heaviest: the last payload of the first stiffness.
    assert (worst.metric, worst.run) == ("tip_deflection", 4)
    assert worst.values == {E: 150e9, "payload.mass": 1.0}
    assert worst.command == (
        "lissom simulate double-pendulum --set t_end=0.2 --set output_dt=0.1 "
        "--set 'links.*.beam.material.E=150000000000.0' --set payload.mass=1.0"
    )


def test_the_yield_counts_runs_that_keep_the_specification(tmp_path):
    bound = {"torque_peak": {"below": 0.6}}
    plan = Plan.of(study(specification=bound))
    store = ChunkStore(tmp_path / "s")
    results = finish_sweep(plan, store, compute_missing(plan, store, MadeUpWorkers()))
    (found,) = results.yields()
    # Of the loads 0, 0.25, 0.5, 0.75 and 1, two keep the bound and the run with none failed.
    assert found.part == pytest.approx(2 / 5)
    assert found.low < 0.4 < found.high


def test_the_names_of_chunks_follow_from_the_study_and_nothing_else(plan):
    fingerprint = plan.recipe.fingerprint
    again = Plan.of(study())
    assert again.recipe.fingerprint == fingerprint
    assert again.task(3).name(fingerprint) == plan.task(3).name(fingerprint)
    other = Plan.of(study(metrics=["tip_deflection"]))
    assert other.recipe.fingerprint != fingerprint


def test_the_status_of_a_study_counts_what_is_there(plan, tmp_path):
    store = ChunkStore(tmp_path / "s")
    with pytest.raises(KeyboardInterrupt):
        compute_missing(plan, store, MadeUpWorkers(stop_after=SOME))
    found = ls.sweep(str(store.folder), status=True)
    # The first run of every five has no load, and failed.
    tally = found.tally
    assert (tally.runs, tally.done, tally.failed, found.complete) == (20, 9, 2, False)
    with pytest.raises(ls.DescriptionError, match="is not the folder of a study"):
        ls.sweep(str(tmp_path), status=True)


def test_a_store_that_was_begun_with_an_old_word_for_zip_goes_on(tmp_path):
    over = {E: "150:220:20 GPa", "payload.mass": "0:1:20 kg"}
    store = ChunkStore(tmp_path / "s")
    with pytest.raises(KeyboardInterrupt):
        plan = Plan.of(study(over=over, sampling="zip"))
        compute_missing(plan, store, MadeUpWorkers(stop_after=SOME))
    record = store.folder / "study.json"
    written = json.loads(record.read_text())
    # Earlier versions wrote no checksum either.
    del written["sha256"]
    assert written["study"]["sampling"] == "zip"
    written["study"]["sampling"] = "together"
    record.write_text(json.dumps(written))
    assert ls.sweep(str(store.folder), status=True).tally.done == SOME * 3
    for word, left in (("zip", plan.chunks - SOME), ("together", 0)):
        plan, workers = Plan.of(study(over=over, sampling=word)), MadeUpWorkers()
        found = finish_sweep(plan, store, compute_missing(plan, store, workers))
        assert len(workers.asked) == left
        assert found.data.attrs["sampling"] == "zip"


def test_a_worker_with_another_version_or_other_files_computes_nothing(plan):
    recipe = json.dumps(plan.recipe.to_dict())
    with pytest.raises(RuntimeError, match="other files of the robot, or another"):
        compute_remotely(recipe, "of another version", plan.task(0)._asdict())


@pytest.mark.parametrize(
    "entries, words",
    [
        ({"tls_ca": "ca.pem"}, "belongs to the address tls://"),
        ({"tls_key": "gone", "cluster": "tls://head:8786"}, "gone: no such file"),
        ({"cluster": "head"}, "head: must be local, or the address"),
        ({"study": {"scenario": "double-pendulum"}}, "names no key"),
    ],
)
def test_what_is_wrong_with_a_request_is_said_before_anything_is_computed(
    tmp_path, entries, words
):
    data = {"study": study(), "store": str(tmp_path / "s"), **entries}
    with pytest.raises(ls.DescriptionError, match=words):
        ls.sweep(**data)
    assert list(tmp_path.iterdir()) == []
