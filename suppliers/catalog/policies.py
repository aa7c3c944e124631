"""What a product must fulfil beyond the form of its fields: to be written, to be active, to change once stock has moved."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from core.actor import Actor
from core.errors import Conflict, FieldError, InvalidFields, InvalidTransition
from core.lifecycle import allowed_actions
from core.pipeline import Call, Rows

from . import queries
from .models import Product
from .states import ACTION_TO, LOT_TRACKED_KINDS, LOT_TRACKING, Status


class SkuTaken(Conflict):
    """Another product of the supplier, not archived, has this SKU."""

    code = "sku_taken"
    title = "Another product has this SKU."


class GtinTaken(Conflict):
    """Another packaging of the supplier has this GTIN."""

    code = "gtin_taken"
    title = "Another packaging has this GTIN."


class ProductInUse(Conflict):
    """Stock, reservations, offers or open orders stand on the product; `reasons` says which."""

    code = "product_in_use"
    title = "The product is in use."
    extensions = {"reasons": ["stock_on_hand"]}


class FieldLocked(Conflict):
    """Base unit, pack ratio and tracking are frozen once stock has moved; `fields` names those that differ."""

    code = "field_locked"
    title = "The field cannot change any more, because stock of the product has moved."
    extensions = {"fields": ["base_unit"]}


def references(actor: Actor, data: Mapping[str, Any]) -> list[Call]:
    """The statements that look up the category and the substitutes; `check_references` reads their answers."""
    wanted = _substitutes(data)
    category = queries.active_category(actor, data["category"])
    return [category, queries.known_products(actor, wanted)] if wanted else [category]


def check_references(data: Mapping[str, Any], found: Sequence[Rows], product_id: UUID | None = None) -> None:
    """Hold the category and the substitutes against what `references` found, which stands first.

    :raises InvalidFields: an unknown or inactive category, an unknown substitute, the product as its own substitute.
    """
    faults = []
    if not len(found[0]):
        faults.append(FieldError("category", "unknown_category", "There is no active category of this code."))
    wanted = _substitutes(data)
    known = {found[1].value(row) for row in range(len(found[1]))} if wanted else set()
    for position, wanted_id in enumerate(wanted):
        if str(wanted_id).encode() not in known or wanted_id == product_id:
            name = f"substitutes.{position}.product_id"
            faults.append(FieldError(name, "unknown_product", "There is no other product of this id."))
    if faults:
        raise InvalidFields(errors=faults)


def _substitutes(data: Mapping[str, Any]) -> list[UUID]:
    return [row["product_id"] for row in data.get("substitutes", ())]


def check_active(product: Product, packagings: Iterable[Mapping[str, Any]]) -> None:
    """Tell what an active product still lacks; the other fields it needs are required of every product.

    :raises InvalidFields: no orderable packaging; a medicine or device without storage or tracking by lot.
    """
    faults = []
    if not any(row["orderable"] for row in packagings):
        faults.append(FieldError("packagings", "required_when_active", "An active product has an orderable packaging."))
    if product.kind in LOT_TRACKED_KINDS:
        if product.storage_light_sensitive is None:
            message = "An active medicine or device says how it is stored."
            faults.append(FieldError("storage", "required_when_active", message))
        if product.tracking not in LOT_TRACKING:
            faults.append(
                FieldError("tracking", "required_when_active", "An active medicine or device is tracked by lot.")
            )
    if faults:
        raise InvalidFields("An active product needs more than a draft.", errors=faults)


def check_replaceable(product: Product, status: str) -> None:
    """Tell whether PUT may write the product and leave it in a status; archiving is for DELETE alone.

    :raises InvalidTransition: it is archived, or no transition leads to the status.
    """
    if product.status == Status.ARCHIVED:
        raise InvalidTransition("An archived product is final.", state=product.status, action="replace")
    if status == product.status:
        return
    allowed = [action for action in allowed_actions(product) if action != ACTION_TO[Status.ARCHIVED]]
    action = ACTION_TO[Status(status)]
    if action not in allowed:
        raise InvalidTransition(
            f"PUT cannot make the product {status}; it is {product.status}.",
            state=product.status,
            action=action,
            allowed=allowed,
        )


def check_unlocked(product: Product, changed: Iterable[str]) -> None:
    """Tell whether the changed fields may still change.

    :raises FieldLocked: stock has moved, and base unit, tracking or the ratio of a packaging differs.
    """
    locked = [name for name in changed if name in ("base_unit", "tracking", "units_per_pack")]
    if product.stock_moved_at is not None and locked:
        raise FieldLocked("Create a new packaging or a new product instead.", fields=locked)
