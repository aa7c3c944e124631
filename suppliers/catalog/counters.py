"""A tenant's products counted by status, so that the total of the plain list needs no counting."""

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
    """Count a new product; to be sent last, since the counter's row is what the tenant's other writes wait for."""
    return Call(_COUNT_CREATED[product.status], [str(product.tenant_id)])


def count_moved(product: Product, before: str) -> None:
    """Count a product in its status of now instead of the one before."""
    if product.status != before:
        run([Call(_COUNT_MOVED[before, product.status], [str(product.tenant_id)])])
