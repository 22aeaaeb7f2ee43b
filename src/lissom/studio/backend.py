"""What answers the routes of a studio: its folder, its workers, its queue of runs."""

import threading
from collections.abc import Callable
from typing import Any

from ..files.description_files import (
    library_file,
    library_names,
    library_scenarios,
    library_studies,
)
from .folder import Folder, FolderError, Text, fingerprint
from .jobs import JobQueue
from .limits import StudioLimits
from .worker import Worker

LIBRARY = "library:"  # before the name of a library robot
SCENARIO = "scenario:"  # before the name of a library scenario
# Keys by which a change could name a file anywhere on this machine.
FILE_KEYS = ("robot", "scenario", "file")


class Backend:
    """The folder, the worker processes and the queue that routes share."""

    def __init__(
        self,
        folder: Folder,
        limits: StudioLimits,
        new_worker: Callable[[], Worker] = Worker,
        lanes: int = 1,
    ):
        self.folder = folder
        self.limits = limits
        # Typing is checked while a slider moves: processes of their own.
        self.files = new_worker()
        self.poses = new_worker()
        self.analyses = new_worker()
        self.runs = [new_worker() for _ in range(lanes)]
        self.queue = JobQueue(self.runs, limits.run_s, limits.jobs, limits.history)
        self._known: dict[str, Any] = {}
        self._checking = threading.Lock()

    def close(self) -> None:
        """Ends all processes."""
        self.queue.close()
        self.files.close()
        self.poses.close()
        self.analyses.close()

    def ask(self, worker: Worker, call: str, **data: Any) -> Any:
        """The answer of a service."""
        return worker.call(call, data, self.limits.call_s)

    def remembered(self, call: str) -> Any:
        """The answer to a question about the package itself, that stays the same."""
        if call not in self._known:
            self._known[call] = self.ask(self.files, call)
        return self._known[call]

    # --- sources ---------------------------------------------------------------------------------------------------

    def source(self, name: str) -> str:
        """What verbs call a robot, a scenario or a result that the browser names."""
        kind, _, rest = name.partition(":")
        if f"{kind}:" == LIBRARY and rest in library_names():
            return str(library_file(rest))
        if f"{kind}:" == SCENARIO and rest in library_scenarios():
            return rest
        if ":" in name:
            raise FolderError(f"{name}: is not in the library", 404)
        return str(self.folder.existing(name))

    def named(self, name: str) -> str:
        """What the command line calls a robot, a scenario or a study that the browser names."""
        kind, _, rest = name.partition(":")
        if f"{kind}:" == LIBRARY and rest in (*library_scenarios(), *library_studies()):
            return rest
        return self.source(name)

    def text(self, name: str) -> Text:
        """A description as text; those of the library can be read and not saved."""
        if ":" not in name:
            return self.folder.read(name, self.limits.body)
        kind, _, rest = name.partition(":")
        is_scenario = f"{kind}:" == SCENARIO
        names = library_scenarios() if is_scenario else library_names()
        if rest not in names:
            raise FolderError(f"{name}: is not in the library", 404)
        text = library_file(rest, is_scenario).read_text(encoding="utf-8")
        return Text(name, text, fingerprint(text.encode()), None)

    def checked(self, name: str, text: str) -> Any:
        """What is wrong with a description as it is typed; it is kept as a draft on the way."""
        # A check that ends takes its draft away: another must not be reading it then.
        with self._checking:
            draft = str(self.folder.keep_draft(name, text))
            found = self.ask(self.files, "validate", file=draft)
            self.folder.drop_idle_draft(name, text)
        return renamed(found, draft, name)

    def draft_source(self, name: str) -> str:
        """The draft of a description where there is one, else the description."""
        draft = self.folder.draft(name)
        return str(draft) if draft.is_file() else self.source(name)


def check_changes(changes: dict[str, Any]) -> None:
    """Refuses changes that name files: those of a robot lie in its folder, as the file itself says.

    Raises:
        FolderError: a change names a file.
    """
    for path, value in changes.items():
        if _names_file(path.split("."), value):
            raise FolderError(f"changes.{path}: a change names no file", 403)


def check_values(value: Any) -> None:
    """Refuses values of a verb with a key by which a file could be named, wherever it stands in them.

    Raises:
        FolderError: there is one.
    """
    if isinstance(value, list):
        for entry in value:
            check_values(entry)
    if isinstance(value, dict):
        # Axes of a map are named by their entry `name`, those of a study by their key.
        for key in (*value, value.get("name")):
            steps = str(key).replace(",", ".").split(".")
            if {step.strip() for step in steps} & set(FILE_KEYS):
                raise FolderError(f"{str(key)[:80]}: what varies names no file", 403)
        for entry in value.values():
            check_values(entry)


def _names_file(path: list[str], value: Any) -> bool:
    if isinstance(value, dict):
        return any(_names_file([*path, str(k)], entry) for k, entry in value.items())
    if isinstance(value, list):
        return any(_names_file(path, entry) for entry in value)
    return path[-1] in FILE_KEYS and isinstance(value, str)


def renamed(found: Any, place: str, name: str) -> Any:
    """An answer about a file, with its name in place of where it lies."""
    if isinstance(found, str):
        return found.replace(place, name)
    if isinstance(found, list):
        return [renamed(entry, place, name) for entry in found]
    if isinstance(found, dict):
        return {
            renamed(k, place, name): renamed(v, place, name) for k, v in found.items()
        }
    return found


def title_of(source: str) -> str:
    """A run is called after its file, without folders and endings."""
    last = source.rpartition(":")[2].rpartition("/")[2]
    return last.partition(".")[0] or "run"
