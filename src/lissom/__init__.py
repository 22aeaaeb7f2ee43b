"""Robots whose links bend: describe one, get its vibration, its motion, its linear models and its controllers.

Importing switches JAX to double precision, which mechanics needs; it changes nothing else for other packages. The names
below are imported when they are first used, so that a script waits for nothing that it does without.
"""

import logging
import warnings
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax

from jaxnative import clients, code_cache

from . import controller_types, drawing
from .compiled_code import machine_code_folder
from .files.errors import nearest

jax.config.update("jax_enable_x64", True)
_LIBRARIES = ("diffrax", "lineax", "optimistix")  # that traced functions call
clients.add_client("lissom", Path(__file__).parent, _LIBRARIES)
code_cache.keep_in(machine_code_folder)
# What the compiler notes is heard by those who listen to this package.
logging.getLogger("jaxnative").parent = logging.getLogger("lissom.native")
drawing.drawers_from(lambda: import_module(".show.drawings", __name__))
controller_types.types_from(lambda: import_module(".control.law_table", __name__))

if TYPE_CHECKING:
    from jaxnative.compilation import FullOfCodeError as FullOfCodeError
    from jaxnative.export import export_c as export_c

    from .analyse.equilibrium import Equilibrium as Equilibrium
    from .analyse.equilibrium import static as static
    from .analyse.linear.frequency_response import (
        FrequencyResponse as FrequencyResponse,
    )
    from .analyse.linear.frequency_response import (
        FrequencyResponses as FrequencyResponses,
    )
    from .analyse.linear.frequency_response import (
        frequency_response as frequency_response,
    )
    from .analyse.linear.frequency_response import (
        frequency_responses as frequency_responses,
    )
    from .analyse.linear.linear_matrices import linear_matrices as linear_matrices
    from .analyse.linear.linear_sequence import LinearSequence as LinearSequence
    from .analyse.linear.linear_sequence import linearize_along as linearize_along
    from .analyse.linear.linearize import linearize as linearize
    from .analyse.linear.state_space import LinearModel as LinearModel
    from .analyse.linear.step_response import StepResponse as StepResponse
    from .analyse.linear.step_response import StepResponses as StepResponses
    from .analyse.linear.step_response import step_response as step_response
    from .analyse.linear.step_response import step_responses as step_responses
    from .analyse.matrices import EquationsOfMotion as EquationsOfMotion
    from .analyse.matrices import matrices as matrices
    from .analyse.modes.damped_modes import DampedModes as DampedModes
    from .analyse.modes.map_axis import MapAxis as MapAxis
    from .analyse.modes.modal import Modes as Modes
    from .analyse.modes.modal import modes as modes
    from .analyse.modes.modal import natural_frequencies as natural_frequencies
    from .analyse.modes.mode_map import ModeMap as ModeMap
    from .analyse.modes.mode_map import mode_map as mode_map
    from .analyse.polynomials.mode_polynomials import ModePolynomials as ModePolynomials
    from .analyse.polynomials.parametric_modes import (
        parametric_eigenpairs as parametric_eigenpairs,
    )
    from .analyse.polynomials.parametric_modes import (
        parametric_modes as parametric_modes,
    )
    from .analyse.validity.checks import check as check
    from .bench.doctor import doctor as doctor
    from .bodies.fe.importing import reduce_link as reduce_link
    from .bodies.reduce.free_modes import Excitation as Excitation
    from .bodies.reduce.reduced_body import Reduction as Reduction
    from .bodies.reduce.reduced_body import reduced_body as reduced_body
    from .bodies.section_forces import section_forces as section_forces
    from .bodies.section_forces import section_strains as section_strains
    from .compiled_code import cache as cache
    from .control.design_error import DesignError as DesignError
    from .control.margins import closed_loop_poles as closed_loop_poles
    from .control.margins import margins as margins
    from .control.margins import open_loop as open_loop
    from .control.minimum_time import minimum_time as minimum_time
    from .control.numpy_law import numpy_law as numpy_law
    from .control.path_timing import through_points as through_points
    from .control.pd import PD as PD
    from .control.time_optimal import time_optimal as time_optimal
    from .control.tip_motion import tip_line as tip_line
    from .control.tuned_law import tune as tune
    from .control.tuned_law import tune_by_poles as tune_by_poles
    from .describe import DescriptionError as DescriptionError
    from .describe import Robot as Robot
    from .describe import Scenario as Scenario
    from .describe.control_study import ControlStudy as ControlStudy
    from .describe.imported_robot import ImportedRobot as ImportedRobot
    from .describe.imported_robot import import_robot as import_robot
    from .describe.library import library as library
    from .describe.scenario import Solver as Solver
    from .kinematics.loops.assembly_errors import AssemblyError as AssemblyError
    from .runs.controller_design import ControllerDesign as ControllerDesign
    from .runs.controller_design import design_controller as design_controller
    from .runs.mode_maps import map_modes as map_modes
    from .runs.planned_motion import PlannedMotion as PlannedMotion
    from .runs.planned_motion import plan_motion as plan_motion
    from .runs.plotted_run import plotted_run as plotted_run
    from .runs.robot_table import robot_table as robot_table
    from .runs.run import Run as Run
    from .runs.run import SimulationError as SimulationError
    from .runs.run_comparison import compare_runs as compare_runs
    from .runs.saved_run import run_controller as run_controller
    from .runs.saved_run import saved_run as saved_run
    from .runs.simulation import run_scenario as run_scenario
    from .runs.simulation import simulate as simulate
    from .runs.validate import validate as validate
    from .show.mode_animation import animate_mode as animate_mode
    from .solve.family import Family as Family
    from .solve.inputs import Inputs as Inputs
    from .solve.inverse_kinematics import UnreachableError as UnreachableError
    from .solve.inverse_kinematics import inverse_kinematics as inverse_kinematics
    from .solve.law import AbstractLaw as AbstractLaw
    from .solve.model import EquilibriumError as EquilibriumError
    from .solve.model import IndefiniteInertiaError as IndefiniteInertiaError
    from .solve.model import Model as Model
    from .solve.model import UndefinedReferenceError as UndefinedReferenceError
    from .solve.signals import Spline as Spline
    from .solve.signals import Table as Table
    from .solve.simulate import rollout as rollout
    from .solve.simulate import step_times as step_times
    from .solve.solution import Solution as Solution
    from .solve.state import State as State
    from .studies.comparison_table import ControllerComparison as ControllerComparison
    from .studies.controller_comparison import (
        compare_controllers as compare_controllers,
    )
    from .studies.study import Study as Study
    from .studies.sweep import Sweep as Sweep
    from .studies.sweep import sweep as sweep

