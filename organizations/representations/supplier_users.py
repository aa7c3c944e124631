"""The users of a supplier, as its own administrators read them."""

from typing import Any

from rest_framework import serializers

from api.representations import Computed, Instant, OpenChoice, Representation
from organizations.models import Membership
from organizations.roles import SUPPLIER_ROLES

_PERSON = 'FROM organizations_user u WHERE u.id = t."user_id"'
_ROLES = ", ".join(f"'{role}'" for role in SUPPLIER_ROLES)
_INSTANT = "to_char(u.last_sign_in_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"


class SupplierUserOut(Representation):
    """A person who is a member of the supplier. Of one who has not accepted only what the inviter wrote is shown."""

    email = Computed(f"SELECT u.email {_PERSON}", serializers.EmailField())
    name = Computed(
        f'CASE WHEN {Membership.UNACCEPTED} THEN t."invited_name" ELSE (SELECT u.name {_PERSON}) END',
        serializers.CharField(),
    )
    role = Computed(
        'CASE WHEN cardinality(t."roles") = 1 THEN t."roles"[1] END',
        OpenChoice(choices=SUPPLIER_ROLES, allow_null=True, help_text="The only role; null for who has several."),
    )
    active = Computed(
        "t.\"status\" IN ('invited', 'active')", serializers.BooleanField(help_text="Invited, or able to sign in.")
    )
    manageable = Computed(
        f'cardinality(t."roles") > 0 AND t."roles" <@ ARRAY[{_ROLES}]::varchar[]',
        serializers.BooleanField(help_text="Whether all roles are a supplier's, so that the user can be changed here."),
    )
    last_sign_in_at = Computed(
        f"CASE WHEN NOT {Membership.UNACCEPTED} THEN (SELECT {_INSTANT} {_PERSON}) END",
        Instant(allow_null=True, help_text="To any tenant; null until the invitation is accepted."),
    )

    class Meta:
        model = Membership
        where = 't."user_id" IS NOT NULL'
        fields = (
            "id", "email", "name", "role", "roles", "active", "status", "manageable", "accepted_at", "last_sign_in_at",
            "version", "created_at", "updated_at",
        )  # fmt: skip
        unversioned = f"left(md5(coalesce((SELECT {_INSTANT} || u.name {_PERSON}), '')), 12)"
        example: Any = {
            "email": "kari@example.org",
            "name": "Kari",
            "role": "supplier_orders",
            "roles": ["supplier_orders"],
        }
