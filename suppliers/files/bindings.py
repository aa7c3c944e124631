"""What files are bound to: held against the tenant's own rows, and replaced as a whole.

Products and offers belong to rooms above this one, so their tables are named in SQL alone.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from core.actor import Actor
from core.arrays import array_literal
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields
from core.pipeline import Call, Statement, run

from .evidence import holders_of
from .models import File, FileBinding
from .refusals import FileBound
from .states import EVIDENCE, HANDING_OVER, ResourceType

MOST: Final = 20
SUPPLIER_KIND: Final = "supplier"

_KNOWN: Final = {
    ResourceType.PRODUCT.value: Statement.of(
        "SELECT p.id::text FROM suppliers_product p WHERE p.tenant_id = $1 AND p.id = ANY($2::uuid[])"
    ),
    ResourceType.OFFER.value: Statement.of(
        "SELECT o.id::text FROM suppliers_offer o WHERE o.tenant_id = $1 AND o.id = ANY($2::uuid[])"
    ),
}
_MEMBERS = ("resource_type", "resource_id", "role", "position", "language")

Wanted = Sequence[Mapping[str, Any]]


@needs_transaction
def check_bindings(actor: Actor, wanted: Wanted) -> None:
    """Hold bindings against what the tenant has.

    :raises InvalidFields: a binding occurs twice, or names something that is not there; what another tenant owns is refused
        in the same words.
    """
    known = _known(actor, wanted)
    errors, seen = [], set()
    for number, one in enumerate(wanted):
        kind, key = one["resource_type"], str(one["resource_id"])
        if (kind, key, one["role"]) in seen:
            errors.append(FieldError(f"bindings.{number}", "duplicate", "The same binding occurs twice."))
        seen.add((kind, key, one["role"]))
        if kind not in known:
            text = f"Nothing of the type {kind} can be bound yet."
            errors.append(FieldError(f"bindings.{number}.resource_type", "resource_not_available", text))
        elif key not in known[kind]:
            text = f"There is no such {kind}."
            errors.append(FieldError(f"bindings.{number}.resource_id", "unknown_resource", text))
    if errors:
        raise InvalidFields(errors=errors)


def _known(actor: Actor, wanted: Wanted) -> dict[str, set[str]]:
    """Return the ids that the bindings may name, by type."""
    own = {str(actor.tenant_id)} if SUPPLIER_KIND in actor.tenant_kinds else set()
    found: dict[str, set[str]] = {kind: set() for kind in _KNOWN} | {ResourceType.SUPPLIER.value: own}
    asked = {kind: [one["resource_id"] for one in wanted if one["resource_type"] == kind] for kind in _KNOWN}
    kinds = [kind for kind, ids in asked.items() if ids]
    calls = [Call(_KNOWN[kind], [str(actor.tenant_id), array_literal(asked[kind])]) for kind in kinds]
    for kind, rows_found in zip(kinds, run(calls) if calls else [], strict=True):
        found[kind] = {(rows_found.value(number) or b"").decode() for number in range(len(rows_found))}
    return found


@needs_transaction
def replace_bindings(actor: Actor, file: File, wanted: Wanted, *, at: datetime) -> bool:
    """Replace the bindings of a locked file; return whether something changed.

    :raises InvalidFields: as `check_bindings`.
    :raises FileBound: a document hands the file over, or it is evidence of one: that document alone lets it go.
    """
    held = list(FileBinding.objects.of(actor).filter(file=file))
    before = {tuple(str(getattr(one, name)) for name in _MEMBERS) for one in held}
    after = {tuple(str(one[name]) for name in _MEMBERS) for one in wanted}
    if before == after and len(after) == len(wanted):
        return False
    check_bindings(actor, wanted)
    kept = {(str(one["resource_type"]), str(one["resource_id"])) for one in wanted}
    lost = {one.resource_type for one in held if (one.resource_type, str(one.resource_id)) not in kept}
    if bound_to := sorted(lost & {*HANDING_OVER, *EVIDENCE}):
        raise FileBound(f"The file stays bound to what hands it over: {', '.join(bound_to)}.", bound_to=bound_to)
    FileBinding.objects.of(actor).filter(file=file).delete()
    add_bindings(file, wanted, at=at)
    return True


@needs_transaction
def add_bindings(file: File, wanted: Wanted, *, at: datetime) -> None:
    """Bind a file that has no bindings yet to what was checked."""
    if wanted:
        FileBinding.objects.bulk_create(
            [FileBinding(tenant_id=file.tenant_id, file=file, created_at=at, updated_at=at, **one) for one in wanted]
        )


@needs_transaction
def check_unbound(actor: Actor, file: File) -> None:
    """Hold that nothing needs a locked file.

    :raises FileBound: it is bound to something, or evidence of it.
    """
    bound = set(FileBinding.objects.of(actor).filter(file=file).values_list("resource_type", flat=True))
    if bound_to := sorted({*bound, *holders_of(file)}):
        raise FileBound(f"The file is bound to: {', '.join(bound_to)}.", bound_to=bound_to)


@needs_transaction
def check_not_handed_over(actor: Actor, file: File) -> None:
    """Hold that no document hands a locked file over to its other party, or will once it is sent.

    :raises FileBound: it names each type of document.
    """
    bound = FileBinding.objects.of(actor).filter(file=file, resource_type__in=HANDING_OVER)
    if bound_to := sorted({*bound.values_list("resource_type", flat=True)}):
        raise FileBound(f"The file is handed over with: {', '.join(bound_to)}.", bound_to=bound_to)


@needs_transaction
def check_no_evidence(actor: Actor, file: File) -> None:
    """Hold that a locked file is evidence of nothing; what shows a product or an offer is none.

    :raises FileBound: it is evidence of what the refusal names.
    """
    bound = FileBinding.objects.of(actor).filter(file=file, resource_type__in=EVIDENCE)
    if bound_to := sorted({*bound.values_list("resource_type", flat=True), *holders_of(file)}):
        raise FileBound(f"The file is evidence; it is bound to: {', '.join(bound_to)}.", bound_to=bound_to)
