"""Reads of the catalog that actions and policies need; lists and single products are read through their shapes."""

from collections.abc import Collection
from uuid import UUID

from core.actor import Actor
from core.arrays import array_literal
from core.db import needs_transaction
from core.errors import NotFound
from core.pipeline import Call, Statement

from .models import Packaging, Product
from .states import PackagingState

_CATEGORY = Statement.of(
    "SELECT 1 FROM suppliers_platformcategory WHERE code = $1 AND active"
    " UNION ALL SELECT 1 FROM suppliers_category WHERE tenant_id = $2 AND code = $1 AND active LIMIT 1"
)
_KNOWN = Statement.of("SELECT id::text FROM suppliers_product WHERE tenant_id = $1 AND id = ANY($2::uuid[])")


@needs_transaction
def locked_product(actor: Actor, product_id: UUID) -> Product:
    """Return the tenant's product, locked until the transaction ends; archived ones too.

    :raises NotFound: there is none.
    """
    found: Product | None = Product.objects.of(actor).select_for_update().filter(pk=product_id).first()
    if found is None:
        raise NotFound("No such product.")
    return found


def current_packagings(actor: Actor, product: Product) -> list[Packaging]:
    """The packagings a product is offered in, in their order."""
    rows = Packaging.objects.of(actor).filter(product=product, state=PackagingState.CURRENT)
    return list(rows.order_by("position", "id"))


def active_category(actor: Actor, code: str) -> Call:
    """One row if products may be filed under a code: of the platform's tree or one of the tenant's own."""
    return Call(_CATEGORY, [code, str(actor.tenant_id)])


def known_products(actor: Actor, product_ids: Collection[UUID]) -> Call:
    """Those of the ids that are products of the tenant."""
    return Call(_KNOWN, [str(actor.tenant_id), array_literal(product_ids)])
