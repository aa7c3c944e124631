"""Importing files of resources and Bundles into a tenant, so that an import that was broken off can be begun again.

What was carried out is remembered in its own transaction, by the hash of its bytes, like a key of idempotency; so nothing is
carried out twice within the days that keys are kept. Of a batch the entries that were refused are remembered, too, and tried
again. Resources are written under their own ids, which may be repeated for ever.
"""

import hashlib
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, Final

import orjson
from django.http import HttpResponse

from api.idempotency import Claim, InProgress
from core import clock
from core.actor import SYSTEM, Actor
from core.db import tenant_context
from core.errors import Malformed, PlatformError
from core.pipeline import Call, Statement, run
from core.watermark import begin, mark_call
from fhir_api.http.refusals import issues_of
from fhir_api.ids import check_id
from fhir_api.intentions import Write
from fhir_api.keys import hashed
from fhir_api.outcomes import Issue
from fhir_api.reading import read_body, read_document
from fhir_api.resources import Json, written
from fhir_api.resources.types import NUMBERS
from fhir_api.store.models import Method
from fhir_api.writes import perform

from .answers import Answer, told_of
from .batches import run_batch
from .entries import listed, read_type
from .faces import Platform
from .retries import begun_again
from .transactions import transact

LIMIT_BYTES: Final = 64 * 1_048_576
TOGETHER: Final = 200
_PIECE_BYTES: Final = 1_048_576
_BROKEN: Final = (OSError, EOFError, zlib.error)  # of a file that ends too soon, or is not packed as it says
TOLD: Final = 20
_ALONE: Final = Statement.of("SELECT pg_advisory_xact_lock($1)")  # of twins, one sees what the other left


@dataclass(slots=True)
class Tally:
    """What an import came to. `reasons` tells place and reason of the first that were refused, without values of a record."""

    written: int = 0
    unchanged: int = 0
    skipped: int = 0
    repeated: int = 0
    refused: int = 0
    reasons: list[str] = field(default_factory=list)

    def refuse(self, reason: str) -> None:
        """Count one more that was refused."""
        self.refused += 1
        if len(self.reasons) < TOLD:
            self.reasons.append(reason)


@dataclass(frozen=True, slots=True)
class Item:
    """One document of a file; `place` names it: "patients.ndjson.gz:12"."""

    place: str
    content: Json


@dataclass(frozen=True, slots=True)
class Unread:
    """A part of a file that could not be read, and why."""

    place: str
    reason: str


class NotImported(Malformed):
    """A document of the file cannot be imported."""

    code = "not_imported"
    title = "The file cannot be imported."


def lines(file: IO[bytes], name: str) -> Iterator[Item | Unread]:
    """The documents of NDJSON: each line a resource or a Bundle. The end of what can be unpacked or read is the last."""
    number = 0
    try:
        for number, line in enumerate(_cut(file), 1):
            raw = line.removeprefix(BOM_UTF8) if number == 1 else line
            if raw.strip():
                yield _item(raw, f"{name}:{number}")
    except _BROKEN as error:
        yield Unread(f"{name}:{number + 1}", _reason(error))


def whole(file: IO[bytes], name: str) -> Iterator[Item | Unread]:
    """The documents of a JSON file: a resource, a Bundle, or a list of them."""
    try:
        found = read_document(file.read(LIMIT_BYTES + 1).removeprefix(BOM_UTF8), limit_bytes=LIMIT_BYTES)
    except (PlatformError, *_BROKEN) as error:
        yield Unread(name, _reason(error))
    else:
        several = isinstance(found, list)
        for number, one in enumerate(found if several else [found]):
            place = f"{name}[{number}]" if several else name
            is_resource = isinstance(one, dict) and isinstance(one.get("resourceType"), str)
            yield Item(place, one) if is_resource else Unread(place, "This is not a resource.")


