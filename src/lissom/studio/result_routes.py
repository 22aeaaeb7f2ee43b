"""What the server answers about results: what they tell, their curves, their motion as a GIF."""

from typing import Annotated, Any

from fastapi import APIRouter, Body
from fastapi.responses import FileResponse

from .answer_files import answered_file
from .backend import Backend
from .questions import KNOWN_FIELDS, Name

Answer = dict[str, Any]
# The first is what the others are compared with.
Runs = Annotated[tuple[Name, ...], Body(min_length=1, max_length=8)]
Quantities = Annotated[tuple[Name, ...], Body(min_length=1, max_length=40)]
# Of a motion, in PNG, as base64.
Pictures = Annotated[tuple[str, ...], Body(min_length=1, max_length=180)]
Interval = Annotated[int, Body(ge=20, le=1000)]  # between two of them [ms]


def results(backend: Backend) -> APIRouter:
    """The routes below `/api/results`."""
    router = APIRouter(prefix="/api/results")
    folder = backend.folder

    @router.get("/facts")
    def facts(name: str) -> Answer:
        """What a result tells about its run."""
        path = str(folder.existing(name))
        return {**backend.ask(backend.files, "result_facts", file=path), "run": name}

    @router.post("/curves", dependencies=KNOWN_FIELDS)
    def curves(runs: Runs, what: Quantities) -> Answer:
        """Curves of results, and of what the others have beyond the first."""
        files = [str(folder.existing(name)) for name in runs]
        found = backend.ask(backend.analyses, "curves", runs=files, what=what)
        names = dict(zip(files, runs, strict=True))
        for one in (*found["runs"], *found["differences"]):
            one["run"] = names[one["run"]]
        return found

    @router.post("/gif", dependencies=KNOWN_FIELDS)
    def gif(pictures: Pictures, interval: Interval) -> FileResponse:
        """Pictures that a page drew, as a GIF."""

        def write(path: str) -> object:
            asked = {"pictures": pictures, "interval": interval}
            return backend.ask(backend.files, "gif", path=path, **asked)

        return answered_file("motion.gif", write)

    return router
