"""Links whose frames sit on the displaced tips of their parents: what those formulations have in common."""

import equinox as eqx
from jaxtyping import Array, Float

from ..kinematics.chain import Chain, link_frames
from ..kinematics.compatibility import AbstractReference, Tangent
from ..types import Real
from .formulation import AbstractFormulation, Configuration, Joints, place_elastic
from .links import Links


class AbstractOnTips(AbstractFormulation):
    """Body coordinates q = (0, eta), and theta is what the encoders read."""

    chain: Chain
    links: Links
    joints: Joints
    gravity: Float[Real, "3"]
    elastic_names: tuple[str, ...] = eqx.field(static=True)
    published: bool = eqx.field(static=True, default=False)
    reference: AbstractReference = eqx.field(default_factory=Tangent)

    @property
    def n_joints(self) -> int:
        """Number of joint coordinates theta."""
        return self.chain.selection.shape[1]

    @property
    def finite_rotations(self) -> bool:
        """Nodes turn by exp(phi x)."""
        return True

    def rigid_frames(
        self, place: Configuration
    ) -> tuple[Float[Array, "l 3 3"], Float[Array, "l 3"]]:
        """Link frames of rigid links with the same encoder readings."""
        return link_frames(self.chain, place.encoder)

    def split(
        self, x: Float[Array, " n"]
    ) -> tuple[Float[Array, " j"], Float[Array, "l m"]]:
        """Joint coordinates, and the elastic coordinates of every link."""
        return x[: self.n_joints], place_elastic(self.links, x[self.n_joints :])
