"""Answers that Python writes have the members that their serializers declare, no fewer and no more."""

from typing import Any

import pytest
from rest_framework import serializers

from organizations.representations.me import MeOut
from organizations.representations.settings import ConfigurationOut, EntitlementOut, LimitsOut
from tests.factories import as_member, provision


@pytest.fixture
def tenant():
    return provision("supplier")


def compare(form: Any, data: Any) -> None:
    if isinstance(form, serializers.ListSerializer):
        assert data, "an empty list shows nothing"
        for row in data:
            compare(form.child, row)
    elif isinstance(form, serializers.Serializer) and not (data is None and form.allow_null):
        assert set(data) <= set(form.fields)
        assert {name for name, field in form.fields.items() if field.required} <= set(data)
        for name in data:
            compare(form.fields[name], data[name])
    elif not isinstance(form, serializers.Serializer):
        assert data is not None or form.allow_null, form.field_name


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/v1/me", MeOut),
        ("/v1/tenants/{tenant}/configuration", ConfigurationOut),
        ("/v1/tenants/{tenant}/entitlements", EntitlementOut),
        ("/v1/production-onboarding/rate-limits", LimitsOut),
    ],
)
def test_answer_has_the_declared_members(tenant, path, form):
    answer = as_member(tenant).get(path.format(tenant=tenant.id))

    assert answer.status_code == 200, answer.content
    compare(form(), answer.json()["data"])
