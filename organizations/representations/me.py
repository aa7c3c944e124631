"""Representation of the caller: the subject, its memberships, and the membership of this request."""

from typing import Any

from rest_framework import serializers

from api.representations import OpenChoice
from organizations.models import Tenant

from .tenancy import SubjectOut


class MyTenantOut(serializers.Serializer[Any]):
    """The tenant of a membership."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    slug = serializers.CharField()
    kinds = serializers.ListField(child=OpenChoice(choices=Tenant.Kind.choices))
    status = OpenChoice(choices=Tenant.Status.choices)
    organization_id = serializers.UUIDField()


class MyMembershipOut(serializers.Serializer[Any]):
    """A membership of the caller, with the effective scopes of the credential."""

    id = serializers.UUIDField()
    roles = serializers.ListField(child=serializers.CharField())
    scopes = serializers.ListField(child=serializers.CharField())
    location_ids = serializers.ListField(child=serializers.UUIDField())
    practitioner_id = serializers.CharField(max_length=64, allow_null=True)
    tenant = MyTenantOut()


class MeOut(serializers.Serializer[Any]):
    """The caller: subject, tenant, memberships, roles and effective scopes."""

    subject = SubjectOut()
    tenant = MyTenantOut(allow_null=True)
    membership = MyMembershipOut(allow_null=True)
    roles = serializers.ListField(child=serializers.CharField())
    scopes = serializers.ListField(child=serializers.CharField())
    memberships = MyMembershipOut(many=True)
