"""What a worker process can be asked about verbs."""

from typing import Any

from ..verbs.registry import verb_named, verbs
from ..verbs.verb import NOTHING, SOURCE
from .verb_progress import reporting

Data = dict[str, Any]


def verb(data: Data, watch: Any) -> Any:
    """The answer of a verb."""
    from ..verbs.perform import perform

    asked = verb_named(data["name"])
    values = checked_values(data) | data.get("files", {})
    with reporting(asked, watch) as report:
        return perform(asked, data["source"], values, data["changes"], report).to_dict()


def checked_values(data: Data) -> Data:
    """Values from a browser, as the declarations take them; what was left out stays left out."""
    from ..verbs.declared import request_type

    request = request_type(verb_named(data["name"]), from_browser=True)
    checked = request(**data["values"])
    return {name: getattr(checked, name) for name in checked.model_fields_set}


def check_verb(data: Data, watch: Any) -> None:
    """Nothing, where a verb that is to wait takes its values, and its robot or scenario the changes."""
    from ..runs.sources import robot_of, scenario_of

    checked_values(data)
    reads = verb_named(data["name"]).reads
    if reads != NOTHING:
        described = scenario_of if reads == SOURCE else robot_of
        described(data["source"], data["changes"])


def declarations(data: Data, watch: Any) -> Any:
    """Parameters of all verbs, as JSON schemas."""
    from ..verbs.declared import schema_of

    offered = {name: verb for name, verb in verbs().items() if verb.in_studio}
    return {name: schema_of(verb) for name, verb in offered.items()}


def verb_lines(data: Data, watch: Any) -> Any:
    """The command line and the lines of Python that a question stands for."""
    from ..verbs.spelling import spelled

    return spelled(
        verb_named(data["name"]), data["shown"], data["changes"], data["values"]
    )


VERB_CALLS = (verb, check_verb, declarations, verb_lines)
