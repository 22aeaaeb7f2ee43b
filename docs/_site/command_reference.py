"""Every command of `lissom` with its arguments and options, as the program itself has them."""

import re
from collections.abc import Iterator
from typing import Any

import typer

from lissom.commands.cli import app as lissom

EXAMPLE = re.compile(r"\b(lissom [\w-]+.*?)(?=,? lissom |$)")
NOBODY_ASKS = ("install_completion", "show_completion", "help")


def parameters_of(command: Any, kind: str) -> list:
    """Parameters of a command that its help shows: `argument` or `option`."""
    return [
        parameter
        for parameter in command.params
        if parameter.param_type_name == kind
        and not parameter.hidden
        and parameter.name not in NOBODY_ASKS
    ]


def value_of(parameter: Any) -> str:
    """What stands in the place of a value; nothing for a switch."""
    if isinstance(parameter.default, bool):
        return ""
    fallback = "VALUE" if parameter.opts[0].startswith("-") else parameter.name.upper()
    return parameter.metavar or fallback


def written(parameter: Any) -> str:
    """A parameter as a user writes it."""
    value = value_of(parameter)
    if parameter.param_type_name == "argument":
        return f"`{value}`"
    names = ", ".join(f"`{name}`" for name in parameter.opts)
    return f"{names} `{value}`" if value else names


def default_of(parameter: Any) -> str:
    default = parameter.default
    shown = isinstance(default, str | int | float) and not isinstance(default, bool)
    return f" Default: `{default}`." if shown and default != "" else ""


def table(title: str, parameters: list) -> Iterator[str]:
    if not parameters:
        return
    yield from (f"| {title} | meaning |", "|---|---|")
    for parameter in parameters:
        meaning = " ".join((parameter.help or "").split()).replace("|", r"\|")
        yield f"| {written(parameter)} | {meaning}{default_of(parameter)} |"
    yield ""


def help_of(command: Any) -> Iterator[str]:
    """Help text, its examples as a block that can be copied."""
    for paragraph in (command.help or "").replace("\b", "").split("\n\n"):
        text = " ".join(paragraph.split())
        if text.startswith(("Examples:", "Example:", "First steps:")):
            lines = [line.rstrip(".,") for line in EXAMPLE.findall(text)]
            yield from ("```console", *(f"$ {line}" for line in lines), "```", "")
        else:
            yield from (text, "")


def described(path: str, command: Any) -> Iterator[str]:
    """A command as Markdown: heading, help, arguments, options; then the commands inside it."""
    yield from (f"## `{path}`", "", *help_of(command))
    yield from table("argument", parameters_of(command, "argument"))
    yield from table("option", parameters_of(command, "option"))
    for name, inner in getattr(command, "commands", {}).items():
        yield from described(f"{path} {name}", inner)


def commands() -> str:
    """All commands, as sections of a page."""
    return "\n".join(described("lissom", typer.main.get_command(lissom.complete())))
