"""The licences of a profile: which of them stay as they are, and with them their verification.

Their files belong to a room beside this one, so their table is named in SQL alone.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from core import rows
from core.actor import Actor
from core.arrays import array_literal
from core.errors import FieldError, InvalidFields
from core.ids import uuid7
from core.model_rows import save_all_call
from core.pipeline import Call, Statement, run

from .models import SupplierLicense

_SAVED = (*SupplierLicense.WRITABLE, "position", "verified_at", "told_days")
# A file that a licence names is evidence: the name of what holds it, and SQL that finds one for the tenant $1 and the file $2.
EVIDENCE: Final = ("license", "SELECT 1 FROM suppliers_supplierlicense l WHERE l.tenant_id = $1 AND l.file_id = $2")
# Locked, so that none of them is deleted before the licence stands.
_FILES = Statement.of(
    "SELECT f.id::text FROM suppliers_file f WHERE f.tenant_id = $1 AND f.id = ANY($2::uuid[])"
    " AND f.purpose = 'certificate' AND f.status = 'ready' ORDER BY f.id FOR SHARE"
)


def replace(actor: Actor, wanted: Sequence[Mapping[str, Any]], at: datetime) -> bool:
    """Replace all licences under the lock of the profile; tell whether anything changed.

    A licence is known by its type and number. One that changes otherwise has to be verified anew, and its end is told anew.

    :raises InvalidFields: a licence comes to name a file that is no certificate of the tenant, or that cannot be read.
    """
    present = {(row.type, row.number): row for row in SupplierLicense.objects.of(actor).order_by("position", "id")}
    _check_files(actor, wanted, {key: row.file_id for key, row in present.items()})
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


def _check_files(
    actor: Actor, wanted: Sequence[Mapping[str, Any]], held: Mapping[tuple[str, str], UUID | None]
) -> None:
    """Hold the files that licences name, but did not yet, against what the tenant has; others' are told as unknown, too."""
    named = {
        number: given["file_id"]
        for number, given in enumerate(wanted)
        if given["file_id"] and given["file_id"] != held.get((given["type"], given["number"]))
    }
    if not named:
        return
    (found,) = run([Call(_FILES, [str(actor.tenant_id), array_literal(sorted({*named.values()}))])])
    known = {(found.value(number) or b"").decode() for number in range(len(found))}
    text = "There is no such certificate that is ready."
    errors = [
        FieldError(f"licenses.{number}.file_id", "unknown_file", text)
        for number, file_id in named.items()
        if str(file_id) not in known
    ]
    if errors:
        raise InvalidFields(errors=errors)


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
