"""What the market's role reads of agreements, and copies that are written again."""

from typing import Any
from uuid import UUID

import pytest
from django.db import DatabaseError, connection, transaction

from core import clock
from core.db import MARKET, bind_tenant, take_on_call, tenant_context
from core.invariants import breaches
from core.pipeline import run
from organizations.models import Tenant
from organizations.received.rebuilding import rebuild
from suppliers.agreements.models import PriceAgreementLine, ReceivedAgreement, ReceivedAgreementLine
from tests.factories import provision
from tests.suppliers.agreements.world import PATH, World


def as_market(tenant: Tenant, sql: str) -> list[Any]:
    """Return what the market's role reads for a buyer, by a statement that forgets every condition."""
    with transaction.atomic():
        bind_tenant(tenant.id)
        run([take_on_call(MARKET)])
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())


def test_market_reads_what_is_in_force_and_the_own_audience_alone(world: World) -> None:
    rival = provision("provider")
    waiting = world.proposed(valid_from="2040-01-01", valid_to="2041-01-01")
    key = world.active()
    agreements = f"SELECT agreement_id FROM suppliers_receivedagreement WHERE tenant_id = '{world.supplier.id}'"
    audience = f"SELECT member_tenant_id FROM suppliers_agreementaudience WHERE tenant_id = '{world.supplier.id}'"

    assert as_market(world.hospital, agreements) == [(UUID(key),)]
    assert as_market(world.hospital, audience) == [(world.hospital.id,)]
    assert as_market(rival, audience) == []
    for table in ("agreementdraft", "priceagreement", "priceagreementline"):
        with pytest.raises(DatabaseError, match="permission denied"):
            as_market(world.hospital, f"SELECT id FROM suppliers_{table}")
    for column in ("representation", "lines", "group_code"):
        with pytest.raises(DatabaseError, match="permission denied"):
            as_market(rival, f"SELECT {column} FROM suppliers_receivedagreement")
    assert world.act("buyer", waiting, "decline", json={"reason": "No."}).status_code == 200
    assert as_market(world.hospital, agreements) == [(UUID(key),)]


def test_copies_are_written_again_but_for_what_others_count(world: World) -> None:
    world.active(lines=[world.line(max_quantity=100)])
    theirs = {"tenant_id": world.supplier.id}
    with tenant_context(world.supplier.id):
        ReceivedAgreement.objects.filter(**theirs).update(representation={}, priority=7)
        ReceivedAgreementLine.objects.filter(**theirs).update(max_quantity=5, consumed=3)
    with tenant_context(world.hospital.id):
        PriceAgreementLine.objects.filter(tenant_id=world.hospital.id).update(consumed=3)
    found = [one.what for one in breaches(world.hospital.id)]
    assert found == ["differs in priority, representation, the index of lines"]

    done = {one.table: (one.read, one.rewritten) for one in rebuild(world.supplier.id, clock.now)}

    assert done["suppliers_receivedagreement"] == (1, 1)
    assert not [*breaches(world.hospital.id)]
    assert not [*breaches(world.supplier.id)]
    line = world.seller.get(PATH).json()["data"][0]
    assert line["lines_total"] == 1
    with tenant_context(world.supplier.id):
        stored = ReceivedAgreementLine.objects.get(**theirs)
        assert (stored.max_quantity, stored.consumed) == (100, 3)


def test_no_line_is_ordered_beyond_its_cap(world: World) -> None:
    world.active(lines=[world.line(max_quantity=10)])
    with tenant_context(world.hospital.id):
        mine = PriceAgreementLine.objects.filter(tenant_id=world.hospital.id)
        assert mine.update(consumed=10) == 1
    for beyond in (11, -1):
        with pytest.raises(DatabaseError, match="suppliers_agreementline_cap"), tenant_context(world.hospital.id):
            PriceAgreementLine.objects.filter(tenant_id=world.hospital.id).update(consumed=beyond)
