"""Names of nodes along a dimension of a result, where `link/tip` is the last node of a link."""

from typing import Any

import numpy as np
from xarray import Dataset, load_dataset
from xarray.indexes import PandasIndex

from .run_columns import node_label


class NodeIndex(PandasIndex):
    """Finds nodes by name: `data.sel(node="fore/tip")`."""

    def sel(self, labels: dict[Any, Any], **options: Any) -> Any:
        """Places of nodes by their names; those of tips are their numbers."""
        names = [str(name) for name in self.index]
        known = {key: _numbered(names, label) for key, label in labels.items()}
        return super().sel(known, **options)


def _numbered(names: list[str], label: Any) -> Any:
    if isinstance(label, str):
        return node_label(names, label)
    if isinstance(label, list | tuple | np.ndarray):
        return [_numbered(names, one) for one in label]
    return label


def dataset_of_file(file: Any) -> Dataset:
    """The dataset of a path or an open file, with nodes indexed by `link/tip` too."""
    return with_tips(load_dataset(file, engine="h5netcdf"))


def with_tips(data: Dataset) -> Dataset:
    """The dataset with nodes indexed by `link/tip` too."""
    for names in ("node", "recorded"):
        if names in data.coords:
            data = data.drop_indexes(names).set_xindex(names, NodeIndex)
    return data
