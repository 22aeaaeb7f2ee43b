"""The web socket of a page: it hears of every change in the queue of runs, and asks for poses while a slider moves."""

import asyncio
import json
import logging
from typing import Any

from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool

from .backend import Backend
from .explanation import explanation, request_problems
from .folder import FolderError
from .questions import PoseQuestion
from .routes import posed
from .worker import CallFailed

LOG = logging.getLogger("lissom.studio")
# Numbers of questions, and the poses that they ask for.
Questions = asyncio.Queue[tuple[Any, PoseQuestion]]
LOOK_S = 0.1  # between two looks at the queue


def live(backend: Backend) -> APIRouter:
    """The route of the web socket."""
    router = APIRouter()

    @router.websocket("/api/live")
    async def talk(socket: WebSocket) -> None:
        await socket.accept()
        # Of the poses that a page asks for, the newest is answered: the others are past.
        newest: Questions = asyncio.Queue(1)
        tasks = [
            asyncio.create_task(_tell_jobs(socket, backend)),
            asyncio.create_task(_answer(socket, backend, newest)),
            asyncio.create_task(_listen(socket, backend, newest)),
        ]
        try:
            # Whoever ends first, a page that is gone or a message that is none, ends the talk.
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    return router


async def _tell_jobs(socket: WebSocket, backend: Backend) -> None:
    seen = -1
    while True:
        version = backend.queue.version
        if version != seen:
            seen = version
            jobs = await run_in_threadpool(backend.queue.jobs)
            await socket.send_json({"jobs": jobs})
        await asyncio.sleep(LOOK_S)


async def _listen(socket: WebSocket, backend: Backend, newest: Questions) -> None:
    while True:
        try:
            text = await socket.receive_text()
            if len(text) > backend.limits.message:
                raise ValueError("the message is too long")
            message = json.loads(text)
            if not isinstance(message, dict):
                raise ValueError("a message is a mapping")
            question = PoseQuestion(**message["pose"])
            if newest.full():
                newest.get_nowait()
            newest.put_nowait((message.get("id"), question))
        except WebSocketDisconnect:
            return
        except ValidationError as failure:
            message = request_problems(failure.errors())
            await _complain(socket, message)
        except (ValueError, TypeError, KeyError, RecursionError):
            await _complain(socket, "a message is {id, pose: {source, q, sag}}")


async def _complain(socket: WebSocket, message: str) -> None:
    LOG.warning("refused a message: %s", ascii(message)[:200])
    await socket.send_json({"error": explanation("bad input", message)})


async def _answer(socket: WebSocket, backend: Backend, newest: Questions) -> None:
    """Answers one question after the other."""
    while True:
        number, question = await newest.get()
        told: dict[str, Any] = {"id": number}
        try:
            told["pose"] = await run_in_threadpool(posed, backend, question)
        except CallFailed as failure:
            told["error"] = failure.reason
        except FolderError as failure:
            told["error"] = explanation("bad input", str(failure))
        await socket.send_json(told)
