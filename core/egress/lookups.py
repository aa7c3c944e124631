"""Names looked up for somebody who waits: within two seconds, or not at all."""

import asyncio
import queue
import socket
import threading
from collections.abc import Callable

from aiohttp.abc import AbstractResolver
from django.conf import settings
from django.utils.module_loading import import_string

from .destinations import BlockedDestination, Rules, check_url, parse

LOOKUP_SECONDS = 2.0
_AT_ONCE = threading.BoundedSemaphore(8)


def resolver() -> Callable[[], AbstractResolver]:
    """Return the class of the operator's resolver; its instances belong to the loop in which they are made."""
    found: Callable[[], AbstractResolver] = import_string(settings.WEBHOOKS_RESOLVER)
    return found


def look_up(url: str, way: Rules) -> list[str]:
    """Return the addresses that the URL's name has now; none if it has none, if nobody knew in time, or if all is open.

    Asks the network, so it is called before a transaction is opened.
    """
    try:
        check_url(url, way)
    except BlockedDestination:
        return []
    if way.allow_private or way.proxy_url or not _AT_ONCE.acquire(timeout=LOOKUP_SECONDS):
        return []
    answers: queue.SimpleQueue[list[str]] = queue.SimpleQueue()
    # A thread that nobody waits for: the system's resolver cannot be told to stop, and may take half a minute.
    threading.Thread(target=_look_up, args=(parse(url).raw_host or "", answers), name="lookup", daemon=True).start()
    try:
        return answers.get(timeout=LOOKUP_SECONDS)
    except queue.Empty:
        return []


def _look_up(host: str, answers: "queue.SimpleQueue[list[str]]") -> None:
    try:
        answers.put(asyncio.run(_ask(host)))
    except (OSError, ValueError):  # no such name, or nobody to ask
        answers.put([])
    finally:
        _AT_ONCE.release()


async def _ask(host: str) -> list[str]:
    asked = resolver()()
    try:
        return [answer["host"] for answer in await asked.resolve(host, 443, socket.AF_UNSPEC)]
    finally:
        await asked.close()
