"""Lists of documents of two parties put together the rows of their page, and no others."""

import re
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection

from api.shapes import Shape
from api.unions import Union
from core.conditions import TENANT
from core.db import tenant_context
from suppliers.agreements.representations import PriceAgreementOut
from suppliers.deliveries.reading.representations import DeliveryOut
from suppliers.invoices.reading.representations import InvoiceOut
from suppliers.payments.reading.representations import PaymentOut
from suppliers.returns.reading.representations import ReturnOut

# A member that is taken out of the JSON of a copy, or a list that is made.
_BUILT = re.compile(r"representation\)? *(->|#>)|jsonb?_\w+\(")
_SHAPES = [one.shape for one in (DeliveryOut, InvoiceOut, PaymentOut, PriceAgreementOut, ReturnOut)]


@pytest.mark.parametrize("shape", _SHAPES, ids=lambda one: one.name)
def test_keys_are_found_without_building_rows(shape: Shape) -> None:
    assert shape.branches
    for sql in (
        f"SELECT t.id FROM {{}} t WHERE t.tenant_id = {TENANT} ORDER BY t.created_at DESC, t.id DESC LIMIT 20",
        f"SELECT count(*) FROM {{}} t WHERE t.tenant_id = {TENANT} AND t.number = 'x'",
    ):
        plan = _plan(sql.format(shape.table))
        assert "Append" in plan
        assert not _BUILT.search(plan)
    assert _BUILT.search(_plan(f"SELECT * FROM {shape.table} t"))  # the rows themselves are built of these


@pytest.mark.parametrize("shape", _SHAPES, ids=lambda one: one.name)
@pytest.mark.parametrize("column", ["created_at", "updated_at"])
@pytest.mark.parametrize("way", ["", " DESC"])
def test_page_comes_in_the_order_of_indexes(shape: Shape, column: str, way: str) -> None:
    where, order = f"t.tenant_id = {TENANT}", f"t.{column}{way}, t.id{way}"
    for branch in shape.branches:
        plan = _plan(f"SELECT t.id, t.version FROM ({branch.sql}) t WHERE {where} ORDER BY {order} LIMIT 20")
        # A supplier has few drafts at a time.
        assert ("Sort" in plan) == ("suppliers_shipmentdraft" in plan), plan


@pytest.mark.parametrize("shape", _SHAPES, ids=lambda one: one.name)
def test_json_of_a_copy_is_decompressed_once(shape: Shape) -> None:
    plan = _plan(f"SELECT t.* FROM {shape.built} t WHERE t.tenant_id = {TENANT} AND t.id = {TENANT}")
    assert not re.search(r"c\.representation\)? *(->|#>)", plan)
    # A node of its own gives the value, which the members then are taken from.
    assert len(re.findall(r"Output: \(c\.representation \|\| '{}'::jsonb\)$", plan, re.MULTILINE)) == 1


@pytest.mark.parametrize("shape", _SHAPES, ids=lambda one: one.name)
@pytest.mark.parametrize("side", ["buyer", "supplier"])
def test_a_side_reads_its_own_tables(shape: Shape, side: str) -> None:
    assert isinstance(shape.rows, Union)
    kept = shape.rows.of_side(side)
    plan = _plan(f"SELECT t.id, t.side FROM {kept} t WHERE t.tenant_id = {TENANT}")
    assert ("_received" in plan) == (side == "supplier")
    assert {one.side for one in shape.branches if one not in kept.branches} == {"buyer", "supplier"} - {side}


def _plan(sql: str) -> str:
    tenant: Any = uuid4()
    with tenant_context(tenant), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_sort = off")  # where a row has to be sorted it is sorted nevertheless
        cursor.execute(
            "EXPLAIN (VERBOSE, COSTS OFF) " + sql.replace("%", "%%").replace(TENANT, "%s"), [tenant] * sql.count(TENANT)
        )
        return "\n".join(row[0] for row in cursor.fetchall())
