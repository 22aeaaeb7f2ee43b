"""The commands of a program, of which a command line names one."""

from copy import copy
from typing import Any

import typer


class App(typer.Typer):
    """A program that builds, of all its commands, the one that a line begins with: all of them take 15 ms."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Runs a line. One that begins with no command, as `--help` does or a word misspelt, needs all of them."""
        line = args[0] if args else ()
        program = self.with_command(line[0]) if line else self
        return typer.Typer.__call__(program, *args, **options)

    def with_command(self, name: str) -> "App":
        """The program with a single command, or group of commands; with all where there is no such one."""
        commands = [found for found in self.registered_commands if found.name == name]
        groups = [found for found in self.registered_groups if found.name == name]
        if not commands and not groups:
            return self
        alone = copy(self)
        alone.registered_commands = commands
        alone.registered_groups = groups
        return alone