def _cut(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of a file; of one that is longer than may be only what tells so."""
    while line := file.readline(LIMIT_BYTES + 1):
        yield line
        while line and not line.endswith(b"\n"):
            line = file.readline(_PIECE_BYTES)


def _item(raw: bytes, place: str) -> Item | Unread:
    try:
        return Item(place, read_body(raw, None, limit_bytes=LIMIT_BYTES))
    except PlatformError as refusal:
        return Unread(place, _reason(refusal))


class Import:
    """One import into one tenant. It may last for hours: each of its transactions reads the clock once it has begun."""

    def __init__(self, actor: Actor) -> None:
        self.actor = actor
        self.tally = Tally()

    def take(self, items: Iterator[Item | Unread]) -> Iterator[None]:
        """Carry out the documents one after the other, Bundles alone, resources in companies; pause after each of these."""
        waiting: list[Item] = []
        for item in items:
            if isinstance(item, Unread):
                self.tally.refuse(f"{item.place}: {item.reason}")
            elif item.content["resourceType"] == "Bundle":
                yield from self._resources(waiting)
                waiting = []
                self._bundle(item)
                yield
            elif item.content["resourceType"] in NUMBERS:
                waiting.append(item)
                if len(waiting) == TOGETHER:
                    yield from self._resources(waiting)
                    waiting = []
            else:
                self.tally.skipped += 1
        yield from self._resources(waiting)

    def _bundle(self, item: Item) -> None:
        try:
            begun_again(lambda: self._carry_out(item.content, item.place))
        except PlatformError as refusal:
            self.tally.refuse(f"{item.place}: {_reason(refusal)}")

    def _carry_out(self, bundle: Json, place: str) -> None:
        kind, sent = read_type(bundle), listed(bundle)
        digest = hashlib.sha256(written(bundle)).hexdigest()
        claim = Claim((str(self.actor.tenant_id), str(SYSTEM.id), f"import:{digest}"), digest)
        with tenant_context(self.actor.tenant_id):
            _, taken, _ = run(
                [Call(_ALONE, [str(hashed("/".join(claim.owner)))]), claim.call(), mark_call(self.actor.tenant_id)]
            )
            left = range(len(sent)) if len(taken) else _refused_before(claim)
            if not len(taken) and not left:
                self.tally.repeated += 1
                return
            at = clock.now()
            if kind == "transaction":
                answers = transact(self.actor, sent, Platform(), at=at)
            else:
                answers = run_batch(self.actor, sent, Platform(), at=at, numbers=left)
            refused = [number for number, answer in zip(left, answers, strict=True) if answer.status >= 400]
            if refused or not len(taken):
                claim.keep(HttpResponse(orjson.dumps(refused)), secrets=())
        self._count(place, dict(zip(left, answers, strict=True)))

    def _count(self, place: str, answers: Mapping[int, Answer]) -> None:
        for number, answer in answers.items():
            if answer.status >= 400:
                issue = (answer.outcome or {}).get("issue", [{}])[0]
                self.tally.refuse(f"{place}: Bundle.entry[{number}]: {answer.status} {issue.get('diagnostics', '')}")
        self.tally.written += sum(answer.status in (201, 204) for answer in answers.values())
        self.tally.unchanged += sum(answer.status == 200 for answer in answers.values())

    def _resources(self, items: Sequence[Item]) -> Iterator[None]:
        """Write resources under their own ids."""
        if not items:
            return
        try:
            begun_again(lambda: self._write(items))
        except PlatformError as refusal:
            yield from self._without(items, refusal)
        else:
            yield

    def _without(self, items: Sequence[Item], refusal: PlatformError) -> Iterator[None]:
        """Tell of those for whose sake all were refused, and write the others; halve where it is not said who they are."""
        told = told_of(refusal)
        for number, issues in told.items():
            self.tally.refuse(_told(items[number], number, issues[0]))
        if told:
            yield from self._resources([item for number, item in enumerate(items) if number not in told])
        elif len(items) > 1:
            half = len(items) // 2
            yield from self._resources(items[:half])
            yield from self._resources(items[half:])
        else:
            self.tally.refuse(_told(items[0], 0, issues_of(refusal)[0]))
            yield

    def _write(self, items: Sequence[Item]) -> None:
        writes = [_write_of(item, number) for number, item in enumerate(items)]
        with tenant_context(self.actor.tenant_id):
            done = perform(self.actor, writes, at=begin(self.actor.tenant_id))
        self.tally.written += sum(one.changed for one in done)
        self.tally.unchanged += sum(not one.changed for one in done)


def _refused_before(claim: Claim) -> list[int]:
    """The entries of a Bundle of before that were refused: nothing is kept where none was."""
    try:
        kept = claim.earlier()
    except InProgress:
        return []
    found: list[int] = orjson.loads(kept.content) if kept else []
    return found


def _write_of(item: Item, number: int) -> Write:
    resource: dict[str, Any] = item.content
    fhir_id = resource.get("id")
    if not isinstance(fhir_id, str):
        raise NotImported("The resource has no id, so that importing it twice would make two.")
    return Write(Method.PUT, resource["resourceType"], check_id(fhir_id), resource=resource, place=_place(number))


def _place(number: int) -> str:
    return f"Bundle.entry[{number}]"


def _told(item: Item, number: int, issue: Issue) -> str:
    """Why a document was refused, with the expression in its own resource."""
    within = issue.expression.removeprefix(f"{_place(number)}.resource")
    named = f"{item.content['resourceType']}{within}" if within != issue.expression else ""
    return ": ".join(part for part in (item.place, named, issue.diagnostics) if part)


def _reason(error: Exception) -> str:
    if not isinstance(error, PlatformError):
        return getattr(error, "strerror", None) or str(error)
    issue = issues_of(error)[0]
    return ": ".join(part for part in (issue.expression, issue.diagnostics) if part)


__all__ = ["Import", "Item", "NotImported", "Tally", "Unread", "lines", "whole"]
