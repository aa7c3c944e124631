"""What an offer needs before it is published. Source: contract, supply-shelf.md "Marketplace"."""

from collections.abc import Mapping
from typing import Final

from core.conditions import TENANT
from core.pipeline import Call, Statement, run
from suppliers.company.qualification import has_license, is_qualified
from suppliers.company.states import FOR_CONTROLLED, FOR_MEDICINES
from suppliers.company.today import today_sql

from .models import Offer
from .refusals import OfferIncomplete

_TODAY = today_sql(TENANT)
# By name: SQL over the offer `t`.
CHECKS: Final[Mapping[str, str]] = {
    "product_active": (
        f"SELECT p.status = 'active' FROM suppliers_product p WHERE p.tenant_id = {TENANT} AND p.id = t.product_id"
    ),
    "not_held": (  # a held offer holds its packaging: another one would be the same again
        "SELECT p.held_at IS NULL AND NOT EXISTS (SELECT 1 FROM suppliers_offer h"
        f" WHERE h.tenant_id = {TENANT} AND h.packaging_id = t.packaging_id AND h.held_at IS NOT NULL)"
        f" FROM suppliers_product p WHERE p.tenant_id = {TENANT} AND p.id = t.product_id"
    ),
    "packaging_orderable": (
        "SELECT k.orderable AND k.state = 'current' FROM suppliers_packaging k"
        f" WHERE k.tenant_id = {TENANT} AND k.id = t.packaging_id"
    ),
    "still_valid": f"SELECT t.valid_to IS NULL OR t.valid_to > {_TODAY}",
    "price_resolvable": (
        f"SELECT t.tiers <> '[]' OR EXISTS (SELECT 1 FROM suppliers_listprice l WHERE l.tenant_id = {TENANT}"
        f" AND l.packaging_id = t.packaging_id AND l.valid_from <= {_TODAY} AND (l.valid_to IS NULL OR l.valid_to > {_TODAY}))"
        f" OR EXISTS (SELECT 1 FROM suppliers_pricelistentry e JOIN suppliers_pricelist l ON l.tenant_id = {TENANT}"
        f" AND l.id = e.price_list_id WHERE e.tenant_id = {TENANT} AND e.packaging_id = t.packaging_id AND l.on_market"
        f" AND (l.valid_from IS NULL OR l.valid_from <= {_TODAY}) AND (l.valid_to IS NULL OR l.valid_to > {_TODAY}))"
    ),
    "media_scanned": (  # what was rejected is shown to nobody
        "SELECT NOT EXISTS (SELECT 1 FROM suppliers_filebinding b JOIN suppliers_file f ON f.tenant_id = b.tenant_id"
        f" AND f.id = b.file_id AND f.tenant_id = {TENANT} WHERE b.tenant_id = {TENANT}"
        " AND (b.resource_id = t.product_id AND b.resource_type = 'product' OR b.resource_id = t.id AND b.resource_type = 'offer')"
        " AND f.status IN ('awaiting_upload', 'scanning'))"
    ),
    "supplier_qualified": f"SELECT {is_qualified(TENANT)}",
    "license_for_class": (
        f"SELECT (p.kind <> 'medicine' OR {has_license(TENANT, FOR_MEDICINES)})"
        f" AND (p.controlled IS NULL OR {has_license(TENANT, FOR_CONTROLLED)})"
        f" FROM suppliers_product p WHERE p.tenant_id = {TENANT} AND p.id = t.product_id"
    ),
}
_CHECK = Statement.of(
    "SELECT "
    + ", ".join(f"({sql.replace(TENANT, '$1')})" for sql in CHECKS.values())
    + " FROM suppliers_offer t WHERE t.tenant_id = $1 AND t.id = $2"
)


def check_complete(offer: Offer, *names: str) -> None:
    """Refuse an offer that lacks something, of the checks of these names or of all.

    :raises OfferIncomplete: names each check that fails.
    """
    (found,) = run([Call(_CHECK, [str(offer.tenant_id), str(offer.id)])])
    failed = [name for name, passed in zip(CHECKS, found.row(), strict=True) if passed != b"t"]
    if failed := [name for name in failed if name in (names or CHECKS)]:
        raise OfferIncomplete(checks=failed)
