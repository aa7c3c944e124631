"""Whom an agreement is for: the buyer alone, or its organization with what is below it, by groups too, as both change."""

from datetime import date
from typing import Any

import pytest

from core.db import tenant_context
from core.invariants import breaches
from organizations.models import Organization, Tenant
from suppliers.agreements.models import AgreementAudience
from tests import factories
from tests.factories import Api, api_key, as_member, provision
from tests.races import race
from tests.suppliers.agreements.test_life import notice, patch
from tests.suppliers.agreements.world import BUYING, World
from tests.suppliers.company.profiles import patched
from tests.suppliers.market.test_audiences import group, move
from tests.suppliers.products import create


@pytest.fixture
def top() -> Organization:
    """Return the organization of the hospital, above which is nothing."""
    return factories.organization("Group")


@pytest.fixture
def world(top: Organization) -> World:
    """Return a supplier and a hospital of that organization."""
    supplier, hospital = provision("supplier"), provision("provider", under=top)
    seller = Api(key=api_key(supplier), tenant=supplier)
    return World(supplier, hospital, seller, as_member(hospital, BUYING), create(seller))


def audience(world: World) -> dict[Any, int]:
    """Return who belongs to the agreements of the supplier, at which distance."""
    with tenant_context(world.supplier.id):
        mine = AgreementAudience.objects.filter(tenant_id=world.supplier.id)
        return dict(mine.values_list("member_tenant_id", "distance"))


def sound(world: World) -> bool:
    """Tell whether every rule holds in both tenants."""
    return not [one for tenant in (world.supplier, world.hospital) for one in breaches(tenant.id)]


def below(organization: Organization) -> Tenant:
    """Provision a buyer that an organization runs."""
    return provision("provider", under=organization)


def test_an_agreement_of_the_tenant_is_for_it_alone(world: World, top: Organization) -> None:
    sister = below(top)
    world.active()
    cousin = below(top)

    assert audience(world) == {world.hospital.id: 0}
    assert sister.id != cousin.id
    assert sound(world)


def test_tenants_below_join_when_they_are_made(world: World, top: Organization) -> None:
    ward = factories.organization("Ward", parent=top)
    elsewhere = factories.organization("Elsewhere")
    early, deep = below(top), below(ward)
    world.active(scope="organization")
    late, later, stranger = below(top), below(ward), below(elsewhere)

    assert audience(world) == {world.hospital.id: 1, early.id: 1, deep.id: 2, late.id: 1, later.id: 2}
    assert stranger.id not in audience(world)
    assert sound(world)


def test_an_organization_that_moves_takes_its_tenants_along(world: World, top: Organization) -> None:
    elsewhere = factories.organization("Elsewhere")
    ward = factories.organization("Ward", parent=elsewhere)
    room = factories.organization("Room", parent=ward)
    one, two = below(ward), below(room)
    world.active(scope="organization")
    assert audience(world) == {world.hospital.id: 1}

    move(ward, top)
    assert audience(world) == {world.hospital.id: 1, one.id: 2, two.id: 3}
    move(room, top)
    assert audience(world) == {world.hospital.id: 1, one.id: 2, two.id: 2}
    move(ward, elsewhere)
    assert audience(world) == {world.hospital.id: 1, two.id: 2}
    assert sound(world)


def test_the_buyers_own_organization_that_moves_changes_nothing(world: World, top: Organization) -> None:
    one = below(factories.organization("Ward", parent=top))
    above = factories.organization("Above")
    chief = below(above)
    world.active(scope="organization")

    move(top, above)

    assert audience(world) == {world.hospital.id: 1, one.id: 2}
    assert chief.id not in audience(world)
    assert sound(world)


def test_groups_of_the_supplier_narrow_it_as_they_change(world: World, top: Organization) -> None:
    ward = factories.organization("Ward", parent=top)
    one, two = below(top), below(ward)
    outside = provision("provider")
    group(_shelf(world), "g", buyer_ids=[str(world.hospital.id), str(one.id), str(outside.id)])
    world.active("supplier", scope="organization", group="g")
    assert audience(world) == {world.hospital.id: 1, one.id: 1}

    group(_shelf(world), "g", buyer_ids=[str(one.id)], organization_ids=[str(ward.id)])
    assert audience(world) == {one.id: 1, two.id: 2}
    late = below(ward)
    assert audience(world) == {one.id: 1, two.id: 2, late.id: 2}
    patched(world.seller, buyer_groups=[])
    assert audience(world) == {}
    assert sound(world)


def _shelf(world: World) -> Any:
    class _Shelf:
        api = world.seller

    return _Shelf()


@pytest.mark.parametrize("suspended", [True, False])
def test_a_suspended_agreement_is_followed_and_one_that_has_ended_is_not(
    world: World, top: Organization, suspended: bool
) -> None:
    key = world.active(scope="organization")
    answer = patch(world, "buyer", key, status="suspended") if suspended else notice(world, "buyer", key, date.today())
    assert answer.status_code == 200, answer.content
    late = below(top)

    assert audience(world) == ({world.hospital.id: 1, late.id: 1} if suspended else {})
    assert sound(world)


def test_the_next_version_has_an_audience_of_its_own(world: World, top: Organization) -> None:
    one = below(top)
    key = world.active(scope="organization")
    assert patch(world, "buyer", key, scope="tenant").status_code == 200
    assert world.act("buyer", key, "propose").status_code == 200
    assert audience(world) == {world.hospital.id: 1, one.id: 1}

    assert world.act("supplier", key, "accept").status_code == 200

    assert audience(world) == {world.hospital.id: 0}
    assert sound(world)


def test_a_wrong_audience_is_proved(world: World, top: Organization) -> None:
    one = below(top)
    world.active(scope="organization")
    assert sound(world)
    for spoil in ({"distance": 3}, None):
        with tenant_context(world.supplier.id):
            mine = AgreementAudience.objects.filter(tenant_id=world.supplier.id, member_tenant_id=one.id)
            mine.update(**spoil) if spoil else mine.delete()
        (found,) = [one for one in breaches(world.supplier.id) if one.rule == "price_agreements"]
        assert found.what == "has 1 members amiss"


def test_tenants_made_while_it_is_accepted_belong_to_it(world: World, top: Organization) -> None:
    key = world.proposed("supplier", scope="organization")

    made = race(*[lambda: below(top) for _ in range(4)], lambda: world.act("buyer", key, "accept"))

    assert made[-1].status_code == 200, made[-1].content
    assert audience(world) == {world.hospital.id: 1} | {one.id: 1 for one in made[:-1]}
    assert sound(world)
