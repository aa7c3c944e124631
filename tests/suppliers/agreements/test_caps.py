"""What is taken of lines of agreements: never more than the cap, the copy with it, in races, over versions and tenants."""

import random
from datetime import date
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, transaction

from bench.statements import recording
from core.actor import system_actor
from core.db import tenant_context
from core.errors import PlatformError
from core.invariants import breaches
from organizations.models import Tenant
from suppliers.agreements.caps import Taken, consume, give_back
from suppliers.agreements.models import PriceAgreement, PriceAgreementLine, ReceivedAgreement, ReceivedAgreementLine
from suppliers.agreements.refusals import AgreementExhausted
from tests.factories import as_member, provision
from tests.races import race
from tests.suppliers.agreements.test_life import notice, patch
from tests.suppliers.agreements.world import BUYING, PATH, World, more_products
from tests.suppliers.products import create

CLIENTS = 16


def lines(world: World, key: str, revision: int = 1) -> list[PriceAgreementLine]:
    """Return the owner's lines of a version."""
    mine = {"tenant_id": world.hospital.id}
    with tenant_context(world.hospital.id):
        version = PriceAgreement.objects.get(**mine, agreement_id=key, revision=revision)
        return list(PriceAgreementLine.objects.filter(**mine, agreement_id=version.id).order_by("line_no"))


def counters(world: World) -> list[tuple[int, int]]:
    """Return what was taken of each line of the owner, in the order of their ids, beside what its copy says."""
    with tenant_context(world.hospital.id):
        own = dict(PriceAgreementLine.objects.filter(tenant_id=world.hospital.id).values_list("id", "consumed"))
    with tenant_context(world.supplier.id):
        theirs = dict(ReceivedAgreementLine.objects.filter(tenant_id=world.supplier.id).values_list("id", "consumed"))
    return [(own[one], theirs[one]) for one in sorted(own)]


def asked(world: World, line: PriceAgreementLine, quantity: int, field: str = "lines.0") -> Taken:
    """Return so many base units of a line."""
    return Taken(world.hospital.id, world.supplier.id, line.id, quantity, field)


def take(world: World, *taken: Taken, by: Tenant | None = None) -> None:
    """Take of lines in a transaction of its own, as an order of the hospital."""
    tenant = by or world.hospital
    with tenant_context(tenant.id), transaction.atomic():
        consume(system_actor(tenant.id), taken)


def back(world: World, *taken: Taken) -> None:
    """Give back in a transaction of its own."""
    with tenant_context(world.hospital.id), transaction.atomic():
        give_back(system_actor(world.hospital.id), taken)


def sound(world: World) -> bool:
    """Tell whether every rule holds in both tenants."""
    return not [one for tenant in (world.supplier, world.hospital) for one in breaches(tenant.id)]


def test_taking_counts_owner_and_copy_and_moves_no_version(world: World) -> None:
    key = world.active(lines=[world.line(max_quantity=100)])
    (line,) = lines(world, key)
    before = world.buyer.get(f"{PATH}/{key}").json()["data"]

    take(world, asked(world, line, 40), asked(world, line, 20))
    take(world)

    after = world.buyer.get(f"{PATH}/{key}").json()["data"]
    assert after["lines"][0]["consumed"] == 60
    assert world.seller.get(f"{PATH}/{key}").json()["data"]["lines"] == after["lines"]
    assert (after["version"], after["updated_at"]) == (before["version"], before["updated_at"])
    assert counters(world) == [(60, 60)]
    back(world, asked(world, line, 25))
    back(world)
    assert counters(world) == [(35, 35)]
    assert sound(world)


def test_a_line_without_a_cap_only_counts(world: World) -> None:
    (line,) = lines(world, world.active())

    take(world, asked(world, line, 10**12))
    take(world, asked(world, line, 10**12))

    assert counters(world) == [(2 * 10**12, 2 * 10**12)]


def test_what_is_short_is_named_line_by_line_and_nothing_is_taken(world: World) -> None:
    products = more_products(world.seller, 3)
    caps = [100, 5, 30]
    given = [
        world.line(product_id=one["id"], packaging_id=one["packagings"][0]["id"], max_quantity=cap)
        for one, cap in zip(products, caps, strict=True)
    ]
    first, second, third = lines(world, world.active(lines=given))
    take(world, asked(world, third, 25))
    before = world.stored()

    with pytest.raises(AgreementExhausted) as caught:
        take(
            world,
            asked(world, first, 100, "lines.0"),
            asked(world, second, 6, "lines.1"),
            asked(world, third, 3, "lines.2"),
            asked(world, third, 3, "lines.3"),
        )

    assert caught.value.code == "agreement_exhausted"
    named = [(one.field, one.pointer, one.code) for one in caught.value.errors]
    assert named == [(f"lines.{n}", f"/lines/{n}", "agreement_exhausted") for n in (1, 2, 3)]
    assert world.stored() == before
    assert sound(world)


