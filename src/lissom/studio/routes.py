"""What the server answers: every route is one question to the folder, to a service or to the queue of runs."""

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, Response

from ..verbs.registry import verbs
from .folder import FolderError
from .jobs import SIMULATE, Order
from .office import Office, check_changes, title_of
from .requests import (
    DraftRequest,
    ImportQuestion,
    JointQuestion,
    PoseQuestion,
    RunRequest,
    SaveRequest,
)
from .verb_routes import VerbQuestion, asked

Answer = dict[str, Any]


def api(office: Office) -> APIRouter:
    """All routes below `/api`."""
    router = APIRouter(prefix="/api")
    _add_library(router, office)
    _add_files(router, office)
    _add_robots(router, office)
    _add_runs(router, office)
    return router


def _add_library(router: APIRouter, office: Office) -> None:
    @router.get("/library")
    def library() -> Answer:
        """Robots, scenarios and materials of the package."""
        return {
            **office.remembered("robots"),
            "materials": office.remembered("materials"),
            "choices": office.remembered("choices"),
        }


def _add_files(router: APIRouter, office: Office) -> None:
    folder = office.folder

    @router.get("/files")
    def files() -> Answer:
        """Descriptions and results of the folder."""
        listed = [asdict(file) for file in folder.listing()]
        return {
            "folder": str(folder.root),
            "writable": folder.is_writable,
            "files": listed,
        }

    @router.get("/scenario")
    def scenario(name: str) -> Answer:
        """What a run of a robot or a scenario begins with, and the names that it may use."""
        return office.ask(office.files, "scenario_facts", scenario=office.source(name))

    @router.get("/text")
    def text(name: str) -> Answer:
        """A description."""
        return asdict(office.text(name))

    @router.put("/text")
    def save(request: SaveRequest) -> Answer:
        """Saves a description, unless the file changed on disk."""
        saved = folder.save(request.name, request.text, request.fingerprint)
        return asdict(saved)

    @router.put("/draft")
    def draft(request: DraftRequest) -> Answer:
        """Keeps what is typed and says what is wrong with it."""
        return office.checked(request.name, request.text)

    @router.delete("/draft")
    def drop_draft(name: str) -> Answer:
        """Forgets what was typed and not saved."""
        folder.drop_draft(name)
        return {}

    @router.post("/joint")
    def joint(question: JointQuestion) -> Answer:
        """A joint of what is typed, placed the other way."""
        file = office.draft_source(question.name)
        return office.ask(
            office.files, "rewrite_joint", file=file, link=question.link, by=question.by
        )

    @router.put("/upload")
    async def upload(name: str, request: Request) -> Answer:
        """A file that was dropped onto the page."""
        content = await request.body()
        return {"name": folder.add(name, content)}

    @router.post("/import")
    def import_robot(question: ImportQuestion) -> Answer:
        """The robot file of a URDF file of the folder, beside it, with its meshes."""
        path = folder.existing(question.name)
        output, name = folder.free_beside(path, ".yaml")
        found = office.ask(
            office.files,
            "import_robot",
            file=str(path),
            output=str(output),
            root=str(folder.root),
        )
        return {**found, "file": name}

    @router.get("/download")
    def download(name: str) -> FileResponse:
        """A file of the folder."""
        path = folder.existing(name)
        if path.stat().st_size > office.limits.download:
            raise FolderError(f"{name}: is too large", 413)
        return FileResponse(
            path, media_type="application/octet-stream", filename=path.name
        )


def _add_robots(router: APIRouter, office: Office) -> None:
    @router.post("/pose")
    def pose(question: PoseQuestion) -> Answer:
        """A robot to draw, with its sag and its holding torques."""
        return posed(office, question)

    @router.post("/modes")
    def modes(question: VerbQuestion) -> Answer:
        """The modes at a pose, one of them in motion."""
        told = asked(office, verbs()["modes"], question)
        return office.ask(office.poses, "modes_here", **told)


def posed(office: Office, question: PoseQuestion) -> Answer:
    """The answer to a question for a pose."""
    check_changes(question.changes)
    find = office.draft_source if question.draft else office.source
    asked = question.model_dump(exclude={"source", "draft"})
    return office.ask(office.poses, "pose", robot=find(question.source), **asked)


def _add_runs(router: APIRouter, office: Office) -> None:
    folder = office.folder

    @router.get("/jobs")
    def jobs() -> Answer:
        """All runs and how far they are."""
        return {"jobs": office.queue.jobs()}

    @router.post("/jobs", status_code=202)
    def add(request: RunRequest) -> Answer:
        """A run that waits for its turn."""
        check_changes(request.changes)
        source = office.source(request.source)
        office.queue.check_room()
        # What is wrong with the changes is said at once, field by field.
        office.ask(office.files, "check_run", scenario=source, changes=request.changes)
        title = title_of(request.source)

        def order() -> Order:
            name, path = folder.new_result(title)
            asked = {
                "scenario": source,
                "changes": request.changes,
                "output": str(path),
            }
            return Order(SIMULATE, title, request.source, asked, name, path)

        return asdict(office.queue.add(order))

    @router.delete("/jobs/{number}")
    def cancel(number: int) -> Answer:
        """Ends a run; what is done is kept."""
        if not office.queue.cancel(number):
            raise FolderError(f"run {number}: there is none, or it has ended", 404)
        return {}

    @router.get("/jobs/{number}/picture")
    def picture(number: int) -> Answer:
        """The robot of a run that is under way."""
        found = office.queue.picture(number)
        if found is None:
            raise FolderError(f"run {number}: there is no picture", 404)
        return found

    @router.get("/jobs/{number}/answer")
    def answer(number: int) -> Answer:
        """All that an analysis found, or what there is of it."""
        found = office.queue.answer(number)
        if found is None:
            raise FolderError(f"run {number}: there is no answer", 404)
        return found

    @router.get("/animation")
    def animation(name: str) -> Answer:
        """A result to draw, with its charts."""
        path = folder.existing(name)
        return office.ask(office.files, "animation", file=str(path))


def plain_answer(status: int, error: dict[str, Any]) -> Response:
    """An error as every answer of the studio holds it."""
    import json

    body = json.dumps({"error": error}).encode()
    return Response(body, status, media_type="application/json")
