"""Actions on terms, each a PUT under the supplier's own code. Source: contract, supply-price.md 1."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from core.actor import Actor
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields, InvalidTransition
from ledger import public as ledger
from suppliers.catalog.refusals import FieldLocked

from .assignment import audience_for
from .entries import found_entries, write_entries
from .events import PriceListCreated, PriceListUpdated
from .models import PriceList
from .states import EntriesMode, TermStatus

HEADER: Final = ("name", "currency", "status", "valid_from", "valid_to", "priority")


@needs_transaction
def put_price_list(
    actor: Actor, target: PriceList | None, data: Mapping[str, Any], at: datetime, *, code: str
) -> PriceList:
    """Create a price list under a code, or replace the locked one; if nothing differs, nothing is written.

    :raises InvalidFields: the body names a buyer, a product or a packaging that there is not, or an entry twice.
    :raises InvalidTransition: the list is archived.
    :raises FieldLocked: the entries that stay are prices of another currency.
    """
    found = target or PriceList(tenant_id=actor.tenant_id, code=code, created_at=at, updated_at=at)
    mode = data["entries_mode"]
    _check(target, data)
    header = {name: data[name] for name in HEADER}
    assignment = data["assignment"]
    audience = {"scope": assignment["scope"], "audience_id": audience_for(actor.tenant_id, assignment)}
    entries = found_entries(actor.tenant_id, data["entries"] or [])
    changed = found.assign(header | audience)
    if target is None:
        found.entry_count = sum(not one.remove for one in entries)
        found.save(force_insert=True)
    differs, count = write_entries(found, entries, mode)
    changed += found.assign({"entry_count": count})
    if target is None:
        _record(actor, found, PriceListCreated, at)
    elif changed or differs:
        found.save_version(*changed, at=at)
        _record(actor, found, PriceListUpdated, at)
    return found


def _check(target: PriceList | None, data: Mapping[str, Any]) -> None:
    """Refuse what the state of the list does not allow, and a body that would empty the list by an omission."""
    if target is not None and target.status == TermStatus.ARCHIVED:
        raise InvalidTransition(state=target.status, action="replace", allowed=[])
    if data["entries_mode"] == EntriesMode.REPLACE and data["entries"] is None:
        message = "Give all entries, or the mode merge, which keeps those that are not named."
        raise InvalidFields(errors=[FieldError("entries", "required", message)])
    keeps = data["entries_mode"] == EntriesMode.MERGE and target is not None and target.entry_count > 0
    if keeps and target is not None and target.currency != data["currency"]:
        raise FieldLocked(fields=["currency"])


def _record(actor: Actor, row: PriceList, kind: type[PriceListCreated | PriceListUpdated], at: datetime) -> None:
    event = kind(code=row.code, status=row.status)
    ledger.record(actor=actor, event=event, resource_id=row.id, at=at, resource_version=row.version)
