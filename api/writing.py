"""The command of a write, its answer, and the reading of its body."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson
from django.http import HttpRequest
from rest_framework.serializers import Serializer

from core.actor import Actor
from core.pipeline import ReadBack
from core.results import Refusal

from . import body, multipart, serializers
from .errors import UnsupportedMediaType
from .operations import Operation

__all__ = ["Answer", "Command", "Refusal", "read_body"]


@dataclass(frozen=True, slots=True)
class Command:
    """One write: the actor, the checked body, the locked target (if the path names one), and the instant.

    An action may send `reading` with a trip of its own; otherwise the view reads the changed object afterwards. One whose
    target is named by the body passes what it has locked, or None, to `check_found`, which compares it with If-Match and `version`.
    """

    actor: Actor
    data: dict[str, Any]
    target: Any
    at: datetime
    reading: ReadBack | None = None
    check_found: Callable[[Any], None] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that is not a plain representation: secrets shown once, jobs, results of bulk calls."""

    content: bytes
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    tag: str = ""

    @classmethod
    def of(cls, data: Any, **more: Any) -> "Answer":
        """Make an answer of any JSON value."""
        return cls(orjson.dumps(data, default=str), **more)


def read_body(request: HttpRequest, operation: Operation) -> tuple[dict[str, Any], int | None]:
    """Return the checked body and its `version`, an alternative to If-Match that serializers need not declare.

    An absent body counts as `{}` if no member is required. Of an operation without a body `version` alone may be sent.

    :raises Malformed: the body is not JSON that the platform accepts, or is larger than the operation accepts.
    :raises InvalidFields: a field is invalid.
    """
    if operation.body is None:
        if not request.body.strip():
            return {}, None
        return _checked(serializers.StrictSerializer, body.parse_object(request.body, limit_bytes=operation.body_limit))
    if _takes_form(request, operation):
        assert operation.multipart is not None
        return serializers.read(operation.multipart, multipart.form_of(request).members()), None
    if not request.body and not serializers.demands(operation.body, partial=operation.partial):
        return serializers.read(operation.body, {}, partial=operation.partial), None
    media = (request.content_type or "").lower()
    if media not in ("application/json", "application/merge-patch+json", ""):
        wanted = f"application/json{' or multipart/form-data' if operation.multipart else ''}"
        raise UnsupportedMediaType(f"Send {wanted}, not {media[:80]!r}.")
    parsed = body.parse_object(request.body, limit_bytes=operation.body_limit)
    return _checked(operation.body, parsed, partial=operation.partial)


def _checked(
    kind: type[Serializer[Any]], parsed: dict[str, Any], *, partial: bool = False
) -> tuple[dict[str, Any], int | None]:
    version = None
    if "version" not in serializers.form(kind).fields and type(parsed.get("version")) is int:
        version = parsed.pop("version")
    return serializers.read(kind, parsed, partial=partial), version


def form_digest(request: HttpRequest, operation: Operation) -> str:
    """Return what stands for the body of a multipart form in a fingerprint; "" for any other body.

    A form that cannot be read has a digest of its own: it is refused later, and no refusal is kept under a key.
    """
    if not _takes_form(request, operation):
        return ""
    try:
        return multipart.form_of(request).digest()
    except multipart.InvalidMultipart:
        return multipart.InvalidMultipart.code


def _takes_form(request: HttpRequest, operation: Operation) -> bool:
    return operation.multipart is not None and multipart.is_multipart(request)
