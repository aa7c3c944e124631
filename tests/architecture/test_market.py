"""One module takes on the market's role; what the role may read is a stored boolean or the bound tenant's."""

import re

import pytest
from django.db import DatabaseError, connection, transaction

from core.db import MARKET, bind_tenant, take_on_call
from core.pipeline import run
from core.row_security import security_of, tables
from tests.architecture.contracts import ROOT, root_packages

TAKES_ON = re.compile(r"\btake_on_call\b|\bMARKET\b|hp_market")
MAY = {
    "core/db.py",
    "core/row_security.py",
    "core/market_walls.py",
    "core/isolation.py",
    "suppliers/marketplace/queries.py",
    "suppliers/pricing/resolution.py",
}
FILES = sorted(
    path
    for package in root_packages()
    for path in (ROOT / package).rglob("*.py")
    if "migrations" not in path.parts and str(path.relative_to(ROOT)) not in MAY
)
READ = {model._meta.db_table: market for model in tables() if (market := security_of(model).market)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_else_takes_on_the_role_of_the_market(path):
    assert not TAKES_ON.search(path.read_text())


@pytest.mark.parametrize("text", ["from core.db import MARKET", "take_on_call(role)", "bind_tenant(one, 'hp_market')"])
def test_planted_taking_on_is_found(text):
    assert TAKES_ON.search(text)


def test_tables_of_the_market_are_those_of_the_contract():
    assert READ.keys() == {
        "organizations_location", "organizations_organization", "organizations_tenant", "suppliers_agreementaudience", "suppliers_allocation", "suppliers_audiencemember",
        "suppliers_buyergroup", "suppliers_buyergroupmember", "suppliers_category", "suppliers_file", "suppliers_filebinding", "suppliers_listprice", "suppliers_listpricetier", "suppliers_lot", "suppliers_marketword",
        "suppliers_offer", "suppliers_offerexclusion", "suppliers_packaging", "suppliers_platformcategory",
        "suppliers_pricelist", "suppliers_pricelistentry", "suppliers_pricingrule", "suppliers_product", "suppliers_promotion", "suppliers_promotionbuyer", "suppliers_receivedagreement", "suppliers_receivedagreementline", "suppliers_receivedreservation", "suppliers_stocklevel", "suppliers_stockplace",
        "suppliers_supplierlicense", "suppliers_supplierprofile", "suppliers_relationship", "suppliers_itemalias",
        "suppliers_blockedproduct", "suppliers_approvedsubstitute", "suppliers_managedsupplier",
    }  # fmt: skip
    assert READ["suppliers_allocation"].columns == (
        "tenant_id", "level_id", "base_quantity", "kind", "status", "expires_at",
    )  # fmt: skip


def _as_market(sql, tenant_id=None):
    with transaction.atomic():
        bind_tenant(tenant_id)
        run([take_on_call(MARKET)])

        with connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall()


@pytest.mark.parametrize("table", sorted(READ))
def test_role_of_the_market_writes_nothing(table):
    for sql in (f'DELETE FROM "{table}"', f'INSERT INTO "{table}" DEFAULT VALUES', f'TRUNCATE "{table}"'):
        with pytest.raises(DatabaseError, match="permission denied"):
            _as_market(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT buyer_tenant_id FROM suppliers_allocation", "SELECT * FROM suppliers_allocation",
        "SELECT name FROM organizations_location", "SELECT code FROM suppliers_stockplace",
        "SELECT lot_number FROM suppliers_lot", "SELECT features FROM organizations_tenant",
        "SELECT bank_account FROM suppliers_supplierprofile", "SELECT bank_account_last4 FROM suppliers_supplierprofile",
        "SELECT contacts FROM suppliers_supplierprofile", "SELECT addresses FROM suppliers_supplierprofile",
        "SELECT bank_reviewed_at FROM suppliers_supplierprofile", "SELECT * FROM suppliers_supplierprofile",
        "SELECT file_id FROM suppliers_supplierlicense", "SELECT told_days FROM suppliers_supplierlicense",
        "SELECT code FROM suppliers_buyergroup", "SELECT name FROM suppliers_buyergroup", "SELECT 1 FROM suppliers_reservation",
        "SELECT 1 FROM organizations_membership", "SELECT 1 FROM ledger_event", "SELECT 1 FROM suppliers_audience",
        "SELECT 1 FROM suppliers_managedregistration", "SELECT 1 FROM suppliers_productword", "SELECT 1 FROM suppliers_stockmovement",
    ],
)  # fmt: skip
def test_role_of_the_market_reads_nothing_else(sql):
    with pytest.raises(DatabaseError, match="permission denied"):
        _as_market(sql)


def test_role_is_not_taken_on_where_nothing_is_bound():
    with transaction.atomic(), pytest.raises(DatabaseError, match="permission denied"):
        run([take_on_call(MARKET)])

        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM suppliers_product")
