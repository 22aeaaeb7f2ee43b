"""A map of modes as a dataset with names and units."""

from typing import Any

import numpy as np
import xarray as xr

from ..analyse.modes.map_summary import what_is_computed
from ..analyse.modes.mode_map import ModeMap
from ..atomic import write_atomically
from ..files.hdf5_checksum import with_checksum


def save_map(found: ModeMap, path: Any) -> Any:
    """The file `.nc` of a map."""
    content = with_checksum(bytes(map_dataset(found).to_netcdf(engine="h5netcdf")))
    return write_atomically(path, lambda file: file.write(content))


def map_dataset(found: ModeMap) -> Any:
    """A mode map as `xarray.Dataset`."""
    grid = [f"axis_{k}" for k in range(len(found.shape))]
    modes = [*grid, "mode"]
    joint = [*grid, "joint"]
    mac = {"long_name": "MAC with the previous point"}
    step = {"long_name": "relative change of the frequency from the previous point"}
    rigid = {"long_name": "number of rigid motions"}
    data = {
        "frequency": (modes, found.frequency_hz, {"units": "Hz"}),
        "damping_ratio": (modes, found.damping_ratio),
        "growth": (modes, found.growth, {"units": "1/s"}),
        "mac": (modes, found.mac, mac),
        "step": (modes, found.step, step),
        "rigid": (grid, found.rigid, rigid),
        "q": (joint, found.q, {"units": "rad or m"}),
        "qd": (joint, found.qd, {"units": "rad/s or m/s"}),
        "tip": ([*grid, "axis"], found.tip, {"units": "m"}),
    }
    coords: dict[str, Any] = {
        "mode": np.arange(1, found.frequency_hz.shape[-1] + 1),
        "joint": list(found.joints),
        "axis": ["x", "y", "z"],
    }
    for name, (axis, values) in zip(grid, found.axes.items(), strict=True):
        coords[name] = (name, values, {"long_name": axis})
    attrs = {
        "name": found.robot,
        "locked": int(found.locked),
        "computed": what_is_computed(found),
    }
    return xr.Dataset(data, coords=coords, attrs=attrs)
