"""What the rows of a batch meet: the products that have their SKUs, locked, and the owners of their GTINs."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from core.actor import Actor
from core.arrays import array_literal
from core.pipeline import Call, Rows, Statement
from suppliers.catalog.models import Packaging, Product
from suppliers.catalog.states import PackagingState


class Present(NamedTuple):
    """A locked product with its current packagings, in their order."""

    product: Product
    packagings: Sequence[Packaging]


class _Owner(NamedTuple):
    """A GTIN and the product that has it."""

    gtin: str
    product_id: UUID


_OWNERS = Statement.of(
    "SELECT gtin, product_id FROM suppliers_packaging WHERE tenant_id = $1 AND state = 'current' AND gtin = ANY($2::text[])",
    row=_Owner,
)


def locked_products(actor: Actor, skus: Collection[str]) -> dict[str, Present]:
    """Return the tenant's products of these SKUs but archived ones, locked in the order of their ids, by SKU."""
    live = Product.objects.of(actor).filter(supplier_sku__in=skus, archived_at__isnull=True)
    products = list(live.select_for_update(no_key=True).order_by("id"))
    packagings: dict[UUID, list[Packaging]] = defaultdict(list)
    current = Packaging.objects.of(actor).filter(product_id__in=[one.id for one in products])
    for packaging in current.filter(state=PackagingState.CURRENT).order_by("position", "id") if products else ():
        packagings[packaging.product_id].append(packaging)
    return {one.supplier_sku: Present(one, packagings[one.id]) for one in products}


def owners_call(actor: Actor, gtins: Iterable[str]) -> Call:
    """Return the statement that answers which products have the GTINs."""
    return Call(_OWNERS, [str(actor.tenant_id), array_literal(sorted(set(gtins)))])


def owners_of(found: Rows) -> dict[str, UUID]:
    """Read the rows of the statement of `owners_call`: the product of each GTIN that is taken."""
    return {owner.gtin: owner.product_id for owner in found.of(_Owner)}


def body_of(present: Present) -> dict[str, Any]:
    """Return the body by which PUT would leave the product as it is."""
    product = present.product
    body = {name: getattr(product, name) for name in Product.WRITABLE if not name.startswith("storage_")}
    storage = {
        "min_c": product.storage_min_c,
        "max_c": product.storage_max_c,
        "light_sensitive": product.storage_light_sensitive,
    }
    return body | {
        "status": product.status,
        "storage": storage if product.storage_light_sensitive is not None else None,
        "attributes": [{**value, "value": _sent(value["value"])} for value in product.attributes],
        "packagings": [_packaging_body(packaging) for packaging in present.packagings],
    }


def _packaging_body(packaging: Packaging) -> Mapping[str, Any]:
    names = (name for name in Packaging.WRITABLE if name != "position")
    return {"id": str(packaging.id), **{name: getattr(packaging, name) for name in names}}


def _sent(value: Any) -> Any:
    """Numbers with a point are read exactly, so a body holds them as decimals."""
    return Decimal(repr(value)) if isinstance(value, float) else value
