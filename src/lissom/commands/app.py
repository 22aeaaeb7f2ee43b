"""The program `lissom`, which builds only the command that its line names."""

from collections.abc import Callable, Iterable
from copy import copy
from typing import Any

import typer

from ..verbs.registry import verbs
from ..verbs.verb import Verb
from .verb_command import command_of


class App(typer.Typer):
    """A program that builds the command that a line begins with: building all of them takes 15 ms."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Runs a line. One that begins with no command, as `--help` or a misspelt one, needs the names of all."""
        line = args[0] if args else ()
        program = self.with_command(*line[:2])
        return typer.Typer.__call__(program, *args, **options)

    def with_command(self, name: str = "", inside: str = "") -> "App":
        """The program with a single command, or group of commands; with the names of all if there is none such.

        Args:
            name: of the command, or of the group.
            inside: of a command of the group: its other commands have only their names and help.
        """
        alone = copy(self)
        alone.registered_commands = [
            one for one in self.registered_commands if one.name == name
        ]
        alone.registered_groups = [
            one for one in self.registered_groups if one.name == name
        ]
        chosen = [one for one in verbs().values() if (one.group or one.name) == name]
        if not (chosen or alone.registered_commands):
            return self._with(verbs().values(), _named)

        def make(verb: Verb) -> Callable[..., None]:
            return (command_of if verb.command in (name, inside) else _named)(verb)

        return alone._with(chosen, make)

    def complete(self) -> "App":
        """The program with all commands and their options; to read these, all verbs are imported."""
        return self._with(verbs().values(), command_of)

    def _with(
        self, added: Iterable[Verb], make: Callable[[Verb], Callable[..., None]]
    ) -> "App":
        """A copy of the program with the commands of some verbs added, each in its group."""
        program = copy(self)
        program.registered_commands = list(self.registered_commands)
        program.registered_groups = [copy(group) for group in self.registered_groups]
        places: dict[str, Any] = {"": program}
        for group in program.registered_groups:
            own = copy(group.typer_instance or typer.Typer())
            own.registered_commands = list(own.registered_commands)
            group.typer_instance = own
            places[str(group.name)] = own
        for verb in added:
            if verb.group in places:
                places[verb.group].command(verb.command)(make(verb))
        return program


def _named(verb: Verb) -> Callable[..., None]:
    """A command with only its name and its help, for the list of all commands."""

    def command() -> None:
        pass

    command.__name__ = verb.python_name
    command.__doc__ = verb.help
    return command
