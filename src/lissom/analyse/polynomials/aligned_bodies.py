"""Reduced links whose data change, in coordinates that mean the same for all values of the data.

The modes of a link come from an eigenproblem. Their signs, and their directions where frequencies repeat, are
arbitrary: two links that differ by a trace may have quite different coordinates. What the modes span changes smoothly.
"""

from collections.abc import Sequence

import numpy as np

from ...bodies.body import Body, in_basis, weighted_product
from ...bodies.reduce.reduced_body import is_modal
from ...describe.link import Link
from ...types import namespace


def aligned_bodies(
    links: Sequence[Link], bodies: Sequence[Body], own: Sequence[Body]
) -> tuple[Body, ...]:
    """The bodies in the coordinates of the robot's `own` ones; those that are no reduced beams stay as they are."""
    aligned = []
    for link, body, nominal in zip(links, bodies, own, strict=True):
        has_modes = link.beam is not None and bool(body.names) and is_modal(body)
        aligned.append(aligned_body(body, nominal) if has_modes else body)
    return tuple(aligned)


def aligned_body(body: Body, nominal: Body) -> Body:
    """The same body with coordinates y that its displacements u have in the modes U_0 of the nominal one.

    y is the part of u along U_0, weighted with the nominal mass, U_0^T D U_0 y = U_0^T D u. With u = U eta this is
    a change of coordinates, eta = (U_0^T D U)^-1 (U_0^T D U_0) y, and y depends on the span of U alone.
    """
    # A lumped mass that only one of them carries is a station more at the end: the others are common.
    common = min(len(nominal.station_shape), len(body.station_shape))
    U_0 = np.asarray(nominal.station_shape)[:common, :, 6:]
    D = np.asarray(nominal.station_inertia)[:common]
    xp = namespace(body.station_shape)
    U = xp.asarray(body.station_shape)[:common, :, 6:]
    change = xp.linalg.solve(weighted_product(U_0, D, U), weighted_product(U_0, D, U_0))
    at_rest = xp.zeros((6, change.shape[1]))
    return in_basis(body, xp.vstack([at_rest, change]), body.names)
