"""What the routes of a studio share: its folder, its workers, its queue of runs."""

import threading
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from ..files.description_files import (
    library_file,
    library_names,
    library_scenarios,
    library_studies,
)
from .explanation import RequestError
from .folder import Folder, Text, fingerprint
from .jobs import JobQueue
from .limits import StudioLimits
from .worker import Worker

# Before a colon and the name of a library robot, and of a library scenario.
LIBRARY, SCENARIO = "library", "scenario"
# Keys by which a change could name a file anywhere on this machine.
FILE_KEYS = ("robot", "scenario", "file")


class Backend:
    """The folder, the worker processes and the queue that routes share."""

    def __init__(
        self,
        folder: Folder,
        limits: StudioLimits,
        new_worker: Callable[[], Worker] = Worker,
    ):
        self.folder = folder
        self.limits = limits
        # Processes of their own: what is typed is checked while a slider moves and a run goes on.
        self.files = new_worker()
        self.poses = new_worker()
        self.analyses = new_worker()
        self.runs = new_worker()
        self.queue = JobQueue(self.runs, limits)
        # Answers of functions without arguments, that stay the same.
        self.cached = cache(partial(self.call, self.files))
        self._checking = threading.Lock()

    def close(self) -> None:
        """Ends all processes."""
        self.queue.close()
        self.files.close()
        self.poses.close()
        self.analyses.close()

    def call(self, worker: Worker, function: str, **data: Any) -> Any:
        """The answer of a function of the package, called in a worker."""
        return worker.call(function, data, self.limits.call_s)

    # --- sources ---------------------------------------------------------------------------------------------------

    def source(self, name: str) -> str:
        """What verbs call a robot, a scenario or a result that the browser names."""
        kind, colon, rest = name.partition(":")
        if not colon:
            return str(self.folder.existing(name))
        if kind == LIBRARY and rest in library_names():
            return str(library_file(rest))
        if kind == SCENARIO and rest in library_scenarios():
            return rest
        raise RequestError(f"{name}: is not in the library", 404)

    def named(self, name: str) -> str:
        """What the command line calls a robot, a scenario or a study that the browser names."""
        kind, _, rest = name.partition(":")
        if kind == LIBRARY and rest in (*library_scenarios(), *library_studies()):
            return rest
        return self.source(name)

    def text(self, name: str) -> Text:
        """A description as text; those of the library can be read and not saved."""
        kind, colon, rest = name.partition(":")
        if not colon:
            return self.folder.read(name, self.limits.body)
        self.source(name)  # refuses names that are not in the library
        text = library_file(rest, kind == SCENARIO).read_text(encoding="utf-8")
        return Text(name, text, fingerprint(text.encode()), None)

    def checked(self, name: str, text: str) -> Any:
        """What is wrong with a description as it is typed, after it was saved as a draft."""
        # The next check replaces the draft: none must be reading it then.
        with self._checking:
            file = str(self.folder.save_draft(name, text))
            found = self.call(
                self.files, "runs.validate:validate", file=file, start=False
            )
        return renamed(found, file, name)

    def draft_source(self, name: str) -> str:
        """A description as it is typed: its draft if it has one, else itself."""
        draft = self.folder.draft(name)
        return str(draft) if draft.is_file() else self.source(name)


def check_changes(changes: dict[str, Any]) -> None:
    """Refuses changes that name files: only the description names them, in its own folder.

    Raises:
        RequestError: a change names a file.
    """
    for path, value in changes.items():
        if _names_file(path.rpartition(".")[2], value):
            raise RequestError(f"changes.{path}: a change names no file", 403)


def check_values(value: Any) -> None:
    """Refuses values of a verb with a key by which a file could be named, wherever it stands in them.

    Raises:
        RequestError: there is one.
    """
    if isinstance(value, list):
        for entry in value:
            check_values(entry)
    if isinstance(value, dict):
        # Axes of a map are named by their entry `name`, those of a study by their key.
        for key in (*value, value.get("name")):
            steps = str(key).replace(",", ".").split(".")
            if {step.strip() for step in steps} & set(FILE_KEYS):
                raise RequestError(f"{str(key)[:80]}: what varies names no file", 403)
        for entry in value.values():
            check_values(entry)


def _names_file(key: str, value: Any) -> bool:
    if isinstance(value, dict):
        return any(_names_file(str(k), entry) for k, entry in value.items())
    if isinstance(value, list):
        return any(_names_file(key, entry) for entry in value)
    return key in FILE_KEYS and isinstance(value, str)


def renamed(found: Any, place: str, name: str) -> Any:
    """An answer about a file, with its name in the folder in place of its path."""
    if isinstance(found, str):
        return found.replace(place, name)
    if isinstance(found, list):
        return [renamed(entry, place, name) for entry in found]
    if isinstance(found, dict):
        return {
            renamed(k, place, name): renamed(v, place, name) for k, v in found.items()
        }
    return found
