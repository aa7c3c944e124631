"""Entries of a price list read from lines: batches that are merged by the action of the PUT, each in a transaction of its own."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any, Final
from uuid import UUID

import orjson
from django.db import transaction

from api.serializers import read
from core import clock
from core.actor import Actor, system_actor
from core.db import needs_transaction, tenant_context
from core.errors import InvalidFields, PlatformError
from core.own_codes import to_put
from core.pipeline import Call, Statement, run
from suppliers.catalog.refusals import FieldLocked
from suppliers.terms.actions import HEADER, put_price_list
from suppliers.terms.assignment import assignment_of
from suppliers.terms.entries import Entry, found_entries, stored_tiers
from suppliers.terms.models import PriceList, PriceListEntry
from suppliers.terms.serializers import EntryIn, PriceListIn
from suppliers.terms.states import EntriesMode

from .csv_files import Form, Line
from .file_imports import Fault, FileImport, faults_of

PRICES: Final = Form(EntryIn, ("supplier_sku", "product_id"), "Entries of a price list")
_BATCH: Final = 1_000
_ENTRIES: Final = "entries."
_TWICE: Final = "Another line names this packaging."
_CURRENCY: Final = Statement.of("SELECT n.currency FROM organizations_tenant n WHERE n.id = $1")
_Sent = tuple[Line, Mapping[str, Any]]


@dataclass
class Import(FileImport):
    """The import of one file into one list, by its code. With `is_dry` every batch is judged and rolled back.

    A list that there is not is made by the first batch, as a draft of the `currency` and the `name`; one that there is keeps
    all but its entries, and has to have the currency, if one is given.
    """

    form = PRICES
    statuses = ("created", "updated", "removed", "unchanged", "failed")
    noun = "entries"

    tenant_id: UUID
    code: str
    currency: str | None = None
    name: str | None = None
    is_dry: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    _seen: set[UUID] = field(default_factory=set)  # the packagings of the batches before

    def take(self, lines: Iterable[Line]) -> Iterator[list[Fault]]:
        """Write the lines batch by batch; after each yield the faults of its lines, in their order."""
        rest = iter(lines)
        while batch := list(islice(rest, _BATCH)):
            sent: list[_Sent] = []
            faults: list[Fault] = []
            for line in batch:
                try:
                    sent.append((line, _entry(line)))
                except PlatformError as error:
                    faults += _told(line, error)
            faults += self._write(sent)
            self.counts["failed"] += len({fault.line for fault in faults})
            yield sorted(faults)

    def _write(self, sent: Sequence[_Sent]) -> list[Fault]:
        with tenant_context(self.tenant_id), transaction.atomic():
            actor = system_actor(self.tenant_id)
            target = to_put(PriceList)(actor, self.code)
            header = self._header(target)
            sound, entries, faults = self._judged(sent)
            self.counts += _statuses(target, entries)
            body = {**header, "entries_mode": EntriesMode.MERGE.value, "entries": [one for _, one in sound]}
            if sound:
                self._put(actor, target, body, clock.now())
            if self.is_dry:
                transaction.set_rollback(True)
        return faults

    @needs_transaction
    def _put(self, actor: Actor, target: PriceList | None, body: Mapping[str, Any], at: datetime) -> None:
        put_price_list(actor, target, body, at, code=self.code)

    def _header(self, target: PriceList | None) -> Mapping[str, Any]:
        """Return the members of the body that stand beside the entries.

        :raises InvalidFields: a new list has no such currency or name.
        :raises FieldLocked: the list has another currency.
        """
        if target is None:
            (found,) = run([Call(_CURRENCY, [str(self.tenant_id)])])
            currency = self.currency or (found.value() or b"").decode()
            return read(PriceListIn, {"name": self.name or self.code, "currency": currency, "entries": []})
        if self.currency not in (None, target.currency):
            raise FieldLocked(f"The list's currency is {target.currency}.", fields=["currency"])
        return {name: getattr(target, name) for name in HEADER} | {"assignment": assignment_of(target)}

    def _judged(self, sent: Sequence[_Sent]) -> tuple[list[_Sent], list[Entry], list[Fault]]:
        """Return the lines whose products there are, once for each packaging, with what is wrong with the others."""
        try:
            found = found_entries(self.tenant_id, [one for _, one in sent])
        except InvalidFields as error:
            faults = _faults_by_line(sent, error)
            bad = {fault.line for fault in faults}
            sound, entries, more = self._judged([one for one in sent if one[0].number not in bad])
            return sound, entries, faults + more
        faults = []
        kept: list[tuple[_Sent, Entry]] = []
        for one, entry in zip(sent, found, strict=True):
            if entry.packaging_id in self._seen:
                faults.append(_fault(one[0], "", "duplicate", _TWICE))
            else:
                kept.append((one, entry))
        self._seen |= {entry.packaging_id for _, entry in kept}
        return [one for one, _ in kept], [entry for _, entry in kept], faults


def _entry(line: Line) -> Mapping[str, Any]:
    """Return the checked entry of a line; the first of its tiers begins at one pack unless it says otherwise.

    :raises PlatformError: the line is none, or a member is wrong.
    """
    if line.fault:
        raise InvalidFields(line.fault)
    body = dict(line.body)
    if body.get("tiers"):
        first, *others = body["tiers"]
        body["tiers"] = [{"min_quantity": 1} | first, *others]
    return read(EntryIn, body)


def _statuses(target: PriceList | None, entries: Sequence[Entry]) -> Counter[str]:
    """Count what becomes of the entries of a locked list."""
    stored: dict[UUID, Any] = {}
    if target is not None:
        mine = PriceListEntry.objects.filter(tenant_id=target.tenant_id, price_list_id=target.id)
        named = mine.filter(packaging_id__in=[one.packaging_id for one in entries])
        stored = {
            key: (base, tiers) for key, base, tiers in named.values_list("packaging_id", "price_base_quantity", "tiers")
        }
    return Counter(_status(one, stored.get(one.packaging_id)) for one in entries)


def _status(entry: Entry, stored: tuple[int, Any] | None) -> str:
    if entry.remove:
        return "unchanged" if stored is None else "removed"
    if stored is None:
        return "created"
    return "unchanged" if stored == (entry.price_base_quantity, orjson.loads(stored_tiers(entry))) else "updated"


def _faults_by_line(sent: Sequence[_Sent], error: InvalidFields) -> list[Fault]:
    """Tell the faults of `entries.N` by the lines that they stand in."""
    faults = []
    for one in error.errors:
        place, _, member = one.field.removeprefix(_ENTRIES).partition(".")
        line = sent[int(place)][0]
        faults.append(_fault(line, member, one.code, _TWICE if one.code == "duplicate" else one.message))
    return faults


def _told(line: Line, error: PlatformError) -> list[Fault]:
    return [_fault(line, one.field, one.code if one.field else "invalid", one.message) for one in faults_of(error)]


def _fault(line: Line, member: str, code: str, message: str) -> Fault:
    key = line.body.get("supplier_sku") or line.body.get("product_id") or ""
    return Fault(line.number, str(key), member, code, message)
