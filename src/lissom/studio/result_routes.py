"""What the server answers about results: what they tell, their curves, how far they are apart, other forms of them."""

from pathlib import PurePosixPath
from typing import Annotated, Any

from fastapi import APIRouter, Body
from fastapi.responses import FileResponse

from .answer_files import answered_file
from .backend import Backend
from .questions import KNOWN_FIELDS, Ending, Name

Answer = dict[str, Any]
# The first is what the others are compared with.
Runs = Annotated[tuple[Name, ...], Body(min_length=1, max_length=8)]
Compared = Annotated[tuple[Name, ...], Body(min_length=2, max_length=8)]
Quantities = Annotated[tuple[Name, ...], Body(max_length=40)]
Node = Annotated[Name | None, Body()]
FileEnding = Annotated[Ending, Body()]
# Of a motion, in PNG, as base64.
Pictures = Annotated[tuple[str, ...], Body(min_length=1, max_length=180)]
Interval = Annotated[int, Body(ge=20, le=1000)]  # between two of them [ms]


def results(backend: Backend) -> APIRouter:
    """The routes below `/api/results`."""
    router = APIRouter(prefix="/api/results")
    folder = backend.folder

    def paths(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(str(folder.existing(name)) for name in names)

    @router.get("/facts")
    def facts(name: str) -> Answer:
        """What a result tells about its run."""
        path = str(folder.existing(name))
        return {**backend.ask(backend.files, "result_facts", file=path), "run": name}

    @router.post("/curves", dependencies=KNOWN_FIELDS)
    def curves(runs: Runs, what: Annotated[Quantities, Body(min_length=1)]) -> Answer:
        """Curves of results, and of what the others have beyond the first."""
        files = paths(runs)
        found = backend.ask(backend.analyses, "curves", runs=files, what=what)
        names = dict(zip(files, runs, strict=True))
        for one in (*found["runs"], *found["differences"]):
            one["run"] = names[one["run"]]
        return found

    @router.post("/compare", dependencies=KNOWN_FIELDS)
    def compare(runs: Compared, node: Node = None) -> Answer:
        """How far results are apart."""
        files = paths(runs)
        found = backend.ask(backend.files, "compare", runs=files)
        names = dict(zip(files, runs, strict=True))
        for row in found["differences"]:
            row["run"] = names[row["run"]]
        found["models"] = {names[run]: model for run, model in found["models"].items()}
        return {**found, "first": runs[0]}

    @router.post("/compare/picture", dependencies=KNOWN_FIELDS)
    def picture(
        runs: Compared, node: Node = None, ending: FileEnding = ".png"
    ) -> FileResponse:
        """The same as a picture."""
        files = paths(runs)

        def write(path: str) -> object:
            return backend.ask(
                backend.files, "compare", runs=files, node=node, plot=path
            )

        return answered_file(f"compare{ending}", write)

    @router.post("/export", dependencies=KNOWN_FIELDS)
    def export(
        file: Annotated[Name, Body()], ending: FileEnding, what: Quantities = ()
    ) -> FileResponse:
        """A result in another form."""
        run = str(folder.existing(file))

        def write(path: str) -> object:
            return backend.ask(
                backend.analyses, "plot", run=run, what=what, picture=path
            )

        return answered_file(f"{PurePosixPath(file).stem}{ending}", write)

    @router.post("/gif", dependencies=KNOWN_FIELDS)
    def gif(pictures: Pictures, interval: Interval) -> FileResponse:
        """Pictures that a page drew, as a GIF."""

        def write(path: str) -> object:
            asked = {"pictures": pictures, "interval": interval}
            return backend.ask(backend.files, "gif", path=path, **asked)

        return answered_file("motion.gif", write)

    return router
