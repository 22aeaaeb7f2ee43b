"""Arrays of `.npz`, `.h5`, `.nc` and `.mat` files: sizes are looked at before anything is unpacked, nothing is run.

A file from elsewhere may hold a bomb (a few kB that unpack to many GB), pickled objects that run code when read, or
links to other files. All three are refused by what the headers say.
"""

import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .hdf5_checksum import checksum_problem
from .hdf5_heaps import endless_heap
from .mat_file import mat_checksum_problem

HDF5_ENDINGS = (".h5", ".hdf5", ".nc")
ENDINGS = (".npz", *HDF5_ENDINGS, ".mat")

MAX_ARRAYS = 2000  # of one file
MAX_BYTES = 2_000_000_000  # of the arrays that are read from one file, unpacked
# A file may unpack to this size whatever its own; above it, to as many times its own size.
SMALL_BYTES = 100_000_000
MAX_RATIO = 100

MAX_EXTRA = 64  # bytes beside the name of an entry of an archive
NUMBERS = "biufc"  # kinds of NumPy types that are numbers
REAL = "iuf"
TRUTH = "b"
TEXTS = "SU"

# Shape of an array: numbers, and letters that stand for the same number in all arrays of a file.
Shape = tuple[int | str, ...]


class ArrayFileError(ValueError):
    """A file of arrays that cannot be read; `field` is the array, empty where it is the whole file."""

    def __init__(self, path: Path, field: str, message: str):
        self.path = path
        self.field = field
        self.message = message
        super().__init__(f"{path}: {self.words}")

    @property
    def words(self) -> str:
        """What is wrong, without the name of the file."""
        return f"{self.field}: {self.message}" if self.field else self.message


class _Header(NamedTuple):
    """Name, shape and type of one array, from the header of a file."""

    name: str
    shape: tuple[int, ...]
    kind: str  # of its NumPy type
    bytes: int  # unpacked


def read_arrays(
    path: str | Path, names: Collection[str] | None = None
) -> dict[str, np.ndarray]:
    """The arrays of a file by their names; with `names`, those of them that are there.

    Raises:
        ArrayFileError: the file is broken, too large when unpacked, or holds something else than numbers and texts.
    """
    path = Path(path)
    with _reported(path), _opened(path) as file:
        headers = [
            header for header in file.headers() if names is None or header.name in names
        ]
        _check_headers(path, headers)
        return {header.name: file.read(header.name) for header in headers}


def array_names(path: str | Path) -> tuple[str, ...]:
    """Names of the arrays of a file; none of them is read."""
    path = Path(path)
    with _reported(path), _opened(path) as file:
        return tuple(header.name for header in file.headers())


def check_file(path: str | Path, ending: str | None = None) -> None:
    """Refuses a file that could not be read, by its headers alone; for readers of other packages.

    Args:
        path: the file.
        ending: what kind of file it is, where its own ending does not tell.
    """
    path = Path(path)
    with _reported(path), _opened(path, ending) as file:
        _check_headers(path, list(file.headers()))


def check_arrays(
    path: str | Path,
    arrays: Mapping[str, np.ndarray],
    shapes: Mapping[str, Shape],
    texts: Collection[str] = (),
) -> dict[str, int]:
    """What the letters of `shapes` stand for; every array is there, of its shape, and finite.

    Args:
        path: the file.
        arrays: of the file.
        shapes: of the arrays by their names.
        texts: those of them that hold texts; all others hold real numbers.

    Raises:
        ArrayFileError: with the array that is not.
    """
    path = Path(path)
    sizes: dict[str, int] = {}
    for name, shape in shapes.items():
        if name not in arrays:
            raise ArrayFileError(path, name, "missing")
        array = arrays[name]
        if not _fits(array.shape, shape, sizes):
            wanted = _shape_words(shape, sizes)
            message = f"has the shape {array.shape}: must be {wanted}"
            raise ArrayFileError(path, name, message)
        # A single value may be a truth value.
        real = REAL if shape else REAL + TRUTH
        kinds, words = (TEXTS, "texts") if name in texts else (real, "real numbers")
        if array.dtype.kind not in kinds:
            raise ArrayFileError(path, name, f"holds {array.dtype}: must be {words}")
        if name not in texts and not np.isfinite(array).all():
            raise ArrayFileError(path, name, "holds numbers that are not finite")
    return sizes


