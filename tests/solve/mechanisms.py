"""Closed forms and mechanisms that the tests of closed chains share."""

import functools

import numpy as np

import lissom as ls

CRANK, COUPLER, FOLLOWER, GROUND = 0.10795, 0.2794, 0.27051, 0.254


@functools.cache
def model_of(name, formulation="erls-fem", **choices):
    return ls.Model(name, formulation, **choices)


def four_bar(crank):
    """Closed form: point C above the ground link, joint angles, angular speeds per unit crank speed."""
    B = CRANK * np.array([np.cos(crank), np.sin(crank)])
    D = np.array([GROUND, 0.0])
    r = np.linalg.norm(D - B)
    along = (COUPLER**2 - FOLLOWER**2 + r**2) / (2 * r)
    e = (D - B) / r
    C = B + along * e + np.sqrt(COUPLER**2 - along**2) * np.array([-e[1], e[0]])
    coupler, follower = np.arctan2(*(C - B)[::-1]), np.arctan2(*(D - C)[::-1])

    def across(length, angle):
        return length * np.array([-np.sin(angle), np.cos(angle)])

    speeds = np.linalg.solve(
        np.stack([across(COUPLER, coupler), across(FOLLOWER, follower)], axis=1),
        -across(CRANK, crank),
    )
    return (
        C,
        np.array([crank, coupler - crank, follower - coupler]),
        np.array([1.0, *speeds]),
    )


def rigid_crank():
    """The four-bar on a crank that does not bend."""
    data = ls.Robot.load("four-bar").to_dict()
    bar = {
        "mass": 0.03,
        "com": [CRANK / 2, 0, 0],
        "inertia": [0, 0, 3e-5],
        "tip": [CRANK, 0, 0],
    }
    data["links"][0] = {"name": "crank", "joint": {"type": "revolute"}, "rigid": bar}
    return data


def doubled():
    """Two four-bars on one rigid crank, one put together above the ground link and one below it."""
    data = rigid_crank()
    crank, coupler, follower = data["links"]
    below = [
        coupler | {"name": "coupler-2", "parent": "crank"},
        follower | {"name": "follower-2"},
    ]
    data |= {"links": [crank, coupler, follower, *below]}
    data["loops"] = [data["loops"][0], data["loops"][0] | {"link": "follower-2"}]
    data["assembly"] |= {"coupler-2": -1.2, "follower-2": 2.6}
    return data


def slider_driven():
    """The slider-crank with the joint between ground and slider as a joint of its own: a slider leads the crank."""
    robot = ls.Robot.load("slider-crank").to_dict()
    slider = {
        "name": "slider",
        "joint": {"type": "prismatic", "axis": [1, 0, 0]},
        "rigid": {"mass": 0.033},
    }
    bars = {"rod": (0.07, 0.15, 5e-4, 0.3), "crank": (0.1, 0.1, 2e-4, 0.15)}
    rod, crank = (
        {
            "name": name,
            "joint": {"type": "revolute"},
            "rigid": {
                "mass": mass,
                "com": [centre, 0, 0],
                "inertia": [0, 0, inertia],
                "tip": [length, 0, 0],
            },
        }
        for name, (mass, centre, inertia, length) in bars.items()
    )
    robot |= {
        "links": [slider, rod, crank],
        "loops": [{"link": "crank", "to": "ground", "at": [0, 0, 0]}],
    }
    return robot | {
        "independent": ["slider"],
        "assembly": {"slider": 0.35, "rod": 2.9, "crank": 0.9},
    }
