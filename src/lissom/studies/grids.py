"""The runs of a grid, laid out along its keys."""

from typing import Any

import numpy as np
import xarray as xr

from .axis import points
from .dataset import RUN, as_texts
from .study import Study


def on_grid(study: Study, data: Any) -> Any:
    """The dataset of a grid with one dimension for each key, in their order."""
    labels = study.labels
    axes = {}
    for label, axis in zip(labels, study.over.values(), strict=True):
        values = points(axis)
        texts = (axis.display_value(value) for value in values.tolist())
        axes[label] = values if values.dtype != object else as_texts(texts)
    shape = tuple(len(values) for values in axes.values())
    coordinates = {
        label: (label, values, data[label].attrs) for label, values in axes.items()
    }
    variables = {}
    for name, held in data.data_vars.items():
        if held.dims[:1] == (RUN,):
            numbers = np.asarray(held.values).reshape(*shape, *held.shape[1:])
            variables[name] = ((*labels, *held.dims[1:]), numbers, held.attrs)
    others = {name: data[name] for name in data.coords if RUN not in data[name].dims}
    return xr.Dataset(variables, {**coordinates, **others}, data.attrs)
