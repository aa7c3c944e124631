"""Reads of the catalog for actions and rules; answers are read through the representations."""

from collections.abc import Collection
from uuid import UUID

from core.actor import Actor
from core.arrays import array_literal
from core.db import needs_transaction
from core.errors import NotFound
from core.pipeline import Call, Statement

from .models import Category, Packaging, Product
from .states import PackagingState

_CATEGORIES = Statement.of(
    "SELECT code FROM suppliers_platformcategory WHERE code = ANY($1::text[]) AND active"
    " UNION ALL SELECT code FROM suppliers_category WHERE tenant_id = $2 AND code = ANY($1::text[]) AND active"
)
_KNOWN = Statement.of("SELECT id::text FROM suppliers_product WHERE tenant_id = $1 AND id = ANY($2::uuid[])")


@needs_transaction
def locked_product(actor: Actor, product_id: UUID) -> Product:
    """Return the tenant's product, even an archived one, locked until the transaction ends.

    :raises NotFound: the tenant has no such product.
    """
    found: Product | None = Product.objects.of(actor).select_for_update().filter(pk=product_id).first()
    if found is None:
        raise NotFound("No such product.")
    return found


@needs_transaction
def locked_category(actor: Actor, category_id: UUID) -> Category:
    """Return the tenant's own category, locked until the transaction ends.

    :raises NotFound: the tenant has no such category; those of the platform are nobody's own.
    """
    found: Category | None = Category.objects.of(actor).select_for_update().filter(pk=category_id).first()
    if found is None:
        raise NotFound("No such category of your own.")
    return found


def current_packagings(actor: Actor, product: Product) -> list[Packaging]:
    """Return the current packagings of a product in their order."""
    rows = Packaging.objects.of(actor).filter(product=product, state=PackagingState.CURRENT)
    return list(rows.order_by("position", "id"))


def active_categories(actor: Actor, codes: Collection[str]) -> Call:
    """Return the statement that answers those of the codes that are active categories of the platform or the tenant."""
    return Call(_CATEGORIES, [array_literal(codes), str(actor.tenant_id)])


def known_products(actor: Actor, product_ids: Collection[UUID]) -> Call:
    """Return the statement that answers those of the ids that are products of the tenant."""
    return Call(_KNOWN, [str(actor.tenant_id), array_literal(product_ids)])