@pytest.mark.parametrize("end", ["suspended", "terminated"])
def test_nothing_is_taken_of_what_does_not_hold_and_all_can_be_given_back(world: World, end: str) -> None:
    key = world.active(lines=[world.line(max_quantity=100)])
    (line,) = lines(world, key)
    take(world, asked(world, line, 40))
    answer = (
        patch(world, "buyer", key, status="suspended")
        if end == "suspended"
        else notice(world, "buyer", key, date.today())
    )
    assert answer.status_code == 200, answer.content

    with pytest.raises(AgreementExhausted):
        take(world, asked(world, line, 1))

    assert counters(world) == [(40, 40)]
    back(world, asked(world, line, 40))
    assert counters(world) == [(0, 0)]
    assert sound(world)


def test_more_is_never_given_back_than_was_taken(world: World) -> None:
    (line,) = lines(world, world.active())
    take(world, asked(world, line, 10))

    with pytest.raises(RuntimeError, match="more is given back"):
        back(world, asked(world, line, 11))

    assert counters(world) == [(10, 10)]


def test_the_table_is_the_last_wall(world: World) -> None:
    (line,) = lines(world, world.active(lines=[world.line(max_quantity=10)]))
    for consumed in (11, -1):
        with tenant_context(world.hospital.id), pytest.raises(IntegrityError), transaction.atomic():
            PriceAgreementLine.objects.filter(tenant_id=world.hospital.id, pk=line.pk).update(consumed=consumed)
    assert counters(world) == [(0, 0)]


def test_a_copy_that_counts_otherwise_is_proved(world: World) -> None:
    (line,) = lines(world, world.active())
    take(world, asked(world, line, 10))
    assert sound(world)
    with tenant_context(world.supplier.id):
        ReceivedAgreementLine.objects.filter(tenant_id=world.supplier.id, pk=line.pk).update(consumed=9)

    assert not sound(world)


def test_sixteen_clients_take_exactly_the_cap(world: World) -> None:
    key = world.active(lines=[world.line(max_quantity=100)])
    (line,) = lines(world, key)

    def order(number: int) -> list[int]:
        chosen, got = random.Random(number), []
        for _ in range(20):
            quantity = chosen.choice((1, 1, 1, 2, 3))
            try:
                take(world, asked(world, line, quantity))
            except AgreementExhausted:
                continue
            got.append(quantity)
        return got

    found = race(*[lambda n=n: order(n) for n in range(CLIENTS)])

    assert sum(quantity for got in found for quantity in got) == 100
    assert counters(world) == [(100, 100)]
    assert sound(world)


def test_orders_over_many_lines_in_any_order_never_wait_in_a_circle(world: World) -> None:
    products = more_products(world.seller, 6)
    given = [
        world.line(product_id=one["id"], packaging_id=one["packagings"][0]["id"], max_quantity=40) for one in products
    ]
    mine = lines(world, world.active(lines=given))

    def order(number: int) -> tuple[int, int]:
        chosen, total, refused = random.Random(number), 0, 0
        for _ in range(12):
            some = [asked(world, one, chosen.randint(1, 3)) for one in chosen.sample(mine, 4)]
            try:
                take(world, *some)
            except AgreementExhausted:
                refused += 1
                continue
            total += sum(one.quantity for one in some)
            if chosen.random() < 0.4:
                back(world, some[0])
                total -= some[0].quantity
        return total, refused

    found: list[Any] = race(*[lambda n=n: order(n) for n in range(CLIENTS)])

    assert not [one for one in found if isinstance(one, Exception)], found
    assert sum(total for total, _ in found) == sum(own for own, _ in counters(world))
    assert any(refused for _, refused in found)
    assert all(own == copy <= 40 for own, copy in counters(world))
    assert sound(world)


def test_lines_of_a_third_tenant_are_counted_in_its_rows(world: World) -> None:
    ward = provision("provider", under=Tenant.objects.get(pk=world.hospital.id).organization)
    own = World(world.supplier, ward, world.seller, as_member(ward, BUYING), create(world.seller))
    (shared,) = lines(world, world.active(scope="organization", lines=[world.line(max_quantity=10)]))
    (mine,) = lines(own, own.active(lines=[own.line(max_quantity=10)]))

    take(own, asked(own, mine, 4), asked(world, shared, 7), by=ward)

    assert lines(world, str(shared.agreement_id))[0].consumed == 7
    assert lines(own, str(mine.agreement_id))[0].consumed == 4
    before = [world.stored(), own.stored()]
    with pytest.raises(AgreementExhausted):
        take(own, asked(own, mine, 1), asked(world, shared, 4), by=ward)
    assert [world.stored(), own.stored()] == before
    assert sound(world)
    assert sound(own)


