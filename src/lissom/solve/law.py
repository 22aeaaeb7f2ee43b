"""The contract of a control law: its measurements, its memory, and when it acts."""

import abc
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import numpy as np
from jaxtyping import Array

from ..types import Float, Scalar


class AbstractLaw(eqx.Module):
    """A control law: (t, measured, memory) -> (command, memory).

    A law sees only what is measured: the channels that it names, in their order. A *sampled* law acts every `sample`
    seconds, and its command is held in between; it measures before it acts, under the command held so far. A
    *continuous* law (`sample` None) acts at every instant: it has no memory, and sees nothing that its own command
    changes in the same instant.
    """

    sample: eqx.AbstractVar[Scalar | None]  # period [s]; None: continuous

    @abc.abstractmethod
    def sensors(self, model: Any) -> tuple[str, ...]:
        """Names of the channels that the law measures on a robot: `upper.encoder`, `lower/tip.ax` (see `channels`)."""

    def init(self, model: Any) -> Any:
        """Memory before the first sample: any pytree of arrays."""
        return ()

    @abc.abstractmethod
    def __call__(
        self, t: Float[Array, ""], measured: Float[Array, " m"], memory: Any
    ) -> tuple[Float[Array, " a"], Any]:
        """Torque of every actuated joint [N m or N], and the memory for the next sample."""

    def holding(self, t: Float[Any, ""], torque: Float[Any, " a"], memory: Any) -> Any:
        """The memory before the first sample of a run, under torques that are held until then.

        It matters to laws that know the torque before: delays and lags of drives, filters that predict with it.
        """
        return memory

    def resting(
        self, memory: Any, measured: Float[Any, " m"]
    ) -> tuple["AbstractLaw", Any]:
        """The law after a long rest at what is measured, and its memory; linear models of the loop are taken of it.

        It matters to laws that adapt, such as filters whose gains follow the motion: others stay what they are.
        """
        return self, memory

    def remarks(self) -> tuple[str, ...]:
        """Remarks about the law for its user, a sentence each."""
        return ()

    def incidents(self) -> tuple[str, ...]:
        """Incidents of the law since `init`, such as infeasible limits, a sentence each: warnings of the run."""
        return ()

    @property
    def breakpoints(self) -> np.ndarray:
        """Times at which a continuous law is not smooth: the integrator steps to them exactly."""
        return np.zeros(0)

    def on(self, start: float, end: float) -> "AbstractLaw":
        """The law between two neighbouring breakpoints, smooth there up to both ends."""
        return self

    def pieces(
        self, starts: Sequence[float], ends: Sequence[float]
    ) -> list["AbstractLaw"]:
        """The laws of many pieces, one after the other."""
        return [self.on(start, end) for start, end in zip(starts, ends, strict=True)]
