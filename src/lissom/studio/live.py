"""The web socket of a page: the list of jobs after every change, and poses while a slider moves."""

import asyncio
import logging

from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool

from .backend import Backend
from .explanation import RequestError, explanation, request_problems
from .questions import PoseQuestion
from .routes import posed
from .worker import CallFailed

LOG = logging.getLogger("lissom.studio")
Questions = asyncio.Queue[PoseQuestion]
LOOK_S = 0.1  # between two looks at the queue


def live(backend: Backend) -> APIRouter:
    """The route of the web socket."""
    router = APIRouter()

    @router.websocket("/api/live")
    async def page(socket: WebSocket) -> None:
        await socket.accept()
        # Of the requested poses the newest is answered: the others are past.
        newest: Questions = asyncio.Queue(1)
        tasks = [
            asyncio.create_task(_send_jobs(socket, backend)),
            asyncio.create_task(_answer(socket, backend, newest)),
            asyncio.create_task(_receive(socket, backend, newest)),
        ]
        try:
            # The first of them to end, as the page is gone or an answer cannot be sent, ends all.
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    return router


async def _send_jobs(socket: WebSocket, backend: Backend) -> None:
    seen = -1
    while True:
        version = backend.queue.version
        if version != seen:
            seen = version
            jobs = await run_in_threadpool(backend.queue.jobs)
            await socket.send_json({"jobs": jobs})
        await asyncio.sleep(LOOK_S)


async def _receive(socket: WebSocket, backend: Backend, newest: Questions) -> None:
    while True:
        try:
            text = await socket.receive_text()
            if len(text) > backend.limits.message:
                raise RequestError("the message is too long")
            question = PoseQuestion.model_validate_json(text)
        except WebSocketDisconnect:
            return
        except ValidationError as failure:
            message = request_problems(failure.errors())
        except (RequestError, KeyError):
            message = "a message is {id, source, q, sag}"
        else:
            if newest.full():
                newest.get_nowait()
            newest.put_nowait(question)
            continue
        LOG.warning("refused a message: %s", ascii(message)[:200])
        await socket.send_json({"error": explanation("bad input", message)})


async def _answer(socket: WebSocket, backend: Backend, newest: Questions) -> None:
    """Answers one question after the other."""
    while True:
        question = await newest.get()
        try:
            answer = {"pose": await run_in_threadpool(posed, backend, question)}
        except (CallFailed, RequestError) as failure:
            answer = {"error": failure.reason}
        await socket.send_json({"id": question.id, **answer})
