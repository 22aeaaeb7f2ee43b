"""What the server answers: every route is one question to the folder, to a service or to the queue of runs."""

import json
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Request
from fastapi.responses import FileResponse, Response

from ..verbs.registry import verbs
from .backend import Backend, check_changes
from .folder import FolderError
from .questions import KNOWN_FIELDS, Name, PoseQuestion, VerbQuestion
from .verb_routes import asked

Answer = dict[str, Any]
FileName = Annotated[Name, Body(embed=True)]
Typed = Annotated[str, Body()]  # a description as it is typed
# Of the file as it was opened; None: a new file.
Fingerprint = Annotated[str | None, Body()]
LinkNumber = Annotated[int, Body(ge=0, le=1000)]
Placement = Annotated[Literal["dh", "origin"], Body()]


def api(backend: Backend) -> APIRouter:
    """All routes below `/api`."""
    router = APIRouter(prefix="/api")
    _add_library(router, backend)
    _add_files(router, backend)
    _add_robots(router, backend)
    _add_runs(router, backend)
    return router


def _add_library(router: APIRouter, backend: Backend) -> None:
    @router.get("/library")
    def library() -> Answer:
        """Robots, scenarios and materials of the package."""
        return {
            **backend.remembered("robots"),
            "materials": backend.remembered("materials"),
            "choices": backend.remembered("choices"),
        }


def _add_files(router: APIRouter, backend: Backend) -> None:
    folder = backend.folder

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
        return backend.ask(
            backend.files, "scenario_facts", scenario=backend.source(name)
        )

    @router.get("/text")
    def text(name: str) -> Answer:
        """A description."""
        return asdict(backend.text(name))

    @router.put("/text", dependencies=KNOWN_FIELDS)
    def save(name: FileName, text: Typed, fingerprint: Fingerprint = None) -> Answer:
        """Saves a description, unless the file changed on disk."""
        return asdict(folder.save(name, text, fingerprint))

    @router.put("/draft", dependencies=KNOWN_FIELDS)
    def draft(name: FileName, text: Typed) -> Answer:
        """Keeps what is typed and says what is wrong with it."""
        return backend.checked(name, text)

    @router.delete("/draft")
    def drop_draft(name: str) -> Answer:
        """Forgets what was typed and not saved."""
        folder.drop_draft(name)
        return {}

    @router.post("/joint", dependencies=KNOWN_FIELDS)
    def joint(name: FileName, link: LinkNumber, by: Placement) -> Answer:
        """A joint of what is typed, placed the other way."""
        file = backend.draft_source(name)
        return backend.ask(backend.files, "rewrite_joint", file=file, link=link, by=by)

    @router.put("/upload")
    async def upload(name: str, request: Request) -> Answer:
        """A file that was dropped onto the page."""
        content = await request.body()
        return {"name": folder.add(name, content)}

    @router.post("/import", dependencies=KNOWN_FIELDS)
    def import_robot(name: FileName) -> Answer:
        """The robot file of a URDF file of the folder, beside it, with its meshes."""
        path = folder.existing(name)
        output, made = folder.free_beside(path, ".yaml")
        found = backend.ask(
            backend.files,
            "import_robot",
            file=str(path),
            output=str(output),
            root=str(folder.root),
        )
        return {**found, "file": made}

    @router.get("/download")
    def download(name: str) -> FileResponse:
        """A file of the folder."""
        path = folder.existing(name)
        if path.stat().st_size > backend.limits.download:
            raise FolderError(f"{name}: is too large", 413)
        return FileResponse(
            path, media_type="application/octet-stream", filename=path.name
        )


def _add_robots(router: APIRouter, backend: Backend) -> None:
    @router.post("/pose")
    def pose(question: PoseQuestion) -> Answer:
        """A robot to draw, with its sag and its holding torques."""
        return posed(backend, question)

    @router.post("/modes")
    def modes(question: VerbQuestion) -> Answer:
        """The modes at a pose, one of them in motion."""
        told = asked(backend, verbs()["modes"], question)
        return backend.ask(backend.poses, "modes_here", **told)


def posed(backend: Backend, question: PoseQuestion) -> Answer:
    """The answer to a question for a pose."""
    check_changes(question.changes)
    find = backend.draft_source if question.draft else backend.source
    about = {"source": find(question.source), "changes": question.changes}
    pose = question.model_dump(exclude={"source", "changes", "draft"})
    return backend.ask(backend.poses, "pose", **about, pose=pose)


def _add_runs(router: APIRouter, backend: Backend) -> None:
    folder = backend.folder

    @router.get("/jobs")
    def jobs() -> Answer:
        """All runs and how far they are."""
        return {"jobs": backend.queue.jobs()}

    @router.delete("/jobs/{number}")
    def cancel(number: int) -> Answer:
        """Ends a run; what is done is kept."""
        if not backend.queue.cancel(number):
            raise FolderError(f"run {number}: there is none, or it has ended", 404)
        return {}

    @router.get("/jobs/{number}/picture")
    def picture(number: int) -> Answer:
        """The robot of a run that is under way."""
        found = backend.queue.picture(number)
        if found is None:
            raise FolderError(f"run {number}: there is no picture", 404)
        return found

    @router.get("/jobs/{number}/answer")
    def answer(number: int) -> Answer:
        """All that an analysis found, or what there is of it."""
        found = backend.queue.answer(number)
        if found is None:
            raise FolderError(f"run {number}: there is no answer", 404)
        return found

    @router.get("/animation")
    def animation(name: str) -> Answer:
        """A result to draw, with its charts."""
        path = folder.existing(name)
        return backend.ask(backend.files, "animation", file=str(path))


def plain_answer(status: int, error: dict[str, Any]) -> Response:
    """An error as every answer of the studio holds it."""
    body = json.dumps({"error": error}).encode()
    return Response(body, status, media_type="application/json")
