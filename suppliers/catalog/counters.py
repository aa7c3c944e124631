"""Counters of a tenant's products by status, from which the unfiltered list takes its total."""

from core.pipeline import Call, Statement, run

from .models import Product
from .states import Status

_COUNT_CREATED = {
    status: Statement.of(
        f"INSERT INTO suppliers_productcounter AS c (tenant_id, draft, active, discontinued, archived)"
        f" VALUES ($1, {int(status == 'draft')}, {int(status == 'active')}, 0, 0)"
        f" ON CONFLICT (tenant_id) DO UPDATE SET {status} = c.{status} + 1"
    )
    for status in (Status.DRAFT.value, Status.ACTIVE.value)
}
_COUNT_MOVED = {
    (before, after): Statement.of(
        f"UPDATE suppliers_productcounter SET {before} = {before} - 1, {after} = {after} + 1 WHERE tenant_id = $1"
    )
    for before in Status.values
    for after in Status.values
    if before != after
}


def count_call(product: Product) -> Call:
    """Return the statement that counts a new product; send it last, since other writes of the tenant wait for it."""
    return Call(_COUNT_CREATED[product.status], [str(product.tenant_id)])


def count_moved(product: Product, before: str) -> None:
    """Count a product under its present status instead of the status `before`."""
    if product.status != before:
        run([Call(_COUNT_MOVED[before, product.status], [str(product.tenant_id)])])
