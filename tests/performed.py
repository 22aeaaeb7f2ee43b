"""Verbs as every door performs them."""

from lissom.verbs.declared import request_type
from lissom.verbs.perform import perform
from lissom.verbs.registry import verb_named


def performed(name, robot, changes=None, **values):
    """The answer of a verb to values that were checked as those of a request."""
    request = request_type(verb_named(name))(**values)
    given = {name: getattr(request, name) for name in request.model_fields_set}
    return perform(verb_named(name), robot, given, changes)
