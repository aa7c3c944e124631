"""Documents fetched for a request that waits: within three seconds, or not at all."""

import asyncio
import queue
import threading

from .client import Document, Egress
from .destinations import Rules, rules

FETCH_SECONDS = 3.0
USER_AGENT = "HealthcarePlatform/1.0"
_SPARE_SECONDS = 0.5
_AT_ONCE = threading.BoundedSemaphore(8)


def fetch(url: str, *, accept: str, longest_bytes: int) -> Document:
    """GET a document through the guard, with the operator's rules.

    Asks the network, so it is called before a transaction is opened. `Document.error` is `busy` if too many requests of
    this process wait for documents already.
    """
    if not _AT_ONCE.acquire(timeout=FETCH_SECONDS):
        return Document(status=None, error="busy")
    answers: queue.SimpleQueue[Document] = queue.SimpleQueue()
    # A thread that nobody waits for: the end of a loop waits for the system's resolver, which cannot be told to stop.
    work = (rules(), url, accept, longest_bytes, answers)
    threading.Thread(target=_fetch, args=work, name="fetch", daemon=True).start()
    try:
        return answers.get(timeout=FETCH_SECONDS + _SPARE_SECONDS)
    except queue.Empty:
        return Document(status=None, error="timeout")


def _fetch(way: Rules, url: str, accept: str, longest_bytes: int, answers: "queue.SimpleQueue[Document]") -> None:
    try:
        asyncio.run(_get(way, url, accept, longest_bytes, answers))
    finally:
        _AT_ONCE.release()


async def _get(way: Rules, url: str, accept: str, longest_bytes: int, answers: "queue.SimpleQueue[Document]") -> None:
    async with Egress(way, connections=1, total_seconds=FETCH_SECONDS) as out:
        headers = {"accept": accept, "user-agent": USER_AGENT}
        answers.put(await out.get(url, headers=headers, longest_bytes=longest_bytes))
