"""Result files that h5py writes are those that xarray would write."""

import h5netcdf
import numpy as np
import xarray as xr

from lissom.runs.netcdf_file import netcdf_bytes
from lissom.runs.run import Run
from lissom.runs.run_table import RunTable

TIME = np.linspace(0.0, 1.0, 5)
TABLE = RunTable(
    {
        "q": (("time", "joint"), np.outer(TIME, [1.0, np.nan]), {"units": "rad or m"}),
        # A rigid robot has no elastic coordinates.
        "elastic": (("time", "coordinate"), np.zeros((5, 0)), {"units": "m"}),
        "frame": (("time", "row", "column"), np.ones((5, 3, 3)), {}),
        "position": (("time", "node"), np.outer(TIME, [3.0, 4.0, 5.0]), {}),
    },
    {
        "time": ("time", TIME, {"units": "s"}),
        "joint": ["Schulter links", "肘"],
        "node": ["arm/0", "arm/1", "arm/2"],
    },
    {"name": "arm", "reason": "", "steps": 12, "wall_run_s": 0.25, "scene": "{}" * 99},
)


def test_a_saved_run_is_what_xarray_would_have_saved(tmp_path):
    TABLE.dataset().to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    Run(TABLE).save(tmp_path / "own.nc")
    own, other = (
        xr.load_dataset(tmp_path / name, engine="h5netcdf")
        for name in ("own.nc", "other.nc")
    )
    xr.testing.assert_identical(own, other)
    for name in own.variables:
        for key in ("dtype", "_FillValue"):
            ours, theirs = (data[name].encoding.get(key) for data in (own, other))
            assert repr(ours) == repr(theirs), (name, key)
    kinds = [{k: type(v) for k, v in data.attrs.items()} for data in (own, other)]
    assert kinds[0] == kinds[1]


def test_dimensions_without_a_variable_have_their_size(tmp_path):
    (tmp_path / "own.nc").write_bytes(TABLE.netcdf())
    with h5netcdf.File(tmp_path / "own.nc") as file:
        sizes = {name: size.size for name, size in file.dimensions.items()}
        assert sizes == {
            "time": 5,
            "joint": 2,
            "coordinate": 0,
            "row": 3,
            "column": 3,
            "node": 3,
        }
        assert file.variables["frame"].dimensions == ("time", "row", "column")
        assert set(file.variables) == {*TABLE.names}


def test_a_file_of_nothing_is_a_file(tmp_path):
    (tmp_path / "none.nc").write_bytes(netcdf_bytes({}, {}))
    assert not xr.load_dataset(tmp_path / "none.nc", engine="h5netcdf").variables
