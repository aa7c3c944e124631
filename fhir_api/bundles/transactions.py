"""Transactions: all entries of a Bundle or none, in the order of R4. Source: R4 http.html#trules."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from core.actor import Actor
from core.db import needs_transaction
from fhir_api.conditions import address
from fhir_api.ids import new_id
from fhir_api.intentions import Addressed, NamedTwice, Write
from fhir_api.models import Method
from fhir_api.writes import carry_out, gathered

from . import references
from .answers import Answer, of_write
from .entries import Entry, identity, order, read_entry, write_of
from .faces import Face
from .links import Links
from .reads import check_answered
from .refusals import InvalidEntry


@needs_transaction
def transact(actor: Actor, sent: Sequence[Any], face: Face, *, at: datetime) -> list[Answer]:
    """Carry out the entries of a transaction; the answers stand in their order.

    :raises core.errors.PlatformError: one of them is refused, and the caller's transaction must end with it.
    """
    entries = [read_entry(one, number) for number, one in enumerate(sent)]
    _check_urls(entries)
    changing = [entry for entry in entries if not entry.reads]
    for entry in entries:
        if entry.reads:
            face.check_read(entry)
    pairs = [(write_of(entry), entry) for entry in changing]
    _check_once([write for write, _ in pairs])
    pairs.sort(key=lambda pair: order(pair[0]))
    writes = [write for write, _ in pairs]
    for write in writes:
        face.check_write(write)
    addressed = _see_deletions(address(actor, writes))
    entry_of = {write.place: entry for write, entry in pairs}
    _link(actor, face, [(one, entry_of[one.write.place]) for one in addressed], at)
    done = gathered(addressed, carry_out(actor, addressed, at=at))
    answers = {entry.number: of_write(written, face.wanted) for written, (_, entry) in zip(done, pairs, strict=True)}
    face.check_written(zip(writes, done, strict=True))
    for entry in entries:
        if entry.reads:
            answers[entry.number] = face.read(entry)
            check_answered(entry, answers[entry.number])
    return [answers[entry.number] for entry in entries]


def _check_urls(entries: Sequence[Entry]) -> None:
    """Refuse a full URL that two entries have. Source: R4 bundle.html, bdl-7."""
    seen: set[str] = set()
    for entry in entries:
        if entry.full_url and not entry.reads and entry.method != "DELETE":
            if entry.full_url in seen:
                raise InvalidEntry(
                    "Two entries have this fullUrl.", expression=f"{entry.place}.fullUrl", issue_type="duplicate"
                )
            seen.add(entry.full_url)


def _check_once(writes: Sequence[Write]) -> None:
    """Refuse two writes that name the same resource, or name one by the same criteria; equal creates are one.

    :raises NamedTwice: as said.
    """
    seen: dict[tuple[str, str], Write] = {}
    for write in writes:
        if not (write.fhir_id or write.criteria):
            continue
        known = seen.setdefault(identity(write), write)
        if known is not write and not known.method is write.method is Method.POST:
            raise NamedTwice(expression=write.place, issue_type="duplicate")


def _see_deletions(addressed: Sequence[Addressed]) -> list[Addressed]:
    """Deletions come first, so that a conditional create does not match what the same transaction deletes."""
    gone = {one.name for one in addressed if one.write.method is Method.DELETE and one.fhir_id}
    return [
        replace(one, fhir_id=new_id(one.write.type), matched=False, fresh=True)
        if one.write.method is Method.POST and one.matched and one.name in gone
        else one
        for one in addressed
    ]


def _link(actor: Actor, face: Face, pairs: Sequence[tuple[Addressed, Entry]], at: datetime) -> None:
    """Replace placeholders and conditional references in all that shall be stored."""
    kept = [(one, entry) for one, entry in pairs if one.write.method is not Method.DELETE]
    links = Links({entry.full_url: "/".join(one.name) for one, entry in kept if entry.full_url})
    for one, entry in kept:
        document = one.write.resource if one.write.patch is None else one.write.patch.document
        if not (one.write.method is Method.POST and one.matched):
            links.resolve(document, place=entry.place, full_url=entry.full_url)
    if not links.conditional:
        return
    for conditional in links.conditional:
        face.check_reference(conditional.type, conditional.place)
    made = (
        ("/".join(one.name), one.write.resource) for one, _ in kept if one.write.resource is not None and one.creates
    )
    gone = ("/".join(one.name) for one, _ in pairs if one.write.method is Method.DELETE)
    own = references.OwnIdentifiers(((name, resource) for name, resource in made if resource is not None), gone)
    references.resolve(links.conditional, own, actor=actor, at=at)
    face.check_referred(links.conditional)
