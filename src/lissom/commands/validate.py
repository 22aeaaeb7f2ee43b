"""How `lissom validate` tells whether a file is right; see `lissom.runs.validate`."""

from typing import Any

import typer

from ..verbs.perform import perform
from ..verbs.verb import Verb
from .option_groups import Modelling
from .output import conclude, console, note, print_json
from .verb_command import group_of, report_of


def run(verb: Verb, given: dict[str, Any]) -> None:
    """The verdict on stdout, errors on stderr; exit code 2 if there is one."""
    report = report_of(given)
    file = given.pop("robot")
    changes = group_of(Modelling, given).changes()
    answer = perform(verb, file, given, changes)
    verdict = answer.result
    if report.json:
        print_json(answer.to_dict())
    elif verdict.valid:
        console().print(verdict.summary().title, soft_wrap=True)
    else:
        for error in verdict.errors:
            note(str(error))
        note(verdict.summary().title)
    if not verdict.valid:
        raise typer.Exit(2)
    conclude(verdict.warnings, report.strict, report.json)
