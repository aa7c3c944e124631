"""Replay of a repeated write: the key, the change and the answer commit together or not at all.

Source: draft-ietf-httpapi-idempotency-key-header-06; contract, conventions "Idempotency-Key".
"""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

import orjson
import psycopg
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse

from core import pipeline
from core.actor import Subject
from core.crypto import key_ring
from core.errors import Conflict, Malformed, Unprocessable
from core.ids import uuid7_text

KEEP_DAYS = 7
PURPOSE = "idempotency"
_KEPT = ("Content-Type", "ETag", "Location", "Content-Location", "Last-Modified")
_CONTEXT = ":along"  # no header can have this name
_LOST = (psycopg.OperationalError, psycopg.errors.AdminShutdown, psycopg.errors.CrashShutdown)

_CLAIM = pipeline.Statement.of(
    "INSERT INTO api_idempotencyrecord (id, tenant_id, subject_id, key, fingerprint) VALUES ($1,$2,$3,$4,$5)"
    " ON CONFLICT DO NOTHING RETURNING id"
)


class _Seen(NamedTuple):
    """What is stored under a key; status and answer are null until the first request has ended."""

    fingerprint: str
    status: int | None
    answer: bytes | None


_SEEN = pipeline.Statement.of(
    "SELECT fingerprint, status, encode(answer, 'base64') AS answer FROM api_idempotencyrecord"
    " WHERE tenant_id = $1 AND subject_id = $2 AND key = $3",
    row=_Seen,
)
_KEEP = pipeline.Statement.of(
    "UPDATE api_idempotencyrecord SET status = $4, answer = $5 WHERE tenant_id = $1 AND subject_id = $2 AND key = $3"
)

_PUT = pipeline.Statement.of(
    "INSERT INTO api_idempotencyrecord (id, tenant_id, subject_id, key, fingerprint, status, answer)"
    " VALUES ($1,$2,$3,$4,$5,$6,$7) ON CONFLICT DO NOTHING"
)


class InvalidKey(Malformed):
    """The key is not 1 to 255 printable ASCII characters."""

    code = "invalid_idempotency_key"
    title = "The Idempotency-Key is malformed."


class KeyReused(Unprocessable):
    """The key was used for another request."""

    code = "idempotency_key_reused"
    title = "This Idempotency-Key belongs to another request."


class InProgress(Conflict):
    """The first request with this key is still running."""

    code = "idempotency_in_progress"
    title = "A request with this Idempotency-Key is in progress."


@dataclass(frozen=True, slots=True)
class Replay:
    """The answer that was given to the first request."""

    status: int
    headers: dict[str, str]
    content: bytes
    context: Any = None  # what `replay_context` of the view returned


def key_of(request: HttpRequest) -> str | None:
    """Return the Idempotency-Key, sent bare or as a quoted string; None without the header.

    :raises InvalidKey: the key is empty, too long, or not printable ASCII.
    """
    raw: str | None = request.META.get("HTTP_IDEMPOTENCY_KEY")
    if raw is None:
        return None
    key = raw[1:-1] if len(raw) >= 2 and raw[0] == raw[-1] == '"' else raw
    if not 1 <= len(key) <= 255 or not (key.isascii() and key.isprintable()):
        raise InvalidKey("An Idempotency-Key has 1 to 255 printable ASCII characters.")
    return key


def fingerprint(request: HttpRequest, patient: str = "", *, form: str = "") -> str:
    """Return the SHA-256 (hex) of method, path with query, content type, patient and raw body.

    `patient` is the patient that the token is bound to. A token bound to another patient, even of the same person, must
    not get this token's answer. `form` is the digest of a multipart form, which stands for the raw body: each client draws a
    new boundary.
    """
    parts = (request.method or "", request.get_full_path(), request.content_type or "", *([patient] if patient else ()))
    content = form.encode() if form else request.body
    return hashlib.sha256("\n".join(parts).encode() + b"\n" + content).hexdigest()


