"""One route for all verbs: a question names its robot, its changes and its values."""

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from fastapi.responses import FileResponse

from ..files.description_files import library_scenarios
from ..verbs.registry import verbs
from ..verbs.verb import NOTHING, Verb
from .answer_files import answered_file
from .folder import FolderError
from .frozen_model import FrozenModel
from .jobs import Order
from .office import Office, check_changes, title_of
from .requests import Changes, Name

Data = dict[str, Any]


class VerbQuestion(FrozenModel):
    """What a page asks of a verb; a worker checks the values against the signature of its function."""

    source: Name | None = None  # of verbs that read nothing there is none
    changes: Changes = {}
    values: Data = {}
    ending: str | None = None  # of the file that is asked for, instead of numbers


def verb_routes(office: Office) -> APIRouter:
    """The routes below `/api/verbs`."""
    router = APIRouter(prefix="/api/verbs")

    @router.get("")
    def declarations() -> Data:
        """Parameters of all verbs with help, unit, range and default: what forms are made of."""
        return office.remembered("declarations")

    @router.post("/{name}")
    def answer(name: str, question: VerbQuestion) -> Any:
        """The answer of a verb; of a long one, its place in the queue."""
        verb = known_verb(name)
        if verb.limit_s <= office.limits.call_s:
            return office.ask(office.analyses, "verb", **asked(office, verb, question))
        source = question.source or name
        title = title_of(source)
        order = Order("verb", title, source, asked(office, verb, question))
        return asdict(office.queue.add(lambda: order))

    @router.post("/{name}/lines")
    def lines(name: str, question: VerbQuestion) -> Data:
        """The command line and the lines of Python that do the same."""
        if name not in verbs():
            raise FolderError(f"{name[:80]}: no such verb", 404)
        return office.ask(
            office.files,
            "verb_lines",
            name=name,
            shown=_shown(office, name, question.source or ""),
            changes=question.changes,
            values=question.values,
        )

    @router.post("/{name}/file")
    def file(name: str, question: VerbQuestion) -> FileResponse:
        """What a verb writes, as a file."""
        verb = known_verb(name)
        told = asked(office, verb, question)
        ending = question.ending or ""
        outputs = [one for one in verb.writes if ending in one.endings]
        if not outputs:
            endings = [end for one in verb.writes for end in one.endings]
            accepted = " or ".join(endings)
            raise FolderError(f"{ending}: the name must end in {accepted}")

        def write(path: str) -> object:
            return office.ask(
                office.analyses, "verb", **told, files={outputs[0].name: path}
            )

        return answered_file(f"{name}{ending}", write)

    return router


def _shown(office: Office, name: str, source: str) -> str:
    """What a command line calls a source: a robot by its file where its name would be that of a scenario."""
    kind, _, rest = source.partition(":")
    if name == "simulate" and kind == "library" and rest in library_scenarios():
        return office.source(source)
    return source


def known_verb(name: str) -> Verb:
    """The verb of a name.

    Raises:
        FolderError: there is none.
    """
    known = verbs().get(name)
    if known is None or not known.in_studio:
        raise FolderError(f"{name[:80]}: no such verb", 404)
    return known


def asked(office: Office, verb: Verb, question: VerbQuestion) -> Data:
    """A question as a worker wants it."""
    check_changes(question.changes)
    if question.source is None and verb.reads != NOTHING:
        raise FolderError("source: which robot?", 400)
    return {
        "name": verb.name,
        "robot": question.source and office.source(question.source),
        "changes": question.changes,
        "values": question.values,
    }
