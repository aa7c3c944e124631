"""What the lines of an order are taxed by at a place in another country. Source: contract, supply-price.md 4."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from core.arrays import array_literal
from core.pipeline import Call, Rows, Statement
from suppliers.company.today import today_sql
from suppliers.marketplace.queries import country_sql
from suppliers.quoting.sources import tax_rate_sql

from .models import PurchaseOrderLine
from .pricing import Terms


class _Rate(NamedTuple):
    """The rate of a tax category in percent; null where the supplier has named none."""

    tax_category: str
    rate: str | None


_RATES = Statement.of(
    f"SELECT c.tax_category, {tax_rate_sql(category='c.tax_category', country='c.country')} AS rate"
    f" FROM (SELECT DISTINCT x AS tax_category, coalesce($3::text, {country_sql('$2::uuid')}) AS country FROM unnest($4::text[]) x) c"
    f" CROSS JOIN (SELECT f.tax_rates, {today_sql('$1::uuid', '$5::timestamptz')} AS today"
    " FROM suppliers_supplierprofile f WHERE f.tenant_id = $1) s",
    row=_Rate,
)


def rates_call(terms: Terms, lines: Sequence[PurchaseOrderLine], at: datetime) -> Call:
    """Return the statement that reads what the goods of lines are taxed by, for a transaction bound to the supplier."""
    categories = array_literal(sorted({one.tax_category for one in lines}))
    return Call(_RATES, [str(terms.supplier_id), str(terms.buyer_id), terms.country, categories, at.isoformat()])


def rates_of(found: Rows) -> dict[str, Decimal | None]:
    """Return the rates that `rates_call` has read, by tax category."""
    return {one.tax_category: None if one.rate is None else Decimal(one.rate) for one in found.of(_Rate)}
