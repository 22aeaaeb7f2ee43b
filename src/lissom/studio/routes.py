"""The routes of the server beside those of verbs: requests to the folder, to a worker or to the queue of runs."""

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse

from ..verbs.registry import verb_named
from .answers import BINARY, file_answer
from .backend import Backend, check_changes
from .explanation import RequestError
from .questions import (
    CurvesQuestion,
    Draft,
    Interval,
    JointQuestion,
    Name,
    Pictures,
    PoseQuestion,
    SavedText,
    VerbQuestion,
)
from .verb_routes import worker_request

Answer = dict[str, Any]


def api(backend: Backend) -> APIRouter:
    """All routes below `/api` but those of verbs."""
    router = APIRouter(prefix="/api")
    _add_files(router, backend)
    _add_robots(router, backend)
    _add_runs(router, backend)
    _add_results(router, backend)
    return router


def _add_files(router: APIRouter, backend: Backend) -> None:
    folder = backend.folder

    @router.get("/files")
    def files() -> Answer:
        """Descriptions and results of the folder."""
        return {
            "folder": str(folder.root),
            "writable": folder.is_writable,
            "files": [asdict(file) for file in folder.listing()],
        }

    @router.get("/text")
    def text(name: str) -> Answer:
        """A description."""
        return asdict(backend.text(name))

    @router.put("/text")
    def save(question: SavedText) -> Answer:
        """Saves a description, unless the file changed on disk."""
        return asdict(folder.save(question.name, question.text, question.fingerprint))

    @router.put("/draft")
    def draft(question: Draft) -> Answer:
        """Saves what is typed as a draft, and returns what is wrong with it."""
        return backend.checked(question.name, question.text)

    @router.delete("/draft")
    def drop_draft(name: str) -> Answer:
        """Removes what was typed and not saved."""
        folder.drop_draft(name)
        return {}

    @router.post("/joint")
    def joint(question: JointQuestion) -> Answer:
        """Changes of what is typed after which a joint is placed the other way."""
        edits = backend.call(
            backend.files,
            "describe.rewrite_joint:rewrite_joint",
            file=backend.draft_source(question.name),
            link=question.link,
            by=question.by,
        )
        return {"edits": [{"path": path, "data": data} for path, data in edits]}

    @router.put("/upload")
    async def upload(name: str, request: Request) -> Answer:
        """A file that was dropped onto the page."""
        content = await request.body()
        return {"name": folder.add(name, content)}

    @router.post("/import")
    def import_robot(name: Name) -> Answer:
        """The robot file of a URDF file of the folder, beside it, with its meshes."""
        path = folder.existing(name)
        output, made = folder.free_beside(path, ".yaml")
        found = backend.call(
            backend.files,
            "studio.verb_calls:import_robot",
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
            raise RequestError(f"{name}: is too large", 413)
        return FileResponse(path, media_type=BINARY, filename=path.name)


def _add_robots(router: APIRouter, backend: Backend) -> None:
    @router.get("/library")
    def library() -> Answer:
        """Robots, scenarios and materials of the package, and the words that descriptions accept."""
        choices = backend.cached("describe.choices:choices")
        forms = backend.cached("describe.forms:file_forms")
        return {
            **backend.cached("describe.library:library"),
            "materials": backend.cached("describe.material:library_materials"),
            "choices": {**choices, "forms": forms},
        }

    @router.get("/scenario")
    def scenario(name: str) -> Answer:
        """What a run of a robot or a scenario begins with, and the names that it may use."""
        facts = "runs.scenario_facts:scenario_facts"
        return backend.call(backend.files, facts, source=backend.source(name))

    @router.post("/pose")
    def pose(question: PoseQuestion) -> Answer:
        """A robot to draw, with its sag and its holding torques."""
        return posed(backend, question)

    @router.post("/modes")
    def modes(question: VerbQuestion) -> Answer:
        """The modes at a pose, one of them in motion."""
        request = worker_request(backend, verb_named("modes"), question)
        call = "studio.posed_robot:modes_at_pose"
        return backend.call(backend.poses, call, **request)


def posed(backend: Backend, question: PoseQuestion) -> Answer:
    """The robot of a question in its pose."""
    check_changes(question.changes)
    find = backend.draft_source if question.draft else backend.source
    data = question.model_dump(exclude={"draft", "id"}) | {
        "source": find(question.source)
    }
    return backend.call(backend.poses, "studio.posed_robot:pose", **data)


def _add_runs(router: APIRouter, backend: Backend) -> None:
    queue = backend.queue

    @router.get("/jobs")
    def jobs() -> Answer:
        """All runs and their progress."""
        return {"jobs": queue.jobs()}

    @router.delete("/jobs/{number}")
    def cancel(number: int) -> Answer:
        """Ends a run; what is done is saved."""
        if not queue.cancel(number):
            raise RequestError(f"run {number}: there is none, or it has ended", 404)
        return {}

    @router.get("/jobs/{number}/picture")
    def picture(number: int) -> Answer:
        """The robot of a running simulation."""
        return of_job(number, "picture")

    @router.get("/jobs/{number}/answer")
    def answer(number: int) -> Answer:
        """The result of an analysis, whole or as far as it came."""
        return of_job(number, "answer")

    def of_job(number: int, what: str) -> Answer:
        found = getattr(queue.job(number), what, None)
        if found is None:
            raise RequestError(f"run {number}: there is no {what}", 404)
        return found


def _add_results(router: APIRouter, backend: Backend) -> None:
    existing = backend.folder.existing

    @router.get("/animation")
    def animation(name: str) -> Answer:
        """A result to draw, with its charts."""
        call = "studio.result_calls:animation"
        return backend.call(backend.files, call, file=str(existing(name)))

    @router.get("/results/facts")
    def facts(name: str) -> Answer:
        """Facts of a result about its run."""
        call = "runs.result_facts:result_facts"
        found = backend.call(backend.files, call, file=str(existing(name)))
        return {**found, "run": name}

    @router.post("/results/curves")
    def curves(question: CurvesQuestion) -> Answer:
        """Curves of results, and the differences of the others from the first."""
        files = [str(existing(name)) for name in question.runs]
        call = "studio.result_calls:curves"
        found = backend.call(backend.analyses, call, runs=files, what=question.what)
        names = dict(zip(files, question.runs, strict=True))
        for one in (*found["runs"], *found["differences"]):
            one["run"] = names[one["run"]]
        return found

    @router.post("/results/gif")
    def gif(pictures: Pictures, interval: Interval) -> FileResponse:
        """Pictures that a page drew, as a GIF."""

        def write(path: str) -> object:
            call = "studio.result_calls:gif"
            shown = {"pictures": pictures, "interval": interval}
            return backend.call(backend.files, call, path=path, **shown)

        return file_answer("motion.gif", write)
