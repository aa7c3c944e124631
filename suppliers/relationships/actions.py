"""Actions of a buyer on its relationships. Source: contract, supply-shelf.md "Relationship"."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.errors import FieldError, InvalidFields
from core.pipeline import run
from ledger import public as ledger
from suppliers.marketplace.queries import offers_call, offers_of

from . import items
from .events import RelationshipUpdated
from .items import Item
from .models import Relationship
from .queries import categories_call

_UNKNOWN_PRODUCT = "You are offered no such product of this supplier."
_UNKNOWN_CATEGORY = "There is no such active category of the platform or of this supplier."


@needs_transaction
def replace_relationship(
    actor: Actor, relationship: Relationship, data: Mapping[str, Any], at: datetime
) -> Relationship:
    """Replace a locked relationship, or write the first one; if nothing differs from a stored one, nothing is written.

    A product or category that the relationship has named before may be named again, even if it is offered no more.

    :raises InvalidFields: a product is not offered to the tenant by this supplier, or a category does not exist.
    """
    old = items.present(actor, relationship.supplier_id)
    new = items.wanted(data)
    _check(actor, relationship, data["approved_categories"], old, new, at)
    changed = relationship.assign({name: data[name] for name in Relationship.WRITABLE})
    columns = [*changed]
    changed += items.replace(actor, relationship.supplier_id, old, new)
    if relationship._state.adding:
        relationship.version += 1
        relationship.created_at = relationship.updated_at = at
        relationship.save(force_insert=True)
    elif changed:
        relationship.save_version(*columns, at=at)
    else:
        return relationship
    fact = RelationshipUpdated(status=relationship.status, blocks=relationship.blocks, changed=sorted(changed))
    ledger.record(
        actor=actor, event=fact, resource_id=relationship.supplier_id, at=at, resource_version=relationship.version
    )
    return relationship


def _check(
    actor: Actor,
    relationship: Relationship,
    categories: Sequence[str],
    old: Mapping[str, set[Item]],
    new: Mapping[str, Sequence[Item]],
    at: datetime,
) -> None:
    """Hold what the body names anew against what the supplier has, bound to it.

    :raises InvalidFields: names each entry that does not exist for the buyer.
    """
    products = items.products_of(new) - items.products_of(old)
    codes = set(categories) - set(relationship.approved_categories)
    if not (products or codes):
        return
    supplier_id = relationship.supplier_id
    _, offered, known, _ = run(
        [
            bind_call(supplier_id),
            offers_call(supplier_id, [UUID(one) for one in products], actor.tenant_id, at),
            categories_call(supplier_id, codes),
            bind_call(actor.tenant_id),
        ]
    )
    products -= {str(one.product_id) for one in offers_of(offered)}
    codes -= {(known.value(number) or b"").decode() for number in range(len(known))}
    if errors := [*_unknown_categories(categories, codes), *_unknown_products(new, products)]:
        raise InvalidFields(errors=errors)


def _unknown_categories(categories: Sequence[str], unknown: set[str]) -> Iterator[FieldError]:
    for number, code in enumerate(categories):
        if code in unknown:
            yield FieldError(f"approved_categories.{number}", "unknown_category", _UNKNOWN_CATEGORY)


def _unknown_products(lists: Mapping[str, Sequence[Item]], unknown: set[str]) -> Iterator[FieldError]:
    for name, entries in lists.items():
        for number, one in enumerate(entries):
            for place, key in enumerate(one[: items.KINDS[name].products]):
                if key in unknown:
                    yield FieldError(_place(name, number, place), "unknown_product", _UNKNOWN_PRODUCT)


def _place(name: str, number: int, place: int) -> str:
    columns = items.KINDS[name].columns
    return f"{name}.{number}.{columns[place]}" if len(columns) > 1 else f"{name}.{number}"
