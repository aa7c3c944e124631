"""Representations of organizations, tenants and memberships."""

from typing import Any

from rest_framework import serializers

from api.postal import AddressIn
from api.representations import Computed, Document, OpenChoice, Representation
from organizations.models import Membership, Organization, Tenant
from organizations.serializers.locations import ContactIn, IdentifierIn


class OrganizationOut(Representation):
    """An organization in the tree of organizations."""

    identifiers = Document(IdentifierIn(many=True))
    contact = Document(ContactIn())
    address = Document(AddressIn())
    children_count = Computed(
        'SELECT count(*) FROM organizations_organization c WHERE c.parent_id = t."id"',
        serializers.IntegerField(help_text="The number of organizations directly below."),
    )

    class Meta:
        model = Organization
        fields = (
            "id", "name", "slug", "type", "parent_id", "status", "identifiers", "contact", "address", "metadata",
            "children_count", "version", "created_at", "updated_at",
        )  # fmt: skip
        example: Any = {
            "name": "North Clinic",
            "slug": "north-clinic",
            "type": "clinic",
            "identifiers": [{"system": "urn:oid:2.16.578.1.12.4.1.4.101", "value": "993467049"}],
        }


class TenantOut(Representation):
    """A tenant, run by one organization."""

    class Meta:
        model = Tenant
        fields = (
            "id", "organization_id", "kinds", "name", "slug", "status", "region", "time_zone", "locale", "currency",
            "plan", "environment", "suspended_reason", "settings_version", "provisioning_job_id", "version", "created_at",
            "updated_at",
        )  # fmt: skip
        blank_as_null = ("region", "suspended_reason")
        example: Any = {
            "name": "North Clinic",
            "slug": "north-clinic",
            "region": "eu-north",
            "time_zone": "Europe/Oslo",
            "locale": "nb-NO",
            "currency": "NOK",
            "suspended_reason": None,
        }


class SubjectOut(serializers.Serializer[Any]):
    """A person or a service account."""

    type = OpenChoice(choices=("user", "service"))
    id = serializers.UUIDField()
    email = serializers.EmailField(required=False, help_text="Only for a user.")
    name = serializers.CharField()
    partner = serializers.CharField(required=False, help_text="Only for a service account.")


class MemberOut(SubjectOut):
    """The person or service account of a membership. Of a person who has not accepted only what the inviter wrote is shown."""

    id = serializers.UUIDField(required=False, help_text="Absent until the person has accepted the invitation.")


class MembershipOut(Representation):
    """The membership of a user or service account in the tenant, with roles and locations."""

    subject = Computed(
        f"""SELECT CASE WHEN t."user_id" IS NOT NULL AND {Membership.UNACCEPTED}
  THEN (SELECT json_build_object('type', 'user', 'email', u.email, 'name', t."invited_name")
          FROM organizations_user u WHERE u.id = t."user_id")
  WHEN t."user_id" IS NOT NULL
  THEN (SELECT json_build_object('type', 'user', 'id', u.id, 'email', u.email, 'name', u.name)
          FROM organizations_user u WHERE u.id = t."user_id")
  ELSE (SELECT json_build_object('type', 'service', 'id', a.id, 'name', a.name, 'partner', a.partner)
          FROM organizations_serviceaccount a WHERE a.id = t."service_account_id") END""",
        MemberOut(),
    )

    class Meta:
        model = Membership
        fields = (
            "id", "tenant_id", "subject", "roles", "location_ids", "status", "valid_from", "valid_until",
            "practitioner_id", "invited_by", "accepted_at", "version", "created_at", "updated_at",
        )  # fmt: skip
        example: Any = {"roles": ["tenant_admin"], "location_ids": []}
