"""What requests and results are made of.

They are pydantic models and not dataclasses: a request that comes from outside is checked field by field when it is
made, and every request and every result has a JSON schema that a program in the browser can read.
"""

from typing import Annotated, Any

import jax
import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    PlainSerializer,
    WithJsonSchema,
)
from pydantic_core.core_schema import CoreSchema, is_instance_schema


class FrozenModel(BaseModel):
    """Data that does not change once it is made: a request, a result, or a part of one."""

    # Requests that nobody makes are never built.
    model_config = ConfigDict(
        frozen=True, extra="forbid", arbitrary_types_allowed=True, defer_build=True
    )


class Made:
    """Says of a field that it takes objects which are made already; pydantic need not know how they are made."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """The check that pydantic does in place of building the object."""
        return is_instance_schema(source)


def _as_array(value: Any) -> np.ndarray:
    return np.asarray(value, dtype=float)


def _as_list(value: np.ndarray) -> list[Any]:
    return value.tolist()


def _as_tuple(value: Any) -> Any:
    """Arrays as tuples; everything else is left to pydantic."""
    if isinstance(value, np.ndarray | jax.Array):
        return tuple(np.asarray(value).tolist())
    return value


# Numbers of a result, with as many dimensions as they need.
NumberArray = Annotated[
    np.ndarray,
    BeforeValidator(_as_array),
    PlainSerializer(_as_list),
    WithJsonSchema({"type": "array"}),
]
# One number for each moving joint of a robot [rad or m, and their rates].
JointValues = Annotated[tuple[float, ...], BeforeValidator(_as_tuple)]
# The same number for every joint, or one for each.
Gains = float | JointValues
Position = Annotated[tuple[float, float, float], BeforeValidator(_as_tuple)]  # [m]