def check_semidefinite(
    path: str | Path, name: str, matrix: np.ndarray, rounding: float
) -> None:
    """Refuses a matrix that is not symmetric, or has a negative eigenvalue, beyond `rounding` of its largest entry."""
    path = Path(path)
    # Differences of whole numbers without a sign would turn over.
    matrix = np.asarray(matrix, float)
    size = np.abs(matrix).max(initial=0.0)
    asymmetry = np.abs(matrix - matrix.T).max(initial=0.0)
    if asymmetry > rounding * size:
        message = f"must be symmetric, its triangles differ by {asymmetry:.1e}"
        raise ArrayFileError(path, name, message)
    least = np.linalg.eigvalsh(matrix).min(initial=0.0)
    if least < -rounding * size * max(len(matrix), 1):
        message = (
            f"must be positive semidefinite, its smallest eigenvalue is {least:.3g}"
        )
        raise ArrayFileError(path, name, message)


def _fits(shape: tuple[int, ...], wanted: Shape, sizes: dict[str, int]) -> bool:
    """True if a shape is the one wanted; letters that are met for the first time take its numbers."""
    if len(shape) != len(wanted):
        return False
    for size, side in zip(shape, wanted, strict=True):
        expected = sizes.setdefault(side, size) if isinstance(side, str) else side
        if size != expected:
            return False
    return True


def _shape_words(shape: Shape, sizes: Mapping[str, int]) -> str:
    sides = [str(sizes.get(side, side)) for side in map(str, shape)]
    return f"({', '.join(sides)})" if sides else "a single value"


def _check_headers(path: Path, headers: Sequence[_Header]) -> None:
    if len(headers) > MAX_ARRAYS:
        message = f"holds {len(headers)} arrays, at most {MAX_ARRAYS} are read"
        raise ArrayFileError(path, "", message)
    for header in headers:
        if header.kind not in NUMBERS + TEXTS:
            message = "contains objects, which could run code when they are read: write numbers or text"
            raise ArrayFileError(path, header.name, message)
    _check_size(path, headers)


def _check_size(path: Path, headers: Sequence[_Header]) -> None:
    total = sum(header.bytes for header in headers)
    allowed = max(SMALL_BYTES, MAX_RATIO * path.stat().st_size)
    allowed = min(allowed, MAX_BYTES)
    if total <= allowed:
        return
    largest = max(headers, key=lambda header: header.bytes)
    message = (
        f"unpacks to {_megabytes(largest.bytes)}, the whole file ({_megabytes(path.stat().st_size)}) to "
        f"{_megabytes(total)}; at most {_megabytes(allowed)} are read. "
        "Store matrices sparse (K_row, K_col, K_value), or the file without compression"
    )
    raise ArrayFileError(path, largest.name, message)


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.4g} MB"


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    """Whatever a reader raises on a broken file becomes one sentence with the name of the file."""
    try:
        yield
    except ArrayFileError:
        raise
    except MemoryError:
        raise ArrayFileError(path, "", "does not fit into the memory") from None
    except Exception as failure:
        # Readers of broken files raise what they like.
        reason = f"{type(failure).__name__}: {failure}".partition("\n")[0]
        message = f"is not a readable {path.suffix} file ({reason})"
        raise ArrayFileError(path, "", message) from None


@contextmanager
def _opened(path: Path, ending: str | None = None) -> Iterator["_Npz | _Hdf5 | _Mat"]:
    """A file opened by the reader for its ending: `.npz`, HDF5 or MATLAB."""
    ending = ending or path.suffix.lower()
    if not path.is_file():
        raise ArrayFileError(path, "", "no such file")
    if ending == ".npz":
        with zipfile.ZipFile(path) as archive:
            yield _Npz(path, archive)
    elif ending in HDF5_ENDINGS:
        # Importing h5py takes longer than reading most files of other kinds.
        import h5py

        problem = checksum_problem(path)
        if problem is not None:
            raise ArrayFileError(path, "", problem)
        heap = endless_heap(path)
        if heap is not None:
            message = f"is damaged: the string heap at byte {heap} contains an object of size zero"
            raise ArrayFileError(path, "", message)
        with h5py.File(path, "r") as file:
            yield _Hdf5(path, file)
    elif ending == ".mat":
        problem = mat_checksum_problem(path)
        if problem is not None:
            raise ArrayFileError(path, "", problem)
        yield _Mat(path)
    else:
        accepted = ", ".join(ENDINGS)
        message = f"files with the ending {ending or '(none)'} are not known. Accepted: {accepted}"
        raise ArrayFileError(path, "", message)


