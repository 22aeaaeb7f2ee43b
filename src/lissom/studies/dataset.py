"""All results of a study in one labelled file, written chunk by chunk."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import h5netcdf
import h5py
import numpy as np

from .. import __version__
from ..atomic import write_atomically
from ..describe.scenario import Scenario
from ..files.hdf5_checksum import append_checksum
from ..runs.start import scenario_times
from .chunk import ChunkContent, ChunkTask
from .columns import TIME, Column
from .store import ChunkStore, Plan, cannot_write

RUN = "run"
FAILURE, REASON = "failure", "failure_reason"
ROWS = 65_536  # of a block in the file
BLOCK = 4_000_000  # numbers of a block of rows, at most


def write_dataset(plan: Plan, store: ChunkStore, names: list[str], path: Path) -> Path:
    """The file with all runs, their values and their numbers; memory holds one chunk at a time.

    Raises:
        StoreError: it cannot be written.
    """

    def write(file: Any) -> None:
        # HDF5 looks back at what it has written: the draft is opened by its name.
        with h5netcdf.File(file.name, "w") as data:
            _fill(data, plan, store, names)
        append_checksum(file.name)

    try:
        return write_atomically(path, write)
    except OSError as failure:
        raise cannot_write(path, failure) from None


def _fill(data: h5netcdf.File, plan: Plan, store: ChunkStore, names: list[str]) -> None:
    study, columns = plan.study, plan.recipe.columns
    data.attrs["study"] = json.dumps(plan.record()["study"])
    data.attrs["scenario"] = json.dumps(plan.recipe.scenario)
    data.attrs["lissom"] = __version__
    data.attrs["analysis"] = study.analysis
    data.attrs["sampling"] = "table" if study.table is not None else study.sampling
    data.dimensions = {RUN: study.design.count, **_dimensions(columns)}
    _write_keys(data, plan)
    _write_times(data, plan)
    for column in columns:
        _new_variable(data, column, study.design.count)
    data.create_variable(FAILURE, (RUN,), "i4")
    data[FAILURE].attrs["long_name"] = f"0, or the place in {REASON} counted from 1"
    reasons: dict[str, int] = {}
    for task, content in _contents(plan, store, names):
        rows = slice(task.first, task.first + len(content.reasons))
        for name, numbers in content.columns.items():
            data.variables[name][rows] = numbers
        places = [_place(reasons, reason) for reason in content.reasons]
        data.variables[FAILURE][rows] = np.asarray(places, dtype=np.int32)
    _write_reasons(data, reasons)


def _contents(
    plan: Plan, store: ChunkStore, names: list[str]
) -> Iterator[tuple[ChunkTask, ChunkContent]]:
    for number, name in enumerate(names):
        yield plan.task(number), store.read(name)


def _dimensions(columns: tuple[Column, ...]) -> dict[str, int]:
    return {c.dimension: c.size for c in columns if c.dimension and c.size}


def _new_variable(data: h5netcdf.File, column: Column, count: int) -> None:
    width = column.size or 1
    dims = (RUN,) if column.dimension is None else (RUN, column.dimension)
    rows = min(count, ROWS, max(1, BLOCK // width))
    blocks = (rows,) if column.dimension is None else (rows, width)
    held = data.create_variable(
        column.name, dims, float, chunks=blocks, fillvalue=np.nan
    )
    held.attrs["units"] = column.unit
    held.attrs["long_name"] = column.about


def _write_keys(data: h5netcdf.File, plan: Plan) -> None:
    """The values of all runs, and the names by which xarray knows that they label them."""
    design, study = plan.study.design, plan.study
    units = study.units()
    for key, label, column in zip(
        design.keys, study.labels, design.columns, strict=True
    ):
        is_number = column.dtype != object
        values = column
        if not is_number:
            values = as_texts(
                study.display_value(key, value) for value in column.tolist()
            )
        kind = column.dtype if is_number else h5py.string_dtype()
        held = data.create_variable(label, (RUN,), kind, data=values)
        held.attrs["units"] = units[key]
        held.attrs["key"] = key
    data.attrs["coordinates"] = " ".join(study.labels)


def _write_times(data: h5netcdf.File, plan: Plan) -> None:
    scenario = plan.recipe.base
    if TIME not in data.dimensions or not isinstance(scenario, Scenario):
        return
    data.create_variable(TIME, (TIME,), float, data=scenario_times(scenario))
    data[TIME].attrs["units"] = "s"


def _place(reasons: dict[str, int], reason: str) -> int:
    return reasons.setdefault(reason, len(reasons) + 1) if reason else 0


def _write_reasons(data: h5netcdf.File, reasons: dict[str, int]) -> None:
    if not reasons:
        return
    data.dimensions[REASON] = len(reasons)
    texts = np.array(list(reasons), dtype=object)
    data.create_variable(REASON, (REASON,), h5py.string_dtype(), data=texts)


def as_texts(values: Iterable[Any]) -> np.ndarray:
    """Values that are no numbers, as text."""
    texts = [v if isinstance(v, str) else json.dumps(v) for v in values]
    return np.array(texts, dtype=object)
