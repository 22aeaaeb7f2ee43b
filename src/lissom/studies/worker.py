"""A process that computes chunks: asked on its standard input, answering on its standard output.

It is started as a program of its own, so that nothing of the script that asks for a study is run again. Whoever starts
it holds the other end of its input: when that closes, for whatever reason, the process ends.
"""

import json
import os
import queue
import sys
import threading
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, BinaryIO

from .. import __version__
from ..compiled_code import keep_compiled_code
from .chunk import ChunkTask, encode
from .recipe import StudyRecipe

ORPHANED = 3  # exit code


def main() -> None:
    """Answers requests until the standard input closes."""
    answers = _own_output()
    requests: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    keep_compiled_code()
    recipe = StudyRecipe.model_validate(requests.get()["recipe"])
    while True:
        request = requests.get()
        data = answer(recipe, request, lambda k: _say(answers, {"run": k}))
        _say(answers, {"size": len(data)}, data)


def answer(recipe: StudyRecipe, request: Mapping[str, Any], tell: Any) -> bytes:
    """The bytes of the chunk that a request asks for."""
    from .compute import compute_chunk

    task = ChunkTask(request["number"], request["first"], request["settings"])
    lost = request.get("lost")
    numbered = None if lost is None else {int(k): why for k, why in lost.items()}
    return encode(compute_chunk(recipe, task, tell, numbered))


def _own_output() -> BinaryIO:
    """Standard output for answers alone: whatever else is printed goes to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def _listen(requests: "queue.SimpleQueue[dict[str, Any]]") -> None:
    for line in sys.stdin.buffer:
        requests.put(json.loads(line))
    # The other end is gone: nobody waits for an answer.
    os._exit(ORPHANED)


def _say(answers: BinaryIO, head: Mapping[str, Any], data: bytes = b"") -> None:
    answers.write(json.dumps(head).encode() + b"\n" + data)
    answers.flush()


def compute_remotely(
    recipe: str, fingerprint: str, request: Mapping[str, Any]
) -> bytes:
    """The bytes of a chunk, computed by a worker of a cluster.

    Args:
        recipe: of the study, as JSON.
        fingerprint: that the recipe has where the study was asked for.
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
