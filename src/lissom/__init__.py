"""Robots whose links bend: describe one, get its vibration, its motion, its linear models and its controllers.

Importing switches JAX to double precision, which mechanics needs, and does nothing else.
"""

import jax

jax.config.update("jax_enable_x64", True)

from .analyse.modal import Modes as Modes  # noqa: E402
from .analyse.modal import modes as modes  # noqa: E402
from .control.pd import PD as PD  # noqa: E402
from .describe import DescriptionError as DescriptionError  # noqa: E402
from .describe import Robot as Robot  # noqa: E402
from .describe import Scenario as Scenario  # noqa: E402
from .show.run import Run as Run  # noqa: E402
from .show.run import SimulationError as SimulationError  # noqa: E402
from .show.run import run_scenario as run_scenario  # noqa: E402
from .show.run import simulate as simulate  # noqa: E402
from .solve.model import Model as Model  # noqa: E402
from .solve.problem import State as State  # noqa: E402

__version__ = "0.1.0"
