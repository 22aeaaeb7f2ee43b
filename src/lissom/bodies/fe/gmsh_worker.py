"""The process in which gmsh runs: opens a geometry or a script, meshes it, writes a `.msh` file; all within limits.

Served by `worker_process.py`, alone: it imports nothing of the package.
"""

import json
import math
from collections.abc import Callable

GEOMETRY = {
    ".step": "step",
    ".stp": "step",
    ".iges": "iges",
    ".igs": "iges",
    ".brep": "brep",
}
UNSET = 1e20  # gmsh's largest edge length is 1e22 where a file names none
NO_VOLUME = "holds no volume"


def answer(request: bytes, report: Callable[[bytes], None]) -> bytes:
    """Error message, empty if there was none."""
    fields = json.loads(request)
    limit_memory(fields["bytes"])
    try:
        main(fields)
    except Exception as failure:
        # gmsh has no error class of its own.
        return str(failure).encode() or b"failed"
    return b""


def main(request: dict) -> None:
    """Meshes `source` with 10-node tetrahedra into `mesh`."""
    import gmsh

    # Settings in the home folder or in the current one are scripts too: they are not read.
    gmsh.initialize(interruptible=False, readConfigFiles=False)
    gmsh.option.setNumber("General.Terminal", 0)
    gmsh.option.setNumber("General.NumThreads", 1)
    gmsh.option.setString("Geometry.OCCTargetUnit", "M")
    _mesh(gmsh, request)
    gmsh.option.setNumber("Mesh.SaveAll", 1)
    gmsh.option.setNumber("Mesh.Binary", 1)
    gmsh.option.setNumber("Mesh.MshFileVersion", 4.1)
    gmsh.write(request["mesh"])


def _mesh(gmsh, request: dict) -> None:
    """Opens a geometry by its format, or runs a script; meshes what has no mesh yet."""
    kind = GEOMETRY.get(request["ending"])
    if kind is not None:
        gmsh.model.occ.importShapes(request["source"], format=kind)
        gmsh.model.occ.synchronize()
    else:
        gmsh.open(request["source"])
    _, volume_elements, _ = gmsh.model.mesh.getElements(3)
    if not len(volume_elements):
        if not gmsh.model.getEntities(3):
            raise ValueError(NO_VOLUME)
        _set_edge_length(gmsh, request["size"])
        gmsh.model.mesh.generate(3)
    gmsh.model.mesh.setOrder(2)


def _set_edge_length(gmsh, size) -> None:
    """Edge length as given, as in the file, or a tenth of the part's size."""
    if size is not None:
        gmsh.option.setNumber("Mesh.MeshSizeMin", size)
        gmsh.option.setNumber("Mesh.MeshSizeMax", size)
    elif gmsh.option.getNumber("Mesh.MeshSizeMax") > UNSET:
        box = gmsh.model.getBoundingBox(-1, -1)
        tenth = math.dist(box[:3], box[3:]) / 10
        gmsh.option.setNumber("Mesh.MeshSizeMax", tenth)


def limit_memory(most: int) -> None:
    """Limit the memory of the process to `most` bytes; where that is not possible (Windows), the time limit remains."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
