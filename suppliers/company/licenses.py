"""The licences of a profile: which of them stay as they are, and with them their verification."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from core import rows
from core.actor import Actor
from core.ids import uuid7
from core.model_rows import save_all_call
from core.pipeline import run

from .models import SupplierLicense

_SAVED = (*SupplierLicense.WRITABLE, "position", "verified_at", "told_days")


def replace(actor: Actor, wanted: Sequence[Mapping[str, Any]], at: datetime) -> bool:
    """Replace all licences under the lock of the profile; tell whether anything changed.

    A licence is known by its type and number. One that changes otherwise has to be verified anew, and its end is told anew.
    """
    present = {(row.type, row.number): row for row in SupplierLicense.objects.of(actor).order_by("position", "id")}
    kept, new = [], []
    for position, given in enumerate(wanted):
        row = present.pop((given["type"], given["number"]), None)
        if row is None:
            new.append(_values(actor, given, position, at))
        elif _changed(row, given, position):
            kept.append(row)
    if present:
        SupplierLicense.objects.of(actor).filter(pk__in=[row.pk for row in present.values()]).delete()
    calls = [save_all_call(kept, *_SAVED, at=at)] if kept else []
    calls += [rows.insert_all(SupplierLicense, new)] if new else []
    if calls:
        run(calls)
    return bool(present or kept or new)


def _changed(row: SupplierLicense, given: Mapping[str, Any], position: int) -> bool:
    """Lay what is given over a licence; tell whether anything differs."""
    altered = row.assign({name: given[name] for name in SupplierLicense.WRITABLE})
    if altered:
        row.verified_at = row.told_days = None
    moved = row.position != position
    row.position = position
    return bool(altered or moved)


def _values(actor: Actor, given: Mapping[str, Any], position: int, at: datetime) -> dict[str, Any]:
    """Return a new licence by its columns."""
    return {
        "id": uuid7(),
        "tenant_id": actor.tenant_id,
        "type": given["type"],
        "number": given["number"],
        **{name: given[name] for name in SupplierLicense.WRITABLE},
        "position": position,
        "created_at": at,
        "updated_at": at,
        "version": 1,
    }
