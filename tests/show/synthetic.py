"""A run of a swinging, vibrating chain made up from formulas: data for pictures without any simulation."""

import numpy as np
import xarray as xr
from scipy.spatial.transform import Rotation

from lissom.show.scene import (
    LinkShape,
    Scene,
    circle_contour,
    rectangle_contour,
    scene_nodes,
    scene_to_json,
    swept_outline,
)

LENGTH = 0.5
KINDS = ["kinetic", "strain", "gravity", "input", "dissipated", "residual"]


def chain_scene(
    kinds=("revolute", "revolute"),
    spatial=False,
    elements=2,
    rigid=(),
    gravity=(0.0, -9.81, 0.0),
):
    links = []
    for i, kind in enumerate(kinds):
        name = f"link{i + 1}"
        contour = rectangle_contour(0.03, 0.05) if i % 2 == 0 else circle_contour(0.04)
        points = np.column_stack(
            [np.linspace(0, LENGTH, elements + 1), *np.zeros((2, elements + 1))]
        )
        outline = swept_outline(points, contour, np.array([0.0, 0.0, 1.0]))
        axis = (
            (0.0, 1.0, 0.0)
            if spatial and i % 2
            else ((1.0, 0.0, 0.0) if kind == "prismatic" else (0.0, 0.0, 1.0))
        )
        nodes = tuple(f"{name}/{k}" for k in range(elements + 1))
        links.append(LinkShape(name, kind, nodes, outline, i not in rigid, axis))
    return Scene("synthetic chain", tuple(links), gravity)


def chain_pose(scene, q, amplitude, s):
    """Positions with and without bending, elastic rotations, ERLS frames, for one time."""
    place, erls_place = np.zeros(3), np.zeros(3)
    turn, frame = np.eye(3), np.eye(3)  # of the bent chain and of the ERLS
    rows = {"position": [], "erls_position": [], "rotation": [], "frame": []}
    for i, link in enumerate(scene.links):
        axis = np.array(link.axis)
        if link.joint == "revolute":
            joint = rotation_matrix(q[i] * axis)
            turn = turn @ joint
            frame = frame @ joint
        elif link.joint == "prismatic":
            place = place + turn @ axis * q[i]
            erls_place = erls_place + frame @ axis * q[i]
        bend_y, bend_z = amplitude[i] if link.flexible else (0.0, 0.0)
        for x in s:
            u = x / LENGTH
            local = np.array([x, bend_y * u**2, bend_z * u**2])
            slope = np.array([0.0, -2 * bend_z * u / LENGTH, 2 * bend_y * u / LENGTH])
            here = turn @ rotation_matrix(slope)
            rows["position"].append(place + turn @ local)
            rows["erls_position"].append(erls_place + frame @ np.array([x, 0, 0]))
            rows["rotation"].append(rotation_vector(here @ frame.T))
        rows["frame"].append(frame)
        place, erls_place = rows["position"][-1], rows["erls_position"][-1]
        turn = here
    return {name: np.array(values) for name, values in rows.items()}


def rotation_matrix(vector):
    return Rotation.from_rotvec(vector).as_matrix()


def rotation_vector(R):
    return Rotation.from_matrix(R).as_rotvec()


def synthetic_run(
    kinds=("revolute", "revolute"), spatial=False, t_end=2.0, dt=0.002, **shape
):
    scene = chain_scene(kinds, spatial, **shape)
    t = np.arange(round(t_end / dt) + 1) * dt
    n = len(kinds)
    i = np.arange(n)
    wave = np.cos(np.outer(t, 2.9 - 0.2 * i))
    moves = np.array([0.15 if kind == "prismatic" else 1.0 for kind in kinds])
    q = moves * (0.9 * wave / (1 + 0.4 * i) - (np.pi / 2) * (i == 0) * (moves == 1))
    qd = np.gradient(q, t, axis=0) if len(t) > 1 else 0 * q
    decay = np.exp(-0.7 * t)[:, None]
    bend_y = 0.012 * decay * np.sin(2 * np.pi * np.outer(t, 6.0 + 3.0 * i)) + 0.004
    bend_z = (
        (0.006 if spatial else 0.0)
        * decay
        * np.sin(2 * np.pi * np.outer(t, 9.0 + 2.0 * i))
    )
    elements = len(scene.links[0].nodes) - 1
    s = np.linspace(0, LENGTH, elements + 1)
    poses = [
        chain_pose(scene, q[k], np.column_stack([bend_y[k], bend_z[k]]), s)
        for k in range(len(t))
    ]
    stacked = {name: np.array([pose[name] for pose in poses]) for name in poses[0]}
    return dataset(scene, t, q, qd, stacked, bend_y)


def dataset(scene, t, q, qd, pose, elastic):
    kinetic = 0.4 * (qd**2).sum(axis=1)
    strain = 2e4 * (elastic**2).sum(axis=1)
    dissipated = 1.2 * (1 - np.exp(-0.7 * t))
    work = 0.5 * (1 - np.cos(3 * t))
    gravity = work - kinetic - strain - dissipated
    residual = 1e-7 * np.sin(40 * t) * t
    return xr.Dataset(
        {
            "q": (("time", "joint"), q),
            "qd": (("time", "joint"), qd),
            "encoder": (("time", "joint"), q + 3 * elastic),
            "torque": (
                ("time", "joint"),
                4 * np.sin(3 * t)[:, None] / (1 + np.arange(q.shape[1])),
            ),
            "elastic": (("time", "coordinate"), elastic),
            "position": (("time", "node", "axis"), pose["position"]),
            "erls_position": (("time", "node", "axis"), pose["erls_position"]),
            "rotation": (("time", "node", "axis"), pose["rotation"]),
            "frame": (("time", "link", "row", "col"), pose["frame"]),
            "energy": (
                ("time", "kind"),
                np.column_stack([kinetic, strain, gravity, work, dissipated, residual]),
            ),
        },
        coords={
            "time": ("time", t, {"units": "s"}),
            "joint": [link.name for link in scene.links],
            "link": [link.name for link in scene.links],
            "node": list(scene_nodes(scene)),
            "axis": ["x", "y", "z"],
            "kind": KINDS,
        },
        attrs={"name": scene.name, "scene": scene_to_json(scene)},
    )
