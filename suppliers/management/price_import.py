"""Entries of a price list read from lines, merged by the action of its PUT."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import orjson

from api.serializers import read
from core import clock
from core.actor import Actor, system_actor
from core.db import needs_transaction
from core.own_codes import to_put
from core.pipeline import Call, Statement, run
from suppliers.catalog.refusals import FieldLocked
from suppliers.terms.actions import HEADER, put_price_list
from suppliers.terms.assignment import assignment_of
from suppliers.terms.entries import Entry, found_entries, stored_tiers
from suppliers.terms.models import PriceList, PriceListEntry
from suppliers.terms.serializers import EntryIn, PriceListIn
from suppliers.terms.states import EntriesMode

from .csv_files import Form
from .file_imports import Fault
from .merges import MergeImport, Sent

PRICES: Final = Form(EntryIn, ("supplier_sku", "product_id"), "Entries of a price list")
_CURRENCY: Final = Statement.of("SELECT n.currency FROM organizations_tenant n WHERE n.id = $1")


@dataclass(kw_only=True)
class Import(MergeImport[Entry]):
    """The import of one file into one list, by its code.

    A list that there is not is made by the first batch, as a draft of the `currency` and the `name`; one that there is keeps
    all but its entries, and has to have the currency, if one is given.
    """

    form = PRICES
    noun = "entries"
    member = "entries"

    code: str
    currency: str | None = None
    name: str | None = None

    def write(self, sent: Sequence[Sent]) -> list[Fault]:
        """Merge the sound ones of these lines into the list."""
        actor = system_actor(self.tenant_id)
        target = to_put(PriceList)(actor, self.code)
        header = self._header(target)
        sound, faults = self.judged(
            sent, lambda given: found_entries(self.tenant_id, given), lambda entry: entry.packaging_id
        )
        self.counts += _statuses(target, [entry for _, entry in sound])
        body = {**header, "entries_mode": EntriesMode.MERGE.value, "entries": [one for one, _ in sound]}
        if sound:
            self._put(actor, target, body, clock.now())
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


def _statuses(target: PriceList | None, entries: Sequence[Entry]) -> Counter[str]:
    """Count what becomes of the entries of a locked list."""
    stored: dict[UUID, Any] = {}
    if target is not None:
        mine = PriceListEntry.objects.filter(tenant_id=target.tenant_id, price_list_id=target.id)
        named = mine.filter(packaging_id__in=[one.packaging_id for one in entries])
        rows = named.values_list("packaging_id", "price_base_quantity", "tiers")
        stored = {key: (base, tiers) for key, base, tiers in rows}
    return Counter(_status(one, stored.get(one.packaging_id)) for one in entries)


def _status(entry: Entry, stored: tuple[int, Any] | None) -> str:
    if entry.remove:
        return "unchanged" if stored is None else "removed"
    if stored is None:
        return "created"
    return "unchanged" if stored == (entry.price_base_quantity, orjson.loads(stored_tiers(entry))) else "updated"
