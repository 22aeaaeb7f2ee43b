"""A verb: a public function, and one row that says what it reads, what it writes, and how long it may take."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

# What the first argument of a verb's function is, and where it comes from.
ROBOT = "robot"  # a `Model`, from a robot and how it is modelled
LINEAR_MODEL = "linear model"  # a `LinearModel`, from `linearize` and its arguments
STATE = "state"  # a `Model` and a pose, or the state of a result at a time
SOURCE = "source"  # a name or a file that the function reads itself, and its `changes`
NOTHING = "nothing"  # no robot: its signature says all

PICTURE = (".png", ".pdf", ".svg")
PAGE = (".html", ".htm")


@dataclass(frozen=True, eq=False)
class Output:
    """A file that a verb writes if it gets a path: by which method of the result, and how its name ends."""

    name: str  # of the option and of the field of a request
    # Of the result, which takes the path: `plot`, `save`, `animate`; None where the function takes it itself.
    method: str | None
    endings: tuple[str, ...]
    help: str
    # Place of the path in the JSON: `picture`, or `files.plot`.
    key: str
    metavar: str = "FILE"
    options: tuple[str, ...] = ()  # of the command line; default: --name
    label: str = ""  # on the screen; default: the last word of `key`
    # Further arguments of the method, with their types and defaults.
    parameters: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    # Endings where a parameter is given; none where the file is then not written.
    endings_with: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def every_ending(self) -> tuple[str, ...]:
        """Endings with whatever parameters."""
        others = [end for ends in self.endings_with.values() for end in ends]
        return tuple(dict.fromkeys((*self.endings, *others)))

    @property
    def spelling(self) -> tuple[str, ...]:
        """Its options on the command line."""
        return self.options or _spelling(self.name)


@dataclass(frozen=True, eq=False)
class Verb:
    """One verb of the program, for the command line, Python, the studio and the reference."""

    name: str  # on the command line: step-response
    function: str | Callable[..., Any]  # home:name below `lissom`, or the function
    help: str  # one sentence
    example: str  # a command line, without `lissom`
    reads: str = ROBOT
    # Metavar of the subject on the command line, and its help.
    subject: tuple[str, str] = (
        "ROBOT",
        "Library name, or robot, scenario or result file.",
    )
    writes: tuple[Output, ...] = ()
    # Parameters and files that the command line requires.
    required: tuple[str, ...] = ()
    # Spellings on the command line other than --name.
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # Upper bounds of a browser's request, by parameter.
    most: Mapping[str, int | float] = field(default_factory=dict)
    limit_s: float = 60.0  # for an answer to the studio; longer ones join its queue
    in_studio: bool = True  # whether the studio offers it
    # Files that the studio saves in its folder of runs, by parameter or output, and how their names end; the others
    # are named after the first.
    keeps: Mapping[str, str] = field(default_factory=dict)
    # Whether there can be warnings, which --strict takes for failures.
    warns: bool = True
    # Whether the command reports how much of its code came from the cache.
    compiles: bool = True
    # A progress bar of `commands.watching`, and the argument of the function that reports to it.
    progress: str = ""
    watch: str = "watch"

    @property
    def python_name(self) -> str:
        """The name in Python: step_response."""
        return self.name.replace("-", "_").replace(" ", "_")

    @property
    def group(self) -> str:
        """The group of commands that it belongs to: `control` of `control design`."""
        return self.name.rpartition(" ")[0]

    @property
    def command(self) -> str:
        """The name of its command within the group: `design`."""
        return self.name.rpartition(" ")[2]

    def spelling(self, parameter: str) -> tuple[str, ...]:
        """Options of a parameter on the command line."""
        return self.options.get(parameter) or _spelling(parameter)

    def load(self) -> Callable[..., Any]:
        """The function; its module is imported now."""
        if callable(self.function):
            return self.function
        home, _, name = self.function.partition(":")
        return getattr(import_module(f"lissom.{home}"), name)


def _spelling(name: str) -> tuple[str, ...]:
    return (f"--{name.replace('_', '-')}",)
