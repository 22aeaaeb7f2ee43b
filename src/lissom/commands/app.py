"""The commands of a program, of which a command line names one."""

from collections.abc import Callable, Iterable
from copy import copy
from typing import Any

import typer

from ..verbs.registry import verbs
from ..verbs.verb import Verb
from .verb_command import command_of


class App(typer.Typer):
    """A program that builds, of all its commands, the one that a line begins with: all of them take 15 ms."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Runs a line. One that begins with no command, as `--help` does or a word misspelt, needs all of them."""
        line = args[0] if args else ()
        program = self.with_command(*line[:2])
        return typer.Typer.__call__(program, *args, **options)

    def with_command(self, name: str = "", inside: str = "") -> "App":
        """The program with a single command, or group of commands; with the names of all where there is no such one.

        Args:
            name: of the command, or of the group.
            inside: of a command of the group: others of its verbs have their names and help alone.
        """
        alone = copy(self)
        alone.registered_commands = []
        alone.registered_groups = []
        if name in verbs():
            return alone._with([verbs()[name]], command_of)
        found = [one for one in self.registered_commands if one.name == name]
        groups = [one for one in self.registered_groups if one.name == name]
        if not (found or groups):
            return self._with(verbs().values(), _named)
        alone.registered_commands = found
        alone.registered_groups = groups

        def wanted(verb: Verb) -> Callable[..., None]:
            return (command_of if verb.command == inside else _named)(verb)

        return alone._with([one for one in verbs().values() if one.group], wanted)

    def complete(self) -> "App":
        """The program with all commands and their options; to read these, all verbs are imported."""
        return self._with(verbs().values(), command_of)

    def _with(
        self, wanted: Iterable[Verb], make: Callable[[Verb], Callable[..., None]]
    ) -> "App":
        """A program that has the commands of some verbs too, those of a group in their group."""
        program = copy(self)
        program.registered_commands = list(self.registered_commands)
        program.registered_groups = [copy(group) for group in self.registered_groups]
        places: dict[str, Any] = {"": program}
        for group in program.registered_groups:
            own = copy(group.typer_instance or typer.Typer())
            own.registered_commands = list(own.registered_commands)
            group.typer_instance = own
            places[str(group.name)] = own
        for verb in wanted:
            if verb.group in places:
                places[verb.group].command(verb.command)(make(verb))
        return program


def _named(verb: Verb) -> Callable[..., None]:
    """A command with its name and its help alone: for the list of all commands."""

    def command() -> None:
        pass

    command.__name__ = verb.python_name
    command.__doc__ = verb.help
    return command
