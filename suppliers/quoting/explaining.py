"""Why a price holds: one line priced for a buyer as the supplier's own quote does it, with all that was looked at.

Source: contract, supply.md 13 "Prices".
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from core.db import needs_transaction
from core.ids import parse_uuid
from core.pipeline import Call, Statement, run
from suppliers.catalog.models import Packaging
from suppliers.catalog.states import PackagingState
from suppliers.inventory.states import Unit

from .candidates import Asked, Good, goods_of, supplier_call
from .lines import Asking, PricedLine, price_lines
from .refusals import PriceNotAvailable


class Buyer(NamedTuple):
    """A tenant that may buy."""

    id: UUID
    name: str


class Question(NamedTuple):
    """What is asked: packs of a product, named by SKU or id, for a buyer; `day` None is today at the supplier.

    `country` is that of delivery, by default the one of the buyer's organization.
    """

    buyer_id: UUID
    product: str
    packaging_id: UUID | None
    quantity: int
    currency: str
    day: date | None
    country: str | None


class Explanation(NamedTuple):
    """The good, its priced line (None where no price is found), and the trace of all that was looked at."""

    good: Good
    line: PricedLine | None
    trace: Sequence[Mapping[str, Any]]


_BUYERS: Final = Statement.of(
    "SELECT n.id, n.name::text AS name FROM organizations_tenant n WHERE n.kinds && ARRAY['provider', 'pharmacy']::varchar[]"
    " AND n.managed_by_id IS NULL AND n.id <> $1 AND (n.id::text = lower($2) OR n.slug = $2 OR lower(n.name) = lower($2))"
    " ORDER BY n.id::text = lower($2) DESC, n.slug = $2 DESC, n.id LIMIT 2",
    row=Buyer,
)


@needs_transaction
def buyers_named(supplier_id: UUID, name: str) -> list[Buyer]:
    """Return the buyer with an id, a slug or a whole name; two of them where several have the name."""
    (found,) = run([Call(_BUYERS, [str(supplier_id), name])])
    buyers = found.of(Buyer)
    is_one = len(buyers) > 1 and buyers[1].name.lower() != name.lower()
    return buyers[:1] if is_one else buyers


def packaging_named(supplier_id: UUID, name: str) -> UUID | None:
    """Return the current packaging of the bound supplier with an id or a GTIN of 14 digits; None if there is none."""
    key = parse_uuid(name)
    wanted = {"pk": key} if key else {"gtin": name}
    rows = Packaging.objects.filter(tenant_id=supplier_id, state=PackagingState.CURRENT, **wanted)
    return next(iter(rows.order_by("id").values_list("pk", flat=True)[:1]), None)


@needs_transaction
def explain(supplier_id: UUID, question: Question, at: datetime) -> Explanation | None:
    """Price a line of the supplier, which is bound; None where it has no such product.

    `good.row.packaging_id` is None where the product has no such packaging: then nothing is priced.
    """
    key = parse_uuid(question.product)
    asked = Asked(product_id=key, code=None if key else question.product, packaging_id=question.packaging_id)
    read = supplier_call(
        supplier_id, question.buyer_id, [asked], at, day=question.day, country=question.country, whole=True
    )
    (found,) = run([read])
    good = next(iter(goods_of(found)), None)
    if good is None:
        return None
    if good.row.packaging_id is None:
        return Explanation(good, None, [])
    item = {"quantity": question.quantity, "unit": Unit.PACK}
    asking = Asking(question.currency, agreement_id=None, apply_corrections=False, for_buyer=False)
    try:
        (line,) = price_lines([good], [item], asking)
    except PriceNotAvailable as refusal:
        return Explanation(good, None, refusal.errors[0].details["trace"])
    return Explanation(good, line, line.price.trace)
