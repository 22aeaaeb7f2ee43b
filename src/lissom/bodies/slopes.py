"""Slopes along the axis of a beam: what its shortening by bending, and with it geometric stiffening, is made of."""

import equinox as eqx
import numpy as np
from numpy.polynomial import legendre

from ..types import Float, Real, namespace


class Slopes(eqx.Module):
    """Slopes of a bent axis at p points along it, over the coordinates of a body whose inner node is at rest.

    An axis that bends keeps its length, so that a point of it moves by -1/2 int |slope|^2 t ds towards the joint, t the
    tangent. `nodes` and `stations` hold the weights of that integral from the joint to each node and station. A mass on
    an arm is shifted as its node is; that the arm turns is of first order only.
    """

    slope: Float[Real, "p 3 c"]  # part of du/ds across the axis, link axes
    tangent: Float[Real, "p 3"]  # t, link axes
    nodes: Float[Real, "k p"]  # [m]
    stations: Float[Real, "s p"]  # [m]


def in_shapes(slopes: Slopes, elastic: Float[Real, "c m"]) -> Slopes:
    """Slopes over (r, eta), q = elastic eta: a rigid displacement r bends nothing."""
    xp = namespace(slopes.slope, elastic)
    of_eta = slopes.slope @ elastic
    points, axes, _ = of_eta.shape
    of_r = xp.zeros((points, axes, 6))
    slope = xp.concatenate([of_r, of_eta], axis=2)
    return eqx.tree_at(lambda s: s.slope, slopes, slope)


def with_station(slopes: Slopes, node: int) -> Slopes:
    """Slopes with one more station, a mass that is shifted as a node is."""
    xp = namespace(slopes.stations)
    weights = slopes.nodes[node][None]
    stations = xp.concatenate([slopes.stations, weights])
    return eqx.tree_at(lambda s: s.stations, slopes, stations)


def integral_weights(
    targets: Float[np.ndarray, " n"], points: int
) -> Float[np.ndarray, "n p"]:
    """Weights w with int_0^x f = sum_j w_j f(x_j), x_j the Gauss points of (0, 1), for polynomials of their degree."""
    x, weight = legendre.leggauss(points)
    y = 2 * np.asarray(targets, dtype=float) - 1
    P = legendre.legvander(x, points - 1)  # P_k(x_j)
    Q = legendre.legvander(y, points)
    # Integral of P_k from -1 to y: (P_{k+1} - P_{k-1}) / (2 k + 1), which is zero at -1.
    integral = [y + 1]
    for k in range(1, points):
        above = Q[:, k + 1]
        below = Q[:, k - 1]
        integral.append((above - below) / (2 * k + 1))
    # f = sum_k c_k P_k with c_k = (k + 1/2) sum_j weight_j P_k(x_j) f(x_j); halved, since (0, 1) is half as long.
    degree = np.arange(points)
    coefficient = P * (degree + 0.5)
    whole = np.stack(integral, axis=1) @ coefficient.T
    return 0.5 * whole * weight
