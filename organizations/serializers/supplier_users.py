"""The body that invites or changes a user of a supplier."""

from typing import Any, ClassVar

from rest_framework import serializers

from api.serializers import StrictSerializer
from organizations.roles import SUPPLIER_ROLES


class SupplierUserIn(StrictSerializer):
    """A user by e-mail address: somebody new is invited, who needs a role; of a user, role and state are changed."""

    email = serializers.EmailField(max_length=254)
    name = serializers.CharField(max_length=200, required=False)
    role = serializers.ChoiceField(choices=SUPPLIER_ROLES, required=False)
    active = serializers.BooleanField(required=False)

    class Meta:
        example: ClassVar[dict[str, Any]] = {"email": "kari@example.org", "name": "Kari", "role": "supplier_orders"}
