"""Geometry and scripts to meshes: gmsh in a process of its own, with limits of time and memory.

Geometry is accepted by the first bytes of its format, scripts only if the user trusts them.
"""

import json
import sys
import tempfile
from pathlib import Path

from ... import worker_process
from ...worker_process import TimeIsUp, WorkerDied, WorkerProcess
from .elements import FeError
from .gmsh_worker import GEOMETRY, NO_VOLUME
from .msh_file import MshFile, read_msh
from .optional import optional_module

MESHING_SECONDS = 600.0  # that gmsh may take
MESHING_BYTES = 8 * 2**30  # of memory
SCRIPTS = (".geo",)
# -P: modules are not looked for in the folder of the program.
PROGRAM = (
    sys.executable,
    "-P",
    worker_process.__file__,
    str(Path(__file__).with_name("gmsh_worker.py")),
)
HEAD_BYTES = 4096  # of a file, in which its format shows


def run_gmsh(
    path: Path, size: float | None, trust_scripts: bool, max_wall: float
) -> MshFile:
    """The mesh of a geometry or of a script, made by gmsh in a process of its own.

    Args:
        path: `.step`, `.stp`, `.brep`, `.iges`, `.igs`, or `.geo`.
        size: edge length in the unit of the file.
        trust_scripts: run `.geo` files.
        max_wall: seconds that it may take.

    Raises:
        FeError: the file is a script and not trusted, is not what its ending says, or gmsh fails or exceeds a limit.
    """
    ending = path.suffix.lower()
    if ending in SCRIPTS:
        _check_trust(path, trust_scripts)
    else:
        _check_format(path)
    # Checked here, where a missing package or library gets a clear message.
    optional_module("gmsh", "Geometry and .geo files")
    with tempfile.TemporaryDirectory(prefix="lissom-") as folder:
        mesh = Path(folder) / "mesh.msh"
        request = {
            "source": str(path.resolve()),
            "ending": ending,
            "size": size,
            "mesh": str(mesh),
            "bytes": MESHING_BYTES,
        }
        reason = _mesh_apart(path, request, max_wall).partition("\n")[0]
        if reason:
            said = reason if reason == NO_VOLUME else f"gmsh: {reason}"
            raise FeError(f"{path}: {said}")
        return read_msh(mesh)


def _check_trust(path: Path, trust_scripts: bool) -> None:
    if not trust_scripts:
        raise FeError(
            f"{path}: is a script of gmsh, which can run commands and write files; nothing was run. If you trust it, "
            "add --trust-scripts (in Python: trust_scripts=True); or mesh it elsewhere and give the .msh file"
        )


def _check_format(path: Path) -> None:
    """Refuses a geometry that does not begin as its format does."""
    with open(path, "rb") as file:
        head = file.read(HEAD_BYTES)
    kind = GEOMETRY[path.suffix.lower()]
    if kind == "step":
        fits = head.lstrip().startswith(b"ISO-10303-21")
        wanted = "ISO-10303-21"
    elif kind == "brep":
        fits = b"CASCADE Topology" in head or head.startswith(b"DBRep_DrawableShape")
        wanted = "CASCADE Topology"
    else:
        # Lines of 80 columns; those of the start section are marked in column 73.
        fits = head[72:73] == b"S"
        wanted = "a start section (S in column 73)"
    if not fits:
        raise FeError(
            f"{path}: is not a {kind.upper()} file, which begins with {wanted}; nothing was run"
        )


def _mesh_apart(path: Path, request: dict, max_wall: float) -> str:
    """Error message of gmsh, empty if it meshed."""
    child = WorkerProcess(PROGRAM, quiet=True)
    try:
        return child.call(json.dumps(request).encode(), limit_s=max_wall).decode()
    except TimeIsUp:
        raise FeError(
            f"{path}: gmsh took longer than {max_wall:g} s and was stopped: choose a larger --mesh-size, "
            "or more time (--max-wall)"
        ) from None
    except WorkerDied as death:
        raise FeError(
            f"{path}: gmsh ended with code {death.code}: the file is broken, or needs more than "
            f"{MESHING_BYTES / 2**30:.0f} GB of memory; try a larger --mesh-size"
        ) from None
    finally:
        # gmsh's own clean-up may take long, and there is nothing to keep.
        child.end()