def test_the_next_version_goes_on_counting(world: World) -> None:
    key = world.active(lines=[world.line(max_quantity=100)])
    (old,) = lines(world, key)
    take(world, asked(world, old, 60))
    assert patch(world, "buyer", key, lines=[world.line(max_quantity=120)]).status_code == 200
    assert world.act("buyer", key, "propose").status_code == 200
    take(world, asked(world, old, 10))

    assert world.act("supplier", key, "accept").status_code == 200

    (new,) = lines(world, key, 2)
    assert (new.consumed, lines(world, key)[0].consumed) == (70, 70)
    assert world.seller.get(f"{PATH}/{key}").json()["data"]["lines"][0]["consumed"] == 70
    with pytest.raises(AgreementExhausted):
        take(world, asked(world, old, 1))
    with pytest.raises(AgreementExhausted):
        take(world, asked(world, new, 51))
    back(world, asked(world, old, 30))
    assert (lines(world, key, 2)[0].consumed, lines(world, key)[0].consumed) == (40, 70)
    assert sound(world)


def test_a_cap_below_what_was_taken_is_not_accepted(world: World) -> None:
    key = world.active(lines=[world.line(max_quantity=100)])
    take(world, asked(world, lines(world, key)[0], 60))
    assert patch(world, "buyer", key, lines=[world.line(max_quantity=59)]).status_code == 200
    assert world.act("buyer", key, "propose").status_code == 200
    before = world.stored()

    answer = world.act("supplier", key, "accept")

    assert (answer.status_code, answer.json()["code"]) == (409, "agreement_exhausted")
    assert [one["field"] for one in answer.json()["errors"]] == ["lines.0"]
    assert world.stored() == before
    assert sound(world)


@pytest.mark.parametrize("end", ["superseded", "terminated"])
def test_what_counts_is_the_newest_accepted_line_whatever_became_of_its_version(world: World, end: str) -> None:
    gloves = world.line(max_quantity=100)
    other = create(world.seller, supplier_sku="SKU-OTHER")
    masks = world.line(product_id=other["id"], packaging_id=other["packagings"][0]["id"])
    key = world.active(lines=[gloves, masks])
    old = lines(world, key)[0]
    take(world, asked(world, old, 60))

    def next_version(*given: dict[str, Any]) -> Any:
        assert patch(world, "buyer", key, lines=list(given)).status_code == 200
        assert world.act("buyer", key, "propose").status_code == 200
        return world.act("supplier", key, "accept")

    if end == "superseded":
        assert next_version(masks).status_code == 200
    else:
        assert next_version(masks, gloves).status_code == 200
        take(world, asked(world, lines(world, key, 2)[1], 40))
        assert notice(world, "buyer", key, date.today()).status_code == 200
    back(world, asked(world, old, 20 if end == "superseded" else 100))
    if end == "superseded":
        assert next_version(masks, {**gloves, "max_quantity": 39}).json()["code"] == "agreement_exhausted"
        assert world.act("supplier", key, "decline").status_code == 200
        assert next_version(masks, gloves).status_code == 200
        assert lines(world, key, 4)[1].consumed == 40
        back(world, asked(world, old, 40))
        assert lines(world, key, 4)[1].consumed == 0

    assert all(own == copy for own, copy in counters(world))
    assert sound(world)


def test_a_version_is_accepted_while_orders_take_and_give_back(world: World) -> None:
    key = world.active(lines=[world.line(max_quantity=10_000)])
    (old,) = lines(world, key)
    assert patch(world, "buyer", key, title="Next").status_code == 200
    assert world.act("buyer", key, "propose").status_code == 200
    (new,) = lines(world, key, 2)

    def order(number: int) -> int:
        chosen, held = random.Random(number), 0
        for _ in range(15):
            for line in (old, new):
                try:
                    take(world, asked(world, line, 2))
                except PlatformError:
                    continue
                held += 2
                break
            if held and chosen.random() < 0.5:
                back(world, asked(world, old, 1))
                held -= 1
        return held

    works: list[Any] = [lambda n=n: order(n) for n in range(CLIENTS - 1)]
    *found, accepted = race(*works, lambda: world.act("supplier", key, "accept"))

    assert accepted.status_code == 200, accepted.content
    assert not [one for one in found if isinstance(one, Exception)], found
    assert lines(world, key, 2)[0].consumed == sum(found)
    assert sound(world)


def test_many_lines_take_as_many_statements_as_one(world: World) -> None:
    products = more_products(world.seller, 12)
    given = [world.line(product_id=one["id"], packaging_id=one["packagings"][0]["id"]) for one in products]
    mine = lines(world, world.active(lines=given))
    take(world, asked(world, mine[0], 1))
    with recording() as few:
        take(world, asked(world, mine[0], 1))
    with recording() as many:
        take(world, *(asked(world, one, 1) for one in mine))

    assert len(many) == len(few)
    with tenant_context(world.supplier.id):
        copy = ReceivedAgreement.objects.get(tenant_id=world.supplier.id)
        assert {UUID(str(one)) for one in [copy.id]} == {line.agreement_id for line in mine}
