"""A process that computes chunks of a study."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from .. import __version__
from ..compiled_code import keep_compiled_code
from ..worker_process import Report, serve
from .chunk import ChunkTask, encode
from .recipe import StudyRecipe


def main() -> None:
    """Answers requests until the standard input closes."""
    keep_compiled_code()
    recipe: StudyRecipe | None = None

    def chunk(request: bytes, report: Report) -> bytes:
        nonlocal recipe
        fields = json.loads(request)
        if "recipe" in fields:
            recipe = StudyRecipe.model_validate(fields["recipe"])
        assert recipe is not None
        return answer(recipe, fields, lambda k: report(json.dumps({"run": k}).encode()))

    serve(chunk)


def answer(recipe: StudyRecipe, request: Mapping[str, Any], report: Any) -> bytes:
    """The bytes of the requested chunk."""
    from .compute import compute_chunk

    task = ChunkTask(request["number"], request["first"], request["settings"])
    lost = request.get("lost")
    numbered = None if lost is None else {int(k): why for k, why in lost.items()}
    return encode(compute_chunk(recipe, task, report, numbered))


def compute_remotely(
    recipe: str, fingerprint: str, request: Mapping[str, Any]
) -> bytes:
    """The bytes of a chunk, computed by a worker of a cluster.

    Args:
        recipe: of the study, as JSON.
        fingerprint: of the recipe on the machine that runs the study.
        request: which runs.

    Raises:
        RuntimeError: the worker has another version, or files of another content.
    """
    own, fingerprint_here = _recipe_here(recipe)
    if fingerprint_here != fingerprint:
        raise RuntimeError(
            f"this worker has other files of the robot, or another version (lissom {__version__})"
        )
    return answer(own, request, lambda k: None)


@lru_cache(maxsize=4)
def _recipe_here(text: str) -> tuple[StudyRecipe, str]:
    """A recipe and its fingerprint on this machine, cached for all chunks of a study."""
    recipe = StudyRecipe.model_validate(json.loads(text))
    try:
        return recipe, recipe.fingerprint
    except OSError as failure:
        raise RuntimeError(
            f"this worker does not have a file of the robot: {failure}"
        ) from None


if __name__ == "__main__":
    main()