__version__ = "0.3.0.dev0"

_HOME = {
    "saved_run": "runs.saved_run",
    "run_controller": "runs.saved_run",
    "MapAxis": "analyse.modes.map_axis",
    "map_modes": "runs.mode_maps",
    "compare_runs": "runs.run_comparison",
    "plotted_run": "runs.plotted_run",
    "matrices": "analyse.matrices",
    "EquationsOfMotion": "analyse.matrices",
    "static": "analyse.equilibrium",
    "Equilibrium": "analyse.equilibrium",
    "frequency_responses": "analyse.linear.frequency_response",
    "FrequencyResponses": "analyse.linear.frequency_response",
    "library": "describe.library",
    "robot_table": "runs.robot_table",
    "validate": "runs.validate",
    "Inputs": "solve.inputs",
    "Spline": "solve.signals",
    "Table": "solve.signals",
    "Solver": "describe.scenario",
    "inverse_kinematics": "solve.inverse_kinematics",
    "LinearSequence": "analyse.linear.linear_sequence",
    "linearize_along": "analyse.linear.linear_sequence",
    "DampedModes": "analyse.modes.damped_modes",
    "FrequencyResponse": "analyse.linear.frequency_response",
    "frequency_response": "analyse.linear.frequency_response",
    "StepResponse": "analyse.linear.step_response",
    "step_response": "analyse.linear.step_response",
    "StepResponses": "analyse.linear.step_response",
    "step_responses": "analyse.linear.step_response",
    "ModeMap": "analyse.modes.mode_map",
    "mode_map": "analyse.modes.mode_map",
    "animate_mode": "show.mode_animation",
    "linear_matrices": "analyse.linear.linear_matrices",
    "linearize": "analyse.linear.linearize",
    "Modes": "analyse.modes.modal",
    "modes": "analyse.modes.modal",
    "natural_frequencies": "analyse.modes.modal",
    "check": "analyse.validity.checks",
    "reduce_link": "bodies.fe.importing",
    "LinearModel": "analyse.linear.state_space",
    "Reduction": "bodies.reduce.reduced_body",
    "reduced_body": "bodies.reduce.reduced_body",
    "Excitation": "bodies.reduce.free_modes",
    "section_forces": "bodies.section_forces",
    "section_strains": "bodies.section_forces",
    "ModePolynomials": "analyse.polynomials.mode_polynomials",
    "parametric_eigenpairs": "analyse.polynomials.parametric_modes",
    "parametric_modes": "analyse.polynomials.parametric_modes",
    "PD": "control.pd",
    "AbstractLaw": "solve.law",
    "numpy_law": "control.numpy_law",
    "time_optimal": "control.time_optimal",
    "through_points": "control.path_timing",
    "minimum_time": "control.minimum_time",
    "tip_line": "control.tip_motion",
    "open_loop": "control.margins",
    "margins": "control.margins",
    "closed_loop_poles": "control.margins",
    "tune": "control.tuned_law",
    "tune_by_poles": "control.tuned_law",
    "ControlStudy": "describe.control_study",
    "ControllerDesign": "runs.controller_design",
    "design_controller": "runs.controller_design",
    "PlannedMotion": "runs.planned_motion",
    "plan_motion": "runs.planned_motion",
    "compare_controllers": "studies.controller_comparison",
    "ControllerComparison": "studies.comparison_table",
    "AssemblyError": "kinematics.loops.assembly_errors",
    "DesignError": "control.design_error",
    "EquilibriumError": "solve.model",
    "IndefiniteInertiaError": "solve.model",
    "UndefinedReferenceError": "solve.model",
    "UnreachableError": "solve.inverse_kinematics",
    "FullOfCodeError": "jaxnative.compilation",
    "cache": "compiled_code",
    "DescriptionError": "describe",
    "Robot": "describe",
    "Scenario": "describe",
    "ImportedRobot": "describe.imported_robot",
    "import_robot": "describe.imported_robot",
    "doctor": "bench.doctor",
    "export_c": "jaxnative.export",
    "Run": "runs.run",
    "SimulationError": "runs.run",
    "run_scenario": "runs.simulation",
    "simulate": "runs.simulation",
    "Model": "solve.model",
    "Family": "solve.family",
    "rollout": "solve.simulate",
    "step_times": "solve.simulate",
    "Solution": "solve.solution",
    "State": "solve.state",
    "Study": "studies.study",
    "Sweep": "studies.sweep",
    "sweep": "studies.sweep",
}


_RENAMED = {"doubts": "check", "ParametricModes": "ModePolynomials"}


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        new = _RENAMED[name]
        warnings.warn(
            f"lissom.{name} is now lissom.{new}; the old name goes in lissom 0.4",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(import_module(__name__), new)
    if name not in _HOME:
        # A verb that was registered is a function of the package, as its own verbs are.
        registry = import_module(".verbs.registry", __name__)
        for verb in registry.verbs().values():
            if verb.python_name == name and callable(verb.function):
                return verb.function
        hint = nearest(name, _HOME)
        raise AttributeError(f"module 'lissom' has no attribute {name!r}{hint}")
    home = _HOME[name]
    path = home if home.startswith("jaxnative.") else f".{home}"
    value = getattr(import_module(path, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*_HOME, *(name for name in globals() if name.startswith("__"))})
