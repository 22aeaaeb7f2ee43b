"""Picture of the robot in the middle of a run."""

import numpy as np

from ..solve.model import Model
from ..solve.simulate import Snapshot
from .robot_scene import scene_of
from .viewer import Content, still_content


def live_picture(model: Model, snapshot: Snapshot) -> Content:
    """Shapes and nodes of a robot where a run has reached; see `viewer.still_content`."""
    poses = snapshot.poses
    return still_content(
        scene_of(model.robot),
        model.node_rows(poses.position),
        erls_position=model.node_rows(poses.erls_position),
        rotation=model.node_rows(poses.rotation),
        frame=np.asarray(poses.frame)[list(model.first_bodies)],
    )
