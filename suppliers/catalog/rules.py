"""What a product or category must fulfil beyond the form of its fields: to be written, to be active, to change once stock has moved."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from core.actor import Actor
from core.errors import FieldError, InvalidFields, InvalidTransition
from core.lifecycle import allowed_actions
from core.pipeline import Call, Rows
from core.trees import path

from . import queries
from .category_tree import CATEGORIES, MAX_DEPTH
from .models import PlatformCategory, Product
from .refusals import CategoryCodeTaken, FieldLocked
from .states import LOT_TRACKED_KINDS, LOT_TRACKING, Status

# What PUT would do to reach each status; a product never becomes a draft again.
_ACTION_TO = {
    Status.DRAFT: "return_to_draft",
    Status.ACTIVE: "activate",
    Status.DISCONTINUED: "discontinue",
    Status.ARCHIVED: "archive",
}


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


def bring_to(product: Product, status: str) -> None:
    """Move a product into the status that PUT names; archiving is for DELETE alone, so it is never among what is allowed.

    :raises InvalidTransition: it is archived, or no transition leads to the status.
    """
    if product.status == Status.ARCHIVED:
        raise InvalidTransition("An archived product is final.", state=product.status, action="replace")
    if status == product.status:
        return
    action = _ACTION_TO[Status(status)]
    allowed = [name for name in allowed_actions(product) if name != _ACTION_TO[Status.ARCHIVED]]
    if action not in allowed:
        raise InvalidTransition(
            f"PUT cannot make the product {status}; it is {product.status}.",
            state=product.status,
            action=action,
            allowed=allowed,
        )
    getattr(product, action)()


def check_unlocked(product: Product, changed: Iterable[str]) -> None:
    """Tell whether the changed fields may still change.

    :raises FieldLocked: stock has moved, and base unit, tracking or the ratio of a packaging differs.
    """
    locked = [name for name in changed if name in ("base_unit", "tracking", "units_per_pack")]
    if product.stock_moved_at is not None and locked:
        raise FieldLocked("Create a new packaging or a new product instead.", fields=locked)


def check_parent(parent_id: UUID) -> None:
    """Tell whether the bound tenant may hang a category below another; inactive ones may be built on.

    :raises InvalidFields: it is neither the platform's nor the tenant's own, or it is on the lowest level already.
    """
    depth = len(path(CATEGORIES, parent_id))
    if not depth:
        raise _refused_parent("unknown_category", "There is no category of this id.")
    if depth >= MAX_DEPTH:
        raise _refused_parent("too_deep", f"Categories nest at most {MAX_DEPTH} deep.")


def _refused_parent(code: str, message: str) -> InvalidFields:
    return InvalidFields(message, errors=[FieldError("parent_id", code, message)])


def check_own_code(code: str) -> None:
    """Tell whether an own category may have a code: products name their category by code alone, so it must be unambiguous.

    :raises CategoryCodeTaken: the platform has a category of this code.
    """
    if PlatformCategory.objects.filter(code=code).exists():
        raise CategoryCodeTaken
