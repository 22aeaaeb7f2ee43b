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
LOOK_S = 0.1  # between two looks at the queue


def live(backend: Backend) -> APIRouter:
    """The route of the web socket."""
    router = APIRouter()

    @router.websocket("/api/live")
    async def talk(socket: WebSocket) -> None:
        await socket.accept()
        slider = _Slider(socket, backend)
        tasks = [
            asyncio.create_task(_tell_jobs(socket, backend)),
            asyncio.create_task(slider.answer()),
            asyncio.create_task(_listen(socket, backend, slider)),
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


async def _listen(socket: WebSocket, backend: Backend, slider: "_Slider") -> None:
    while True:
        try:
            text = await socket.receive_text()
            if len(text) > backend.limits.message:
                raise ValueError("the message is too long")
            message = json.loads(text)
            if not isinstance(message, dict):
                raise ValueError("a message is a mapping")
            slider.ask(message.get("id"), PoseQuestion(**message["pose"]))
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


class _Slider:
    """Poses that a page asks for: only the newest question is answered, the others are past."""

    def __init__(self, socket: WebSocket, backend: Backend):
        self.socket = socket
        self.backend = backend
        self.newest: tuple[Any, PoseQuestion] | None = None
        self.asked = asyncio.Event()

    def ask(self, number: Any, question: PoseQuestion) -> None:
        """Takes the place of what was asked before."""
        self.newest = (number, question)
        self.asked.set()

    async def answer(self) -> None:
        """Answers one question after the other."""
        while True:
            await self.asked.wait()
            self.asked.clear()
            assert self.newest is not None
            number, question = self.newest
            told: dict[str, Any] = {"id": number}
            try:
                told["pose"] = await run_in_threadpool(posed, self.backend, question)
            except CallFailed as failure:
                told["error"] = failure.reason
            except FolderError as failure:
                told["error"] = explanation("bad input", str(failure))
            await self.socket.send_json(told)
