"""What a worker process can be asked about verbs."""

from typing import Any

Data = dict[str, Any]


def verb(data: Data, watch: Any) -> Any:
    """The answer of a verb."""
    from ..verbs.declared import request_type
    from ..verbs.perform import perform
    from ..verbs.registry import verb_named

    def share_done(share: float) -> None:
        watch({"t": share, "t_end": 1.0, "unit": "done"})

    asked = verb_named(data["name"])
    request = request_type(asked, from_browser=True)(**data["values"])
    # Of a request that was checked, what was left out stays left out.
    values = request.model_dump(exclude_unset=True) | data.get("files", {})
    watched = share_done if takes_watch(asked) else None
    return perform(asked, data["robot"], values, data["changes"], watched).to_dict()


def takes_watch(asked: Any) -> bool:
    """Whether the function of a verb tells how far it is."""
    from inspect import signature

    return asked.watch in signature(asked.load()).parameters


def declarations(data: Data, watch: Any) -> Any:
    """Parameters of all verbs, as JSON schemas."""
    from ..verbs.declared import schema_of
    from ..verbs.registry import verbs

    offered = {name: verb for name, verb in verbs().items() if verb.in_studio}
    return {name: schema_of(verb) for name, verb in offered.items()}


def verb_lines(data: Data, watch: Any) -> Any:
    """The command line and the lines of Python that a question stands for."""
    from ..verbs.registry import verb_named
    from ..verbs.spelling import spelled

    return spelled(
        verb_named(data["name"]), data["shown"], data["changes"], data["values"]
    )


VERB_CALLS = (verb, declarations, verb_lines)
