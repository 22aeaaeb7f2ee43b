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
        program = self.with_command(line[0] if line else "")
        return typer.Typer.__call__(program, *args, **options)

    def with_command(self, name: str) -> "App":
        """The program with a single command, or group of commands; with the names of all where there is no such one."""
        if name in verbs():
            return self._with([verbs()[name]], command_of, alone=True)
        commands = [found for found in self.registered_commands if found.name == name]
        groups = [found for found in self.registered_groups if found.name == name]
        if commands or groups:
            alone = copy(self)
            alone.registered_commands = commands
            alone.registered_groups = groups
            return alone
        return self._with(verbs().values(), _named)

    def complete(self) -> "App":
        """The program with all commands and their options; to read these, all verbs are imported."""
        return self._with(verbs().values(), command_of)

    def _with(
        self,
        wanted: Iterable[Verb],
        make: Callable[[Verb], Callable[..., None]],
        alone: bool = False,
    ) -> "App":
        program = copy(self)
        program.registered_commands = [] if alone else list(self.registered_commands)
        if alone:
            program.registered_groups = []
        for verb in wanted:
            program.command(verb.name)(make(verb))
        return program


def _named(verb: Verb) -> Callable[..., None]:
    """A command with its name and its help alone: for the list of all commands."""

    def command() -> None:
        pass

    command.__name__ = verb.python_name
    command.__doc__ = verb.help
    return command
