"""NetCDF-4 files by h5py alone: named arrays over named dimensions, without the time that xarray takes to import.

A NetCDF-4 file is an HDF5 file whose dimensions are dimension scales [NetCDF4Format]; a scale is a variable of the
dimension's name, or an empty placeholder where there is none.
"""

import io
from collections.abc import Mapping
from typing import Any

import h5py
import numpy as np

# Readers recognise a dimension without a variable of its own by this text.
PLACEHOLDER = "This is a netCDF dimension but not a netCDF variable. {:>9}"
Variable = tuple[tuple[str, ...], np.ndarray, Mapping[str, Any]]


def netcdf_bytes(
    variables: Mapping[str, Variable], attributes: Mapping[str, Any]
) -> bytes:
    """The content of a file.

    Args:
        variables: by name: dimensions, numbers or text, attributes.
        attributes: of the file.
    """
    memory = io.BytesIO()
    with h5py.File(memory, "w") as file:
        written = {
            name: _write_variable(file, name, values)
            for name, (_, values, _) in variables.items()
        }
        scales = _scales(file, variables, written)
        for name, (dimensions, _, own) in variables.items():
            _write_attributes(written[name], own)
            if name in scales:
                continue
            for axis, dimension in enumerate(dimensions):
                written[name].dims[axis].attach_scale(scales[dimension])
        _write_attributes(file, attributes)
    return memory.getvalue()


def _write_variable(file: h5py.File, name: str, values: np.ndarray) -> h5py.Dataset:
    """The variable of a name in the file."""
    if values.dtype.kind in "UO":
        text = h5py.string_dtype()
        return file.create_dataset(name, data=values.astype(object), dtype=text)
    written = file.create_dataset(name, data=values, fillvalue=np.nan)
    written.attrs["_FillValue"] = np.array([np.nan])
    return written


def _scales(
    file: h5py.File,
    variables: Mapping[str, Variable],
    written: Mapping[str, h5py.Dataset],
) -> dict[str, h5py.Dataset]:
    """The dimensions of the variables, in the order in which they first come."""
    scales: dict[str, h5py.Dataset] = {}
    for dimensions, values, _ in variables.values():
        for dimension, size in zip(dimensions, values.shape, strict=True):
            if dimension in scales:
                continue
            if dimension in written:
                scale, title = written[dimension], dimension
            else:
                scale = file.create_dataset(dimension, (size,), dtype=">f4")
                title = PLACEHOLDER.format(size)
            scale.make_scale(title)
            scale.attrs["_Netcdf4Dimid"] = np.int32(len(scales))
            scales[dimension] = scale
    return scales


def _write_attributes(target: h5py.File | h5py.Dataset, attributes) -> None:
    for name, value in attributes.items():
        # Numbers of NetCDF attributes are lists, also where there is one.
        target.attrs[name] = value if isinstance(value, str) else np.atleast_1d(value)
