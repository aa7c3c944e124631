"""Counters of a tenant's products by status, from which the unfiltered list takes its total."""

from collections import Counter
from uuid import UUID

from core.pipeline import Call, Statement, run

from .models import Product
from .states import Status

_IN_ORDER = (Status.DRAFT, Status.ACTIVE, Status.DISCONTINUED, Status.ARCHIVED)  # of the columns
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
_COUNT_MANY = Statement.of(
    "INSERT INTO suppliers_productcounter AS c (tenant_id, draft, active, discontinued, archived)"
    " VALUES ($1, $2::bigint, $3::bigint, 0, 0)"
    " ON CONFLICT (tenant_id) DO UPDATE SET draft = c.draft + $2::bigint, active = c.active + $3::bigint"
)
_MOVE_MANY = Statement.of(
    "UPDATE suppliers_productcounter SET draft = draft + $2::bigint, active = active + $3::bigint,"
    " discontinued = discontinued + $4::bigint, archived = archived + $5::bigint WHERE tenant_id = $1"
)


def count_call(product: Product) -> Call:
    """Return the statement that counts a new product; send it last, since other writes of the tenant wait for it."""
    return Call(_COUNT_CREATED[product.status], [str(product.tenant_id)])


def count_moved(product: Product, before: str) -> None:
    """Count a product under its present status instead of the status `before`."""
    if product.status != before:
        run([Call(_COUNT_MOVED[before, product.status], [str(product.tenant_id)])])


def count_calls(tenant_id: UUID, created: Counter[str], moved: Counter[tuple[str, str]]) -> list[Call]:
    """Return the statements that count new products by status, and products that went from one status to another."""
    calls = []
    if created:
        numbers = [str(created[status]) for status in (Status.DRAFT, Status.ACTIVE)]
        calls.append(Call(_COUNT_MANY, [str(tenant_id), *numbers]))
    balance = Counter[str]()
    for (before, after), number in moved.items():
        balance[before] -= number
        balance[after] += number
    if any(balance.values()):
        calls.append(Call(_MOVE_MANY, [str(tenant_id), *(str(balance[status]) for status in _IN_ORDER)]))
    return calls
