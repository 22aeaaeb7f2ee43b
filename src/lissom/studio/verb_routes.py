"""One route for all verbs: a question names its robot, its changes and its values."""

from dataclasses import asdict
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import FileResponse

from ..files.description_files import library_scenarios
from ..verbs.registry import verbs
from ..verbs.verb import NOTHING, Verb
from .answer_files import answered_file
from .backend import Backend, check_changes, check_values, renamed, title_of
from .folder import FolderError
from .jobs import SIMULATE, Order
from .questions import VerbQuestion

Data = dict[str, Any]


def verb_routes(backend: Backend) -> APIRouter:
    """The routes below `/api/verbs`."""
    router = APIRouter(prefix="/api/verbs")

    @router.get("")
    def declarations() -> Data:
        """Parameters of all verbs with help, unit, range and default: what forms are made of."""
        return backend.remembered("declarations")

    @router.post("/{name}")
    def answer(name: str, question: VerbQuestion, response: Response) -> Any:
        """The answer of a verb; of a long one, its place in the queue."""
        verb = known_verb(name)
        request = asked(backend, verb, question)
        if verb.limit_s <= backend.limits.call_s:
            found = backend.ask(backend.analyses, "verb", **request)
            if verb.reads == NOTHING:
                # A page knows the files of the folder by their names.
                names = sources(question.source)
                for place, name in zip(sources(request["source"]), names, strict=True):
                    found = renamed(found, place, name)
            return found
        backend.queue.check_room()
        # What is wrong is said at once, field by field.
        backend.ask(backend.files, "check_verb", **request)
        response.status_code = 202
        order = partial(ordered, backend, verb, question, request)
        return asdict(backend.queue.add(order))

    @router.post("/{name}/lines")
    def lines(name: str, question: VerbQuestion) -> Data:
        """The command line and the lines of Python that do the same."""
        if name not in verbs():
            raise FolderError(f"{name[:80]}: no such verb", 404)
        return backend.ask(
            backend.files,
            "verb_lines",
            name=name,
            shown=_shown(backend, name, first_of(question.source)),
            changes=question.changes,
            values=question.values,
        )

    @router.post("/{name}/file")
    def file(name: str, question: VerbQuestion) -> FileResponse:
        """What a verb writes, as a file."""
        verb = known_verb(name)
        request = asked(backend, verb, question)
        ending = question.ending or ""
        outputs = [one for one in verb.writes if ending in one.every_ending]
        if not outputs:
            endings = [end for one in verb.writes for end in one.every_ending]
            accepted = " or ".join(endings)
            raise FolderError(f"{ending}: the name must end in {accepted}")

        def write(path: str) -> object:
            files = {outputs[0].name: path}
            return backend.ask(backend.analyses, "verb", **request, files=files)

        return answered_file(f"{name}{ending}", write)

    return router


def _shown(backend: Backend, name: str, source: str) -> str:
    """What a command line calls a source: a robot by its file where its name would be that of a scenario."""
    kind, _, rest = source.partition(":")
    if name == "simulate" and kind == "library" and rest in library_scenarios():
        return backend.source(source)
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


def asked(backend: Backend, verb: Verb, question: VerbQuestion) -> Data:
    """A question as a worker wants it."""
    check_changes(question.changes)
    check_values(question.values)
    source = question.source
    if not isinstance(source, str) and verb.reads != NOTHING:
        raise FolderError("source: which robot?", 400)
    # A verb that reads no robot takes a name of the library as the command line does.
    place = backend.named if verb.reads == NOTHING else backend.source
    places = [place(name) for name in sources(source)]
    return {
        "name": verb.name,
        "source": places if isinstance(source, tuple) else next(iter(places), None),
        "changes": question.changes,
        "values": question.values,
    }


def sources(source: Any) -> tuple[str, ...]:
    """All that a question is about."""
    return (source,) if isinstance(source, str) else tuple(source or ())


def first_of(source: Any) -> str:
    """What a question is about, or the first of it."""
    return next(iter(sources(source)), "")


def ordered(
    backend: Backend, verb: Verb, question: VerbQuestion, request: Data
) -> Order:
    """A long verb as the queue takes it, with free names for the files that are kept."""
    source = first_of(question.source) or verb.name
    title = title_of(source)
    if verb.name != SIMULATE:
        title = f"{title}-{verb.name.replace(' ', '-')}"
    if not verb.keeps:
        return Order(verb.name, title, source, request)
    name, path = backend.folder.new_result(title, next(iter(verb.keeps.values())))
    files = {kept: str(path.with_suffix(end)) for kept, end in verb.keeps.items()}
    if "store" in files and not question.values.get("over"):
        # A study in a file is resumed; one of the form starts from the beginning.
        store = f"runs/{PurePosixPath(source).stem}.sweep"
        files["store"] = str(backend.folder.path(store))
    return Order(verb.name, title, source, request | {"files": files}, name, path)
