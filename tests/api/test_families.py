"""Which credentials each family of endpoints takes, and how it answers them."""

import pytest

from api import ratelimits
from api.errors import status_of
from api.families import FAMILIES, CredentialNotAccepted, check_credential
from api.views import ApiViewSet
from config import urls as _loads_every_view  # noqa: F401
from core.actor import Subject, SubjectKind
from core.ids import uuid7

KEY = Subject(id=uuid7(), kind=SubjectKind.SERVICE, credential="key:01")
PERSON = Subject(id=uuid7(), kind=SubjectKind.USER, credential="session:01")
SERVICE = Subject(id=uuid7(), kind=SubjectKind.SERVICE, credential="client:01")
# Copied from the contract's table: envelope, paging, requests a minute; with a key, then with a token.
CONTRACT = {
    "supplier": ("supplier page 20 100 600", "supplier page 20 100 600"),
    "procurement": (None, "plain cursor 50 200 100"),
    "organizations": (None, "plain cursor 50 200 300"),
    "prescriptions": (None, "plain cursor 50 200 300"),
    "appointments": (None, "plain cursor 50 200 300"),
    "platform": ("plain cursor 50 200 300", "plain cursor 50 200 300"),
    "webhooks": ("supplier page 20 100 600", "plain cursor 50 200 300"),
    "events": ("plain cursor 50 200 600", "plain cursor 50 200 300"),
    "fhir": (None, "bundle _count 50 1000 600"),
}


def _subclasses(view):
    for one in view.__subclasses__():
        yield one
        yield from _subclasses(one)


def described(family, subject, **more):
    style = check_credential(family, subject, **more)
    paging, limit = style.paging, ratelimits.DEFAULTS[style.policy].limit
    return f"{style.envelope} {paging.parameter} {paging.default} {paging.most} {limit}"


def test_families_are_those_of_the_contract_and_every_viewset_has_one():
    views = list(_subclasses(ApiViewSet))
    assert set(FAMILIES) == set(CONTRACT)
    assert len(views) > 20
    assert {view.family for view in views} <= set(FAMILIES)


@pytest.mark.parametrize("family", CONTRACT)
def test_family_takes_the_credentials_of_the_contract_and_answers_in_its_style(family):
    with_key, with_token = CONTRACT[family]
    assert described(family, PERSON) == described(family, SERVICE) == with_token
    if with_key is None:
        with pytest.raises(CredentialNotAccepted) as refusal:
            check_credential(family, KEY)
        assert (status_of(refusal.value), refusal.value.code) == (403, "credential_not_accepted")
    else:
        assert described(family, KEY) == with_key


@pytest.mark.parametrize("family", CONTRACT)
def test_key_is_taken_on_shared_addresses_of_procurement_in_its_style(family):
    with_key, _ = CONTRACT[family]
    if family == "procurement":
        assert described(family, KEY, supplier_scope="orders:read") == "plain cursor 50 200 100"
    elif with_key is None:
        with pytest.raises(CredentialNotAccepted):
            check_credential(family, KEY, supplier_scope="orders:read")


def test_four_families_share_one_bucket_for_tokens():
    names = ("organizations", "prescriptions", "appointments", "platform")
    assert {check_credential(name, PERSON).policy for name in names} == {"organizations"}
