"""Second-order displacements of solid links: a solid bar shortens and stiffens as a beam does."""

import numpy as np
import pytest
import skfem

import lissom as ls
from lissom.bodies.fe.importing import reduce_link
from lissom.bodies.fe.reduced_link import load_link, with_modes
from lissom.bodies.fe.solid import EDGES, SolidMesh, save_mesh
from lissom.describe.material import Material

from .fe_decks import DATA

L, SIDE = 1.0, 0.02
E, RHO = 7e10, 2700.0
# Frequencies of flapping over sqrt(E I / (rho A)) / L^2, by spin rates in the same unit: [Wright1982], hub radius zero.
FLAP = {3: 4.7973, 6: 7.3604, 10: 11.2023}


def solid_bar():
    """10-node tetrahedra along x, square across."""
    corners = skfem.MeshTet.init_tensor(
        np.linspace(0, L, 25),
        np.linspace(-SIDE / 2, SIDE / 2, 2),
        np.linspace(-SIDE / 2, SIDE / 2, 2),
    )
    numbers, tets = {}, []
    for tet in corners.t.T:
        points = [corners.p[:, node] for node in tet]
        points += [(points[i] + points[j]) / 2 for i, j in EDGES]
        places = [tuple(point.round(12)) for point in points]
        tets.append([numbers.setdefault(place, len(numbers)) for place in places])
    none = np.zeros((0, 6), int)
    labels = np.arange(1, len(numbers) + 1)
    return SolidMesh(np.array(list(numbers)), labels, np.array(tets), none, none[:, 0])


@pytest.fixture(scope="module")
def bar(tmp_path_factory):
    """The file of the reduced bar."""
    folder = tmp_path_factory.mktemp("bar")
    save_mesh(solid_bar(), folder / "mesh.npz")
    link = reduce_link(
        folder / "mesh.npz",
        {"inner": "x=0", "tip": f"x={L}"},
        material=Material(E=E, nu=0.3, density=RHO),
        checked=0,
    )
    link.save(folder / "link.npz")
    return folder / "link.npz"


def tip_forms(link):
    """Quadratic form (6, m, m) of the second-order displacement of the tip."""
    second = link.second_order
    squares = np.einsum("pdm,pdn->pmn", second.factors, second.factors)
    return np.einsum("cp,pmn->cmn", second.shapes[-1], squares)


def test_a_solid_bar_bent_by_a_force_on_its_tip_is_shortened_as_a_beam(bar):
    # w = F (3 L x^2 - x^3) / (6 E I): int w'^2 / 2 = 3/5 w(L)^2 / L.
    link = load_link(bar)
    force = np.zeros(6)
    force[2] = 1.0
    eta = np.linalg.solve(link.stiffness, link.shapes[-1].T @ force)
    deflection = link.shapes[-1][2] @ eta
    shortening = -(eta @ tip_forms(link)[0] @ eta)
    assert shortening == pytest.approx(0.6 * deflection**2 / L, rel=0.01)


def test_twelve_of_its_modes_have_the_same_second_order_displacements(bar):
    link = load_link(bar)
    fewer = with_modes(link, 12)
    expected = tip_forms(link)[:, :12, :12]
    np.testing.assert_allclose(tip_forms(fewer), expected, atol=1e-12)
    assert fewer.second_order.inertia.mass.shape[0] == 6 + 12 + len(
        fewer.second_order.factors
    )


def robot_of(bar):
    joint = {"type": "revolute", "axis": [0, 0, 1]}
    link = {"name": "bar", "joint": joint, "fe": {"file": str(bar)}}
    return ls.Robot.from_dict({"name": "bar", "gravity": [0, 0, 0], "links": [link]})


def test_a_link_without_them_is_refused_with_what_to_do():
    # As `reduce` of 0.1 wrote it.
    robot = robot_of(DATA / "solid-arm-0.1.npz")
    with pytest.raises(ValueError, match="write it again by `lissom reduce`"):
        ls.Model(robot, stiffening="geometric")


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["nonlinear", "erls-cms"])
@pytest.mark.parametrize("spin", FLAP)
def test_a_spinning_solid_bar_flaps_at_the_published_frequencies(
    bar, spin, formulation
):
    choices = {"reference": "tangent"} if formulation == "erls-cms" else {}
    model = ls.Model(
        robot_of(bar), formulation, modes="all", stiffening="geometric", **choices
    )
    unit = np.sqrt(E * SIDE**2 / 12 / RHO) / L**2
    found = ls.modes(model, [0.0], qd=[spin * unit], locked=True, count=2)
    lag, flap = 2 * np.pi * np.sort(found.frequency_hz) / unit
    # A mesh of one element across is 0.6 % too stiff; in the plane of rotation omega^2 is less by the spin squared.
    assert flap == pytest.approx(FLAP[spin], rel=0.01)
    assert np.hypot(lag, spin) == pytest.approx(FLAP[spin], rel=0.01)