class _Npz:
    """An archive of NumPy arrays."""

    def __init__(self, path: Path, archive: Any):
        self.path = path
        self.archive = archive

    def headers(self) -> Iterable[_Header]:
        """Shape and type as the head of each array says them."""
        entries = self.archive.infolist()
        # A damaged length of a comment hides the entries that follow, without a word of the reader; NumPy writes none.
        if any(entry.comment or len(entry.extra) > MAX_EXTRA for entry in entries):
            raise ArrayFileError(self.path, "", "is damaged: its table of contents")
        names = [entry.filename for entry in entries]
        if len(set(names)) < len(names):
            raise ArrayFileError(
                self.path, "", "contains two arrays with the same name"
            )
        return [self._header(entry) for entry in entries]

    def _header(self, entry: Any) -> _Header:
        name = entry.filename.removesuffix(".npy")
        if name == entry.filename:
            raise ArrayFileError(self.path, name, "is not an array (.npy)")
        with self.archive.open(entry) as file:
            version = np.lib.format.read_magic(file)
            # Later versions differ in the coding of names of fields, which plain arrays do not have.
            read = np.lib.format.read_array_header_1_0
            if version > (1, 0):
                read = np.lib.format.read_array_header_2_0
            shape, _, dtype = read(file)
            head = file.tell()
        size = dtype.itemsize * int(np.prod(shape, dtype=object))
        if not dtype.hasobject and entry.file_size != head + size:
            message = f"says {size} bytes and holds {entry.file_size - head}"
            raise ArrayFileError(self.path, name, message)
        kind = "O" if dtype.hasobject else dtype.kind
        return _Header(name, shape, kind, size)

    def read(self, name: str) -> np.ndarray:
        """The array of this name."""
        with self.archive.open(f"{name}.npy") as file:
            return np.lib.format.read_array(file, allow_pickle=False)


class _Hdf5:
    """A file of HDF5: own matrices, and results (NetCDF-4)."""

    def __init__(self, path: Path, file: Any):
        self.path = path
        self.file = file

    def headers(self) -> Iterable[_Header]:
        """Shape and type of every array at the top of the file; links to other files are refused."""
        import h5py

        for name in self.file:
            link = self.file.get(name, getlink=True)
            if not isinstance(link, h5py.HardLink):
                message = "is a link: arrays must be stored in the file itself"
                raise ArrayFileError(self.path, name, message)
            entry = self.file[name]
            if not isinstance(entry, h5py.Dataset):
                raise ArrayFileError(self.path, name, "is a group, not an array")
            if entry.external or entry.is_virtual:
                message = "is stored in another file: arrays must be stored in the file itself"
                raise ArrayFileError(self.path, name, message)
            yield _Header(str(name), entry.shape, _hdf5_kind(entry), entry.nbytes)

    def read(self, name: str) -> np.ndarray:
        """The array of this name."""
        return np.asarray(self.file[name])


def _hdf5_kind(dataset: Any) -> str:
    import h5py

    # Texts of any length come as objects.
    if h5py.check_string_dtype(dataset.dtype) is not None:
        return "S"
    return dataset.dtype.kind


class _Mat:
    """A file of MATLAB, up to version 7."""

    # What MATLAB calls its classes, and the kind of NumPy type that stands for it here.
    CLASSES = {"char": "U", "cell": "U", "logical": "b"}
    NUMBERS = ("double", "single", "int", "uint")

    def __init__(self, path: Path):
        self.path = path

    def headers(self) -> Iterable[_Header]:
        """Shape and class of every variable; cells of texts are read, structures and objects are not."""
        import scipy.io

        for name, shape, kind in scipy.io.whosmat(self.path):
            letter = "f" if kind.startswith(self.NUMBERS) else self.CLASSES.get(kind)
            # The widest number, complex, takes 16 bytes.
            size = 16 * int(np.prod(shape, dtype=object))
            yield _Header(name, shape, letter or "O", size)

    def read(self, name: str) -> np.ndarray:
        """The variable of this name."""
        import scipy.io

        return scipy.io.loadmat(self.path, variable_names=[name])[name]
