"""What the server answers about vibration, linear models, controllers and studies; long ones join the queue of runs."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from fastapi import APIRouter

from ..files.description_files import library_scenarios, library_studies
from ..verbs.registry import verbs
from .analysis_requests import (
    ControllersQuestion,
    MapQuestion,
    ModelQuestion,
    SweepQuestion,
)
from .folder import FolderError
from .jobs import Order
from .office import FILE_KEYS, LIBRARY, Office, check_changes, title_of
from .verb_routes import VerbQuestion, asked

Answer = dict[str, Any]


def analyses(office: Office) -> APIRouter:
    """The routes below `/api/analyse`."""
    router = APIRouter(prefix="/api/analyse")
    _add_questions(router, office)
    _add_long_ones(router, office)
    return router


def _asked(office: Office, question: ModelQuestion, *without: str) -> Answer:
    """A question as a service wants it."""
    check_changes(question.changes)
    values = question.model_dump(exclude={"source", *without})
    return {"robot": office.source(question.source), **values}


def _add_questions(router: APIRouter, office: Office) -> None:
    @router.post("/mode-motion")
    def mode_motion(question: VerbQuestion) -> Answer:
        """One mode, to be drawn."""
        told = asked(office, verbs()["modes"], question)
        return office.ask(office.analyses, "mode_motion", **told)


# --- long analyses -------------------------------------------------------------------------------------------------


def _add_long_ones(router: APIRouter, office: Office) -> None:
    @router.post("/map", status_code=202)
    def mode_map(question: MapQuestion) -> Answer:
        """Modes over one or two quantities."""
        asked = _asked(office, question)
        for axis in question.over:
            check_keys(axis.name)
        title = title_of(question.source)
        order = Order("mode_map", title, question.source, asked)
        return asdict(office.queue.add(lambda: order))

    @router.post("/controllers", status_code=202)
    def controllers(question: ControllersQuestion) -> Answer:
        """Controllers on one motion; every run is kept."""
        study = _study(office, question.study)
        title = f"{title_of(question.study)}-controllers"

        def order() -> Order:
            name, path = office.folder.new_result(title, ".png")
            runs = str(path.with_suffix(""))
            asked = {"study": study, "picture": str(path), "results": runs}
            return Order("controllers", title, question.study, asked, name, path)

        return asdict(office.queue.add(order))

    @router.post("/sweep", status_code=202)
    def sweep(question: SweepQuestion) -> Answer:
        """Many runs over chosen keys."""
        study, title, source = _swept(office, question)

        def order() -> Order:
            name, path = office.folder.new_result(title, ".png")
            # A study in a file is resumed; one of the form starts from the beginning.
            place = path.with_suffix(".sweep")
            if question.study is not None:
                place = office.folder.path(f"runs/{title}.sweep")
            asked = {"study": study, "store": str(place), "picture": str(path)}
            return Order("sweep", title, source, asked, name, path)

        return asdict(office.queue.add(order))


def _study(office: Office, name: str) -> str:
    """A comparison of controllers as the service calls it."""
    kind, _, rest = name.partition(":")
    if kind == "library" and rest in library_studies():
        return rest
    if ":" in name:
        raise FolderError(f"{name}: is not in the library", 404)
    return str(office.folder.existing(name))


def _swept(office: Office, question: SweepQuestion) -> tuple[Any, str, str]:
    """The study of a question, its title, and what it is about."""
    if question.study is not None:
        path = office.folder.existing(question.study)
        return str(path), Path(question.study).stem, question.study
    if question.source is None:
        raise FolderError("source: a study needs a robot or a scenario")
    check_changes(question.changes)
    for key in question.over:
        check_keys(key)
    described = {
        "scenario": _scenario(office, question.source),
        "analysis": question.analysis,
        "changes": question.changes,
        "over": question.over,
        "metrics": list(question.metrics),
    }
    return described, f"{title_of(question.source)}-sweep", question.source


def _scenario(office: Office, name: str) -> str:
    """What a study varies: of a library robot the scenario of its name, as on the command line."""
    kind, _, rest = name.partition(":")
    if f"{kind}:" == LIBRARY and rest in library_scenarios():
        return rest
    return office.source(name)


def check_keys(text: str) -> None:
    """Refuses a key that varies if its values could name files.

    Raises:
        FolderError: it could.
    """
    for key in text.split(","):
        if set(key.strip().split(".")) & set(FILE_KEYS):
            raise FolderError(f"{text[:80]}: what varies names no file", 403)
