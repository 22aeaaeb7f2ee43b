"""Files of arrays broken as data: other numbers, shapes and types, arrays missing and added."""

from collections.abc import Mapping
from io import BytesIO
from random import Random
from typing import Any

import numpy as np

from .tree_mutations import ODD_NUMBERS

Arrays = dict[str, np.ndarray]
TYPES = (np.float32, np.complex128, np.int8, np.bool_, "U8", "S3", object)


def mutated_arrays(arrays: Mapping[str, np.ndarray], random: Random) -> Arrays:
    """The arrays after one or several mutations."""
    found = dict(arrays)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        if found:
            name = random.choice(sorted(found))
            random.choice(MUTATIONS)(found, name, random)
    return found


def change_entries(arrays: Arrays, name: str, random: Random) -> None:
    """A few odd numbers in it."""
    array = np.array(arrays[name])
    if array.size and array.dtype.kind in "iufc":
        for _ in range(random.choice((1, 3, 50))):
            odd = random.choice(ODD_NUMBERS)
            with np.errstate(all="ignore"):
                wide = array if array.dtype.kind != "i" else array.astype(float)
                wide.flat[random.randrange(wide.size)] = float(odd)
            array = wide
    arrays[name] = array


def scale(arrays: Arrays, name: str, random: Random) -> None:
    """All of it larger, smaller or of the other sign."""
    if arrays[name].dtype.kind in "iufc":
        with np.errstate(all="ignore"):
            factor = random.choice((-1.0, 0.0, 1e-12, 1e12, 1e200, np.nan))
            arrays[name] = arrays[name] * factor


def reshape(arrays: Arrays, name: str, random: Random) -> None:
    """Another shape: cut, flat, turned, one axis more, empty."""
    array = arrays[name]
    shapes = (
        array[:-1] if array.ndim else array,
        array.reshape(-1),
        array.T,
        array[None],
        array[:0] if array.ndim else np.zeros(0),
        np.concatenate([array, array]) if array.ndim else np.zeros((2, 2)),
    )
    arrays[name] = random.choice(shapes)


def retype(arrays: Arrays, name: str, random: Random) -> None:
    """Another type, objects too."""
    try:
        with np.errstate(all="ignore"):
            arrays[name] = arrays[name].astype(random.choice(TYPES))
    except (ValueError, TypeError):
        arrays[name] = np.array("text")


def drop(arrays: Arrays, name: str, random: Random) -> None:
    """Missing."""
    del arrays[name]


def rename(arrays: Arrays, name: str, random: Random) -> None:
    """Under the name of another one, or of nothing known."""
    other = random.choice([*sorted(arrays), "x", "K", "M", "nodes", "lissom_link"])
    arrays[other] = arrays.pop(name)


MUTATIONS = (change_entries, change_entries, scale, reshape, retype, drop, rename)


def packed(arrays: Mapping[str, Any], ending: str) -> bytes:
    """The arrays as the bytes of a file with an ending."""
    file = BytesIO()
    if ending == ".npz":
        np.savez_compressed(file, **arrays)
    else:
        import h5py

        with h5py.File(file, "w") as target:
            for name, array in arrays.items():
                target[name] = _for_hdf5(array)
    return file.getvalue()


def _for_hdf5(array: np.ndarray) -> Any:
    return array.astype("S") if array.dtype.kind in "UO" else array