class Claim(NamedTuple):
    """One request's claim to a key, inside the transaction of the write; `owner` is tenant, subject and key.

    A concurrent request with the same key waits for the first to commit, at most for `lock_timeout`.
    """

    owner: tuple[str, str, str]
    fingerprint: str

    @classmethod
    def of(cls, request: HttpRequest, key: str, tenant_id: UUID, subject: Subject, *, form: str = "") -> "Claim":
        """Make the claim of a request to the key that it sends; `form` is the digest of its multipart form."""
        return cls((str(tenant_id), str(subject.id), key), fingerprint(request, subject.patient, form=form))

    def call(self) -> pipeline.Call:
        """Return the statement that takes the key; it must follow the proof, which binds the tenant."""
        return pipeline.Call(_CLAIM, [uuid7_text(), *self.owner, self.fingerprint])

    def replay(self, taken: pipeline.Rows) -> Replay | None:
        """Return None if this request took the key, else the answer of the first request.

        :raises InProgress: the first request is still running.
        :raises KeyReused: the key belongs to another request.
        """
        if len(taken):
            return None
        found = self.earlier()
        if found is None:
            raise InProgress(headers={"Retry-After": "1"})
        return found

    def earlier(self) -> Replay | None:
        """Return the answer of the first request, or None if the key is unused; does not take the key.

        :raises InProgress: the first request is still running.
        :raises KeyReused: the key belongs to another request.
        """
        return self.seen(pipeline.run([self.seen_call()])[0])

    def seen_call(self) -> pipeline.Call:
        """Return the statement that looks the key up; it must follow the proof. See `seen`."""
        return pipeline.Call(_SEEN, self.owner)

    def seen(self, rows: pipeline.Rows) -> Replay | None:
        """Return the answer that `seen_call` has found; as `earlier`."""
        if not len(rows):
            return None
        (seen,) = rows.of(_Seen)
        if seen.fingerprint != self.fingerprint:
            raise KeyReused
        if seen.status is None or seen.answer is None:
            raise InProgress(headers={"Retry-After": "1"})
        plain = key_ring().open(base64.b64decode(seen.answer), purpose=PURPOSE, place=self._place())
        head, _, content = plain.partition(b"\n")
        headers = orjson.loads(head)
        context = headers.pop(_CONTEXT, None)
        return Replay(seen.status, headers, content, context)

    def keep(
        self,
        response: HttpResponse,
        *,
        secrets: tuple[str, ...],
        context: Any = None,
        ahead: Sequence[pipeline.Call] = (),
    ) -> None:
        """Store the answer under the key and commit, in the transaction's last trip; secret members are stored as null.

        `context` is a JSON value that the view needs to give the answer again. `ahead` are statements to be sent first; they
        leave the caller's tenant bound.
        """
        sealed = self._sealed(response, secrets, context)
        pipeline.run_last([*ahead, pipeline.Call(_KEEP, [*self.owner, str(response.status_code), sealed])])

    def put_call(self, response: HttpResponse, *, secrets: tuple[str, ...]) -> pipeline.Call:
        """Return the statement that takes the key with its answer; another's that was faster stays. It must follow the proof."""
        sealed = self._sealed(response, secrets, None)
        return pipeline.Call(_PUT, [uuid7_text(), *self.owner, self.fingerprint, str(response.status_code), sealed])

    def _sealed(self, response: HttpResponse, secrets: tuple[str, ...], context: Any) -> str:
        headers = {name: response.headers[name] for name in _KEPT if name in response.headers}
        plain = orjson.dumps(headers if context is None else headers | {_CONTEXT: context})
        plain += b"\n" + _without_secrets(response.content, secrets)
        return "\\x" + key_ring().seal(plain, purpose=PURPOSE, place=self._place()).hex()

    def _place(self) -> bytes:
        return "/".join(self.owner).encode()


class NotClaimed(Exception):
    """The first trip of a write failed: no tenant was bound, another request holds the key, or the connection was lost.

    `reason` is the error to raise. A lost connection (`lost`) has changed nothing, so the write may be tried again.
    """

    def __init__(self, error: DatabaseError) -> None:
        cause = error.__cause__
        waited = isinstance(cause, psycopg.errors.LockNotAvailable)
        self.reason: Exception = InProgress(headers={"Retry-After": "1"}) if waited else error
        self.lost = type(cause) in _LOST
        super().__init__(str(self.reason))


def _without_secrets(content: bytes, secrets: tuple[str, ...]) -> bytes:
    if not secrets or not content:
        return content
    document: dict[str, Any] = orjson.loads(content)
    for name in secrets:
        if name in document.get("data", {}):
            document["data"][name] = None
    return orjson.dumps(document)
