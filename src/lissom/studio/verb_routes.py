"""One route for all verbs: a request names its robot, its changes and its values."""

import re
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import FileResponse

from ..files.description_files import library_scenarios
from ..verbs.registry import verbs
from ..verbs.verb import NOTHING, Verb
from .answers import file_answer
from .backend import LIBRARY, Backend, check_changes, check_values, renamed
from .explanation import RequestError
from .jobs import SIMULATE, Job
from .questions import VerbQuestion
from .worker import VERB

Data = dict[str, Any]


def verb_routes(backend: Backend) -> APIRouter:
    """The routes below `/api/verbs`."""
    router = APIRouter(prefix="/api/verbs")

    @router.get("")
    def declarations() -> Data:
        """Parameters of all verbs with help, unit, range and default: what forms are made of."""
        return backend.cached("studio.verb_calls:declarations")

    @router.post("/{name}")
    def answer(name: str, question: VerbQuestion, response: Response) -> Any:
        """The answer of a verb; of a long one, its job in the queue."""
        verb = known_verb(name)
        request = worker_request(backend, verb, question)
        if verb.limit_s <= backend.limits.call_s:
            found = backend.call(backend.analyses, VERB, **request)
            if verb.reads == NOTHING:
                # A page knows the files of the folder by their names.
                source = request["source"]
                places = [source] if isinstance(source, str) else source or ()
                for place, name in zip(places, question.sources, strict=True):
                    found = renamed(found, place, name)
            return found
        backend.queue.check_room()
        # Mistakes are reported at once, field by field.
        backend.call(backend.files, "studio.verb_calls:check_verb", **request)
        response.status_code = 202
        job = partial(new_job, backend, verb, question, request)
        return backend.queue.add(job).listed()

    @router.post("/{name}/lines")
    def lines(name: str, question: VerbQuestion) -> Data:
        """The command line and the lines of Python that do the same."""
        if name not in verbs():
            raise RequestError(f"{name[:80]}: no such verb", 404)
        source = question.first_source
        kind, _, rest = source.partition(":")
        if name == SIMULATE and kind == LIBRARY and rest in library_scenarios():
            # Its name alone is that of a scenario.
            source = backend.source(source)
        return backend.call(
            backend.files,
            "studio.verb_calls:verb_lines",
            name=name,
            source=source,
            changes=question.changes,
            values=question.values,
        )

    @router.post("/{name}/file")
    def file(name: str, question: VerbQuestion) -> FileResponse:
        """A file that a verb writes."""
        verb = known_verb(name)
        request = worker_request(backend, verb, question)
        ending = question.ending or ""
        output = next((one for one in verb.writes if ending in one.every_ending), None)
        if output is None:
            endings = [end for one in verb.writes for end in one.every_ending]
            accepted = " or ".join(endings)
            raise RequestError(f"{ending}: the name must end in {accepted}")

        def write(path: str) -> object:
            files = {output.name: path}
            return backend.call(backend.analyses, VERB, **request, files=files)

        return file_answer(f"{name}{ending}", write)

    return router


def known_verb(name: str) -> Verb:
    """The verb of a name.

    Raises:
        RequestError: there is none.
    """
    known = verbs().get(name)
    if known is None or not known.in_studio:
        raise RequestError(f"{name[:80]}: no such verb", 404)
    return known


def worker_request(backend: Backend, verb: Verb, question: VerbQuestion) -> Data:
    """Arguments of `verb_calls.verb`."""
    check_changes(question.changes)
    check_values(question.values)
    if not isinstance(question.source, str) and verb.reads != NOTHING:
        raise RequestError("source: which robot?")
    # A verb that reads no robot takes a name of the library as the command line does.
    place = backend.named if verb.reads == NOTHING else backend.source
    places = [place(name) for name in question.sources]
    is_list = isinstance(question.source, tuple)
    return {
        "name": verb.name,
        "source": places if is_list else next(iter(places), None),
        "changes": question.changes,
        "values": question.values,
    }


def new_job(backend: Backend, verb: Verb, question: VerbQuestion, request: Data) -> Job:
    """The job of a long verb, with reserved names for the files that it writes."""
    source = question.first_source or verb.name
    # The name of the robot, or of the file without folders and endings.
    title = re.split("[:/]", source)[-1].partition(".")[0] or "run"
    if verb.name != SIMULATE:
        title = f"{title}-{verb.name.replace(' ', '-')}"
    job = Job(verb.name, title, source, request, question.changes)
    if not verb.keeps:
        return job
    name, path = backend.folder.new_result(title, next(iter(verb.keeps.values())))
    files = {kept: str(path.with_suffix(end)) for kept, end in verb.keeps.items()}
    if "store" in files and not question.values.get("over"):
        # A study in a file is resumed; one of the form starts from the beginning.
        store = f"runs/{PurePosixPath(source).stem}.sweep"
        files["store"] = str(backend.folder.path(store))
    return replace(job, request=request | {"files": files}, file=name, path=path)
