"""Unique keys that stand for a refusal, wherever they are broken."""

import pytest
from django.apps import apps
from django.db import IntegrityError, transaction

from api.errors import refusal_of
from core.clock import now
from core.db import needs_transaction, tenant_context
from core.errors import Duplicate
from organizations.models import Membership, Organization
from organizations.refusals import AlreadyMember
from tests import factories


@needs_transaction
def second_membership(first):
    return Membership.objects.create(tenant=first.tenant, user=first.user, created_at=now(), updated_at=now())


@needs_transaction
def second_slug(first):
    return Organization.objects.create(name="Second", slug=first.slug)


def test_refusals_name_constraints_of_their_own_model():
    for model in apps.get_models():
        declared = set(getattr(model, "refusals", {}))
        assert declared <= {constraint.name for constraint in model._meta.constraints}


def test_broken_key_becomes_the_refusal_of_its_model():
    _, first = factories.member(factories.provision())

    with pytest.raises(AlreadyMember), tenant_context(first.tenant_id):
        second_membership(first)

    assert Membership.objects.filter(user=first.user).count() == 1


def test_broken_key_without_a_refusal_stays_what_it_is():
    first = factories.organization()
    Organization.objects.filter(pk=first.pk).update(slug=f"taken-{factories.suffix()}")
    first.refresh_from_db()

    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        second_slug(first)

    assert type(refusal_of(caught.value)) is Duplicate


def test_broken_key_outside_an_action_is_answered_alike():
    _, first = factories.member(factories.provision())

    with pytest.raises(IntegrityError) as caught, tenant_context(first.tenant_id):
        Membership.objects.create(tenant=first.tenant, user=first.user, created_at=now(), updated_at=now())

    assert type(refusal_of(caught.value)) is AlreadyMember
