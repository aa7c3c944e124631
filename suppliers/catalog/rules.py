"""Rules of products and categories beyond the form of their fields: active products, status changes, locked fields."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from core import trees
from core.actor import Actor
from core.errors import FieldError, InvalidFields, InvalidTransition
from core.lifecycle import allowed_actions

from .category_tree import CATEGORIES, MAX_DEPTH
from .models import Category, PlatformCategory, Product
from .refusals import CategoryCodeTaken, FieldLocked, ModerationHold
from .states import LOT_TRACKED_KINDS, LOT_TRACKING, Status

# The transition by which PUT reaches each status; no transition leads back to draft.
_ACTION_TO = {
    Status.DRAFT: "return_to_draft",
    Status.ACTIVE: "activate",
    Status.DISCONTINUED: "discontinue",
    Status.ARCHIVED: "archive",
}


def check_active(product: Product, packagings: Iterable[Mapping[str, Any]]) -> None:
    """Check the fields that only active products need; all other mandatory fields are required of every product.

    :raises InvalidFields: no packaging is orderable, or a medicine or device lacks storage or tracking by lot.
    """
    faults = []
    if not any(row["orderable"] for row in packagings):
        message = "An active product needs an orderable packaging."
        faults.append(FieldError("packagings", "required_when_active", message))
    if product.kind in LOT_TRACKED_KINDS:
        if product.storage_light_sensitive is None:
            message = "An active medicine or device needs storage conditions."
            faults.append(FieldError("storage", "required_when_active", message))
        if product.tracking not in LOT_TRACKING:
            message = "An active medicine or device must be tracked by lot."
            faults.append(FieldError("tracking", "required_when_active", message))
    if faults:
        raise InvalidFields("The product is not complete enough to be active.", errors=faults)


def check_not_archived(product: Product, action: str) -> None:
    """Require that the product can still be written.

    :raises InvalidTransition: the product is archived.
    """
    if product.status == Status.ARCHIVED:
        raise InvalidTransition("An archived product is final.", state=product.status, action=action, allowed=[])


def check_not_held(product: Product) -> None:
    """Require that staff do not hold the product.

    :raises ModerationHold: they do.
    """
    if product.held_at is not None:
        raise ModerationHold(reason=product.hold_reason)


def change_status(product: Product, status: str) -> None:
    """Change a product to the status that PUT names; only DELETE archives, so `allowed` never lists that.

    :raises InvalidTransition: the product is archived, or no transition leads to the status.
    :raises ModerationHold: staff hold the product, which is not to be active.
    """
    check_not_archived(product, "replace")
    if status == product.status:
        return
    action = _ACTION_TO[Status(status)]
    allowed = [name for name in allowed_actions(product) if name != _ACTION_TO[Status.ARCHIVED]]
    if action not in allowed:
        raise InvalidTransition(
            f"PUT cannot change the status from {product.status} to {status}.",
            state=product.status,
            action=action,
            allowed=allowed,
        )
    if status == Status.ACTIVE:
        check_not_held(product)
    getattr(product, action)()


def check_unlocked(product: Product, changed: Iterable[str]) -> None:
    """Check that none of the changed fields is locked.

    :raises FieldLocked: stock has moved, and the base unit, the tracking or a `units_per_pack` differs.
    """
    locked = [name for name in changed if name in ("base_unit", "tracking", "units_per_pack")]
    if product.stock_moved_at is not None and locked:
        raise FieldLocked("Create a new packaging or a new product instead.", fields=locked)


def check_parent(actor: Actor, parent_id: UUID, moved: Category | None = None) -> None:
    """Require that the tenant can put a new category, or a moved one with all below it, under another.

    The parent may be inactive. The tenant's tree is locked until the transaction ends.

    :raises InvalidFields: the parent is neither the platform's nor the tenant's own, stands within the moved category, or
        the tree would become too deep.
    """
    trees.lock("categories", actor.tenant_id)
    above = trees.path(CATEGORIES, parent_id, tenant_id=actor.tenant_id)
    if not above:
        raise _refused_parent("unknown_category", "There is no category of this id.")
    if moved is not None and moved.id in above:
        raise _refused_parent("cycle", "The parent is the category itself or stands within it.")
    height = trees.height(CATEGORIES, moved.id, tenant_id=actor.tenant_id) if moved else 1
    if len(above) + height > MAX_DEPTH:
        raise _refused_parent("too_deep", f"Categories nest at most {MAX_DEPTH} deep.")


def _refused_parent(code: str, message: str) -> InvalidFields:
    return InvalidFields(message, errors=[FieldError("parent_id", code, message)])


def check_own_code(code: str) -> None:
    """Require that no platform category has the code: products name their category by code alone.

    :raises CategoryCodeTaken: the platform has a category of this code.
    """
    if PlatformCategory.objects.filter(code=code).exists():
        raise CategoryCodeTaken
