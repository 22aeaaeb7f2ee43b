"""Recipe of a study for workers: plain data, the same on every machine."""

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import __version__
from ..describe.control_study import ControlStudy
from ..describe.scenario import Scenario
from ..files.description_files import library_folder
from ..files.part import Part, is_list, plain
from .columns import Column, columns_of
from .keys import Base
from .metrics import MetricRequest
from .study import Analysis, AnalysisOptions, Study


class StudyRecipe(Part):
    """An analysis, the scenario of all runs with its robot inline, the keys that vary, and the metrics."""

    analysis: Analysis
    scenario: dict[str, Any]
    keys: tuple[str, ...]
    metrics: tuple[MetricRequest, ...] = ()
    series: tuple[str, ...] = ()
    runs: str = "none"
    options: AnalysisOptions = AnalysisOptions()

    @classmethod
    def of(cls, study: Study) -> "StudyRecipe":
        """The recipe of a study."""
        return cls(
            analysis=study.analysis,
            scenario=study.base.to_dict(),
            keys=study.design.keys,
            metrics=study.requests,
            series=study.series,
            runs=study.runs,
            options=study.options,
        )

    @cached_property
    def base(self) -> Base:
        """The scenario of all runs, or the comparison."""
        if self.analysis == "control":
            return ControlStudy.from_dict(self.scenario)
        return Scenario.from_dict(self.scenario)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Columns of the results, in order."""
        return columns_of(self.analysis, self.metrics, self.series, self.base)

    def to_dict(self) -> dict[str, Any]:
        """Plain data that makes an equal recipe."""
        return plain(self)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the recipe, of the files that its robot names, and of our version."""
        content = {"lissom": __version__, **_with_contents(self.to_dict())}
        return digest(content)


def digest(content: Any) -> str:
    """Hash of plain data."""
    text = json.dumps(content, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _with_contents(entry: Any) -> Any:
    """Plain data in which the content of a file stands for its name: the same file may lie elsewhere."""
    if isinstance(entry, Mapping):
        return {key: _content(key, value) for key, value in entry.items()}
    if is_list(entry):
        return [_with_contents(item) for item in entry]
    return entry


def _content(key: str, value: Any) -> Any:
    if key != "file" or not isinstance(value, str):
        return _with_contents(value)
    path = Path(value)
    if not path.is_file():
        path = library_folder() / value
    return hashlib.sha256(path.read_bytes()).hexdigest()
