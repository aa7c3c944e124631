"""Reads of the catalog that actions and policies need; lists and single products are read through their shapes."""

from collections.abc import Collection
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.errors import NotFound

from .models import Category, Packaging, PlatformCategory, Product
from .states import PackagingState


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


def is_active_category(actor: Actor, code: str) -> bool:
    """Tell whether products may be filed under a code: of the platform's tree or one of the tenant's own."""
    own = Category.objects.of(actor).filter(code=code, active=True).values("code")
    return PlatformCategory.objects.filter(code=code, active=True).values("code").union(own, all=True).exists()


def known_products(actor: Actor, product_ids: Collection[UUID]) -> set[UUID]:
    """Those of the ids that are products of the tenant."""
    return set(Product.objects.of(actor).filter(pk__in=product_ids).values_list("pk", flat=True))
