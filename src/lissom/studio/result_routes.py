"""What the server answers about results: what they tell, their curves, how far they are apart, other forms of them."""

from pathlib import PurePosixPath
from typing import Any

from fastapi import APIRouter
from fastapi.responses import FileResponse

from .analysis_requests import (
    CompareQuestion,
    CurvesQuestion,
    ExportQuestion,
    MotionQuestion,
)
from .answer_files import answered_file
from .office import Office

Answer = dict[str, Any]


def results(office: Office) -> APIRouter:
    """The routes below `/api/results`."""
    router = APIRouter(prefix="/api/results")
    folder = office.folder

    def paths(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(str(folder.existing(name)) for name in names)

    @router.get("/facts")
    def facts(name: str) -> Answer:
        """What a result tells about its run."""
        path = str(folder.existing(name))
        return {**office.ask(office.files, "result_facts", file=path), "run": name}

    @router.post("/curves")
    def curves(question: CurvesQuestion) -> Answer:
        """Curves of results, and of what the others have beyond the first."""
        files = paths(question.runs)
        found = office.ask(office.analyses, "curves", runs=files, what=question.what)
        names = dict(zip(files, question.runs, strict=True))
        for one in (*found["runs"], *found["differences"]):
            one["run"] = names[one["run"]]
        return found

    @router.post("/compare")
    def compare(question: CompareQuestion) -> Answer:
        """How far results are apart."""
        files = paths(question.runs)
        found = office.ask(office.files, "compare", runs=files)
        names = dict(zip(files, question.runs, strict=True))
        for row in found["differences"]:
            row["run"] = names[row["run"]]
        found["models"] = {names[run]: told for run, told in found["models"].items()}
        return {**found, "first": question.runs[0]}

    @router.post("/compare/picture")
    def picture(question: CompareQuestion) -> FileResponse:
        """The same as a picture."""
        files = paths(question.runs)

        def write(path: str) -> object:
            asked = {"runs": files, "node": question.node, "plot": path}
            return office.ask(office.files, "compare", **asked)

        return answered_file(f"compare{question.ending or '.png'}", write)

    @router.post("/export")
    def export(question: ExportQuestion) -> FileResponse:
        """A result in another form."""
        file = str(folder.existing(question.file))

        def write(path: str) -> object:
            asked = {"run": file, "what": question.what, "picture": path}
            return office.ask(office.analyses, "plot", **asked)

        stem = PurePosixPath(question.file).stem
        return answered_file(f"{stem}{question.ending}", write)

    @router.post("/gif")
    def gif(question: MotionQuestion) -> FileResponse:
        """Pictures that a page drew, as a GIF."""
        told = question.model_dump()
        return answered_file(
            "motion.gif",
            lambda path: office.ask(office.files, "gif", path=path, **told),
        )

    return router
