"""The bytes of an event as a receiver gets them: versioned, thin, written once and never re-serialised."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from core.clock import rfc3339

API_VERSION = "2026-01-01"
SEQUENCE_DIGITS = 15
LARGEST_BYTES = 64 * 1024
_ID_PREFIX = "evt_"


class EnvelopeTooLarge(ValueError):
    """A programming error: a thin payload never comes near 64 KiB; what is large belongs behind its href."""


class Thing(NamedTuple):
    """What an event is about: the resource, its version, and where to fetch it.

    `href` may name members of the event's object in braces: `{id}`, or one of the payload.
    """

    type: str
    id: UUID
    version: int | None
    href: str


class Message(NamedTuple):
    """One event for one tenant, before its place in the resource's sequence is known."""

    id: UUID
    type: str
    tenant_id: UUID
    at: datetime
    request_id: str
    thing: Thing
    payload: Mapping[str, Any]
    test: bool = False


def message_id(event_id: UUID) -> str:
    """Name an event for receivers: the `webhook-id`, the same on every retry. It holds no dot."""
    return _ID_PREFIX + event_id.hex


def split(message: Message) -> tuple[str, str]:
    """Write the envelope as the texts before and after its sequence number.

    The number is drawn by the statement that stores the event, so both halves meet in the database.

    :raises EnvelopeTooLarge: the whole would pass 64 KiB.
    """
    # None of these has a character that JSON escapes, and a Bundle makes thousands of them.
    before = (
        f'{{"id":"{message_id(message.id)}","type":"{message.type}","api_version":"{API_VERSION}",'
        f'"timestamp":"{rfc3339(message.at)}","tenant_id":"{message.tenant_id}","sequence":"'
    )
    tail = orjson.dumps({"request_id": message.request_id, "test": message.test, "data": _data(message)})
    after = '",' + tail[1:].decode()
    if len(before) + SEQUENCE_DIGITS + len(tail) + 1 > LARGEST_BYTES:
        raise EnvelopeTooLarge(message.type)
    return before, after


def write(message: Message, *, sequence: int) -> bytes:
    """Write the whole envelope: the exact bytes to sign and send.

    :raises EnvelopeTooLarge: it would pass 64 KiB.
    """
    before, after = split(message)
    return f"{before}{sequence:0{SEQUENCE_DIGITS}d}{after}".encode()


def _data(message: Message) -> dict[str, Any]:
    thing, payload = message.thing, dict(message.payload)
    previous = payload.pop("previous", None)
    shown = {"type": thing.type, "id": str(thing.id)}
    about = shown | payload | shown | {"version": thing.version}
    if thing.href:
        about["href"] = thing.href.format_map(about)
    return {"object": about} | ({"previous": previous} if previous is not None else {})
