"""Second-order displacements of a link that is known by its matrices: what geometric stiffening is made of."""

import equinox as eqx

from ..algebra.se3 import rigid_shape
from ..types import Float, Real, Vector3, namespace
from .inertia import Inertia, in_columns


class SecondOrderFields(eqx.Module):
    """The displacements f_p |A_p q|^2 of p fields, beside those linear in the coordinates q of a body."""

    factors: Float[Real, "p d c"]  # A_p; a rigid displacement r takes no part
    # the same for a rotation phi of the whole body: |A_p q + L_p phi|^2
    leans: Float[Real, "p d 3"]
    nodes: Float[Real, "k 6 p"]  # f_p at the nodes
    stations: Float[Real, "s 6 p"]  # f_p at the stations (masses added to the link)
    # inertia of the link, its stations left out, over (rigid twist, q, p fields)
    inertia: Inertia


def in_shapes(
    fields: SecondOrderFields,
    rigid: Float[Real, "c 6"],
    elastic: Float[Real, "c m"],
) -> SecondOrderFields:
    """Fields over (r, eta), q = rigid r + elastic eta: a rigid displacement r bends nothing."""
    xp = namespace(fields.factors, elastic)
    points, rows, c = fields.factors.shape
    at_rest = xp.zeros((points, rows, 6))
    of_eta = fields.factors @ elastic
    change = xp.hstack([xp.asarray(rigid), elastic])
    twist = xp.eye(6, 6 + change.shape[1] + points)
    coordinates = xp.hstack([xp.zeros((c, 6)), change, xp.zeros((c, points))])
    squares = xp.eye(6 + change.shape[1] + points)[6 + change.shape[1] :]
    T = xp.vstack([twist, coordinates, squares])
    return SecondOrderFields(
        factors=xp.concatenate([at_rest, of_eta], axis=2),
        leans=fields.leans,
        nodes=fields.nodes,
        stations=fields.stations,
        inertia=in_columns(fields.inertia, T),
    )


def with_station(
    fields: SecondOrderFields, node: int, arm: Vector3
) -> SecondOrderFields:
    """Fields with one more station, a mass on an arm that is fixed to a node."""
    xp = namespace(fields.nodes, arm)
    shape = rigid_shape(arm) @ fields.nodes[node]
    stations = xp.concatenate([fields.stations, shape[None]])
    return eqx.tree_at(lambda f: f.stations, fields, stations)


def with_further_coordinates(inertia: Inertia, further: int, last: int = 0) -> Inertia:
    """The constants with `further` coordinates that move nothing, before the `last` ones."""
    xp = namespace(inertia.mass)
    count = inertia.mass.shape[0]
    before = count - last
    every = xp.eye(count)
    nothing = xp.zeros((count, further))
    T = xp.hstack([every[:, :before], nothing, every[:, before:]])
    return in_columns(inertia, T)
