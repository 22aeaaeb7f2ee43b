"""Names of the ways to reduce a link to few coordinates: one word for each, in files, options and Python."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

# Constraint modes with fixed-interface modes, [CraigBampton1968]; constraint modes alone, [Guyan1965]; free modes with
# residual attachment modes, [Rubin1975], [CraigChang1977]; free modes alone.
Method = Literal["craig-bampton", "guyan", "free-interface", "modal"]
# Of a link from finite elements: those that answer static loads on its interface exactly.
InterfaceMethod = Literal["craig-bampton", "guyan", "free-interface"]
OTHER_NAMES = {"rubin": "free-interface"}


def method_name(word: Any) -> Any:
    """The word for a method, whatever it is called; anything else as it is."""
    return OTHER_NAMES.get(word, word) if isinstance(word, str) else word


AnyMethod = Annotated[Method, BeforeValidator(method_name)]
AnyInterfaceMethod = Annotated[InterfaceMethod, BeforeValidator(method_name)]
