"""Transactions: all entries of a Bundle or none, in the order of R4. Source: R4 http.html#trules."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db import transaction

from core.actor import Actor
from core.db import needs_transaction
from fhir_api.conditions import address, check_sole
from fhir_api.ids import new_id
from fhir_api.intentions import Addressed, NamedTwice, Write
from fhir_api.store.models import Method
from fhir_api.writes import carry_out, gathered, rehearse

from . import references
from .answers import Answer, of_write
from .entries import Entry, identity, order, read_entry, write_of
from .faces import Face
from .links import Conditional, Links
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
    own = _link(actor, face, [(one, entry_of[one.write.place]) for one in addressed], at)
    done = gathered(addressed, carry_out(actor, addressed, at=at))
    check_sole(actor, addressed)
    references.check_still(own, actor=actor, at=at)
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
        if _is_found(one) and one.name in gone
        else one
        for one in addressed
    ]


def _link(actor: Actor, face: Face, pairs: Sequence[tuple[Addressed, Entry]], at: datetime) -> Sequence[Conditional]:
    """Replace placeholders and conditional references in all that shall be stored; answer those that it decides itself."""
    kept = [(one, entry) for one, entry in pairs if not (one.write.method is Method.DELETE or _is_found(one))]
    links = Links(_targets(pairs))
    for one, entry in kept:
        document = one.write.resource if one.write.patch is None else one.write.patch.document
        links.resolve(document, place=entry.place, full_url=entry.full_url)
    for conditional in links.conditional:
        face.check_reference(conditional.type, conditional.place)
    written = {one.write.type for one, _ in pairs if not _is_found(one)}
    settled, own = references.parted(links.conditional, written)
    references.resolve(settled, references.asked(settled, actor=actor, at=at))
    if own:
        references.resolve(own, _rehearsed(actor, [one for one, _ in pairs], own, at))
    face.check_referred(links.conditional)
    return own


def _targets(pairs: Sequence[tuple[Addressed, Entry]]) -> dict[str, str]:
    """What full URLs lead to, also with the version that an entry says it is. Source: R4 bundle.html#references."""
    found = {}
    for one, entry in pairs:
        if entry.full_url and one.write.method is not Method.DELETE:
            found[entry.full_url] = "/".join(one.name)
            meta = (entry.resource or {}).get("meta")
            if isinstance(meta, dict) and "versionId" in meta:
                found[f"{entry.full_url}/_history/{meta['versionId']}"] = "/".join(one.name)
    return found


def _is_found(one: Addressed) -> bool:
    """Whether this is a create that finds what it would create."""
    return one.write.method is Method.POST and one.matched


def _rehearsed(
    actor: Actor, addressed: Sequence[Addressed], own: Sequence[Conditional], at: datetime
) -> Mapping[str, references.Found]:
    """What criteria match once the transaction is carried out: it is, and taken back. Source: R4 http.html#trules."""
    types = references.concerned(own)
    for one in own:
        one.holder["reference"] = f"{one.type}/{new_id(one.type)}"  # of the form that will stand there
    with transaction.atomic():
        rehearse(actor, addressed, types=types, at=at)
        found = references.asked(own, actor=actor, at=at)
        transaction.set_rollback(True)
    return found
