"""The supplier's profile as the supplier itself reads it."""

import json
from typing import Any

from rest_framework import serializers

from api.representations import Computed, Document, OpenChoice, Representation
from core.conditions import TENANT

from .models import SupplierProfile
from .profiles import PROFILE
from .serializers import (
    MoneyIn,
    OrderSettingsIn,
    PaymentTermsIn,
    RegistrationIn,
    SupplierAddressIn,
    SupplierContactIn,
    SupplierProfileIn,
    TaxRateIn,
)
from .settings import DEFAULTS
from .states import LicenseType

_SETTINGS = ", ".join(
    f"'{name}', coalesce(t.order_settings -> '{name}', '{json.dumps(value)}'::jsonb)"
    for name, value in DEFAULTS.items()
)
_LICENSES = (
    "SELECT coalesce(json_agg(json_build_object('id', l.id, 'type', l.type, 'number', l.number,"
    " 'authority', nullif(l.authority, ''), 'valid_from', l.valid_from, 'valid_to', l.valid_to, 'file_id', l.file_id,"
    " 'verified', l.verified_at IS NOT NULL) ORDER BY l.position, l.id), '[]')"
    f" FROM suppliers_supplierlicense l WHERE l.tenant_id = {TENANT}"
)


def _members(kind: str) -> str:
    return (
        "(SELECT coalesce(json_agg(m.member_id ORDER BY m.member_id), '[]') FROM suppliers_buyergroupmember m"
        f" WHERE m.tenant_id = {TENANT} AND m.group_id = g.id AND m.kind = '{kind}')"
    )


_GROUPS = (
    "SELECT coalesce(json_agg(json_build_object('code', g.code, 'name', nullif(g.name, ''),"
    f" 'buyer_ids', {_members('buyer')}, 'organization_ids', {_members('organization')},"
    " 'reservation_cap_percent', g.reservation_cap_percent) ORDER BY g.position, g.id), '[]')"
    f" FROM suppliers_buyergroup g WHERE g.tenant_id = {TENANT}"
)
RATING = (
    "SELECT json_build_object('on_time_rate', NULL::text, 'fill_rate', NULL::text, 'quality_rate', NULL::text,"
    " 'orders_counted', 0)"
)


class LicenseOut(serializers.Serializer[Any]):
    """A licence of the supplier."""

    id = serializers.UUIDField()
    type = OpenChoice(choices=LicenseType.choices)
    number = serializers.CharField()
    authority = serializers.CharField(allow_null=True)
    valid_from = serializers.DateField(allow_null=True)
    valid_to = serializers.DateField(allow_null=True, help_text="The first day on which it holds no more.")
    file_id = serializers.UUIDField(allow_null=True)
    verified = serializers.BooleanField(
        help_text="Whether the platform's staff have seen the licence as it stands here."
    )


class BankAccountOut(serializers.Serializer[Any]):
    """What is shown of the bank account."""

    last4 = serializers.CharField(help_text="The last four characters of the IBAN.")
    verified = serializers.BooleanField(help_text="Whether the platform's staff have seen the account.")


class BuyerGroupOut(serializers.Serializer[Any]):
    """Buyers whom the supplier treats alike."""

    code = serializers.CharField()
    name = serializers.CharField(allow_null=True)
    buyer_ids = serializers.ListField(child=serializers.UUIDField())
    organization_ids = serializers.ListField(child=serializers.UUIDField())
    reservation_cap_percent = serializers.IntegerField(allow_null=True)


class RatingOut(serializers.Serializer[Any]):
    """How the supplier has delivered in the last 365 days; rates are null as long as no order counts."""

    on_time_rate = serializers.CharField(allow_null=True)
    fill_rate = serializers.CharField(allow_null=True)
    quality_rate = serializers.CharField(allow_null=True)
    orders_counted = serializers.IntegerField()


class SupplierProfileOut(Representation):
    """What the supplier says of itself, and what the platform says of it; `id` is that of the supplier's tenant."""

    id = serializers.UUIDField(source="tenant_id")
    registrations = Document(RegistrationIn(many=True))
    addresses = Document(SupplierAddressIn(many=True))
    contacts = Document(SupplierContactIn(many=True))
    currencies = Document(serializers.ListField(child=serializers.CharField()))
    payment_terms = Document(PaymentTermsIn())
    min_order_value = Document(MoneyIn())
    ships_to = Document(serializers.ListField(child=serializers.CharField()))
    categories = Document(serializers.ListField(child=serializers.CharField()))
    licenses = Computed(_LICENSES, LicenseOut(many=True))
    bank_account = Computed(
        "CASE WHEN t.bank_account_last4 <> '' THEN json_build_object('last4', t.bank_account_last4,"
        " 'verified', t.bank_reviewed_at IS NOT NULL) END",
        BankAccountOut(allow_null=True),
    )
    tax_rates = Document(TaxRateIn(many=True))
    order_settings = Computed(f"json_build_object({_SETTINGS})", OrderSettingsIn())
    buyer_groups = Computed(_GROUPS, BuyerGroupOut(many=True))
    rating = Computed(RATING, RatingOut())

    class Meta:
        model = SupplierProfile
        rows = PROFILE
        key = "tenant_id"
        fields = (
            "id", "legal_name", "trade_name", "country", "registrations", "addresses", "contacts", "currencies",
            "payment_terms", "min_order_value", "ships_to", "categories", "licenses", "bank_account", "tax_rates",
            "order_settings", "buyer_groups", "qualification_status", "rating", "created_at", "updated_at", "version",
        )  # fmt: skip
        blank_as_null = ("trade_name", "country")
        example: Any = {
            **SupplierProfileIn.Meta.example,
            "order_settings": {**DEFAULTS, **OrderSettingsIn.Meta.example},
            "country": "DE",
            "ships_to": ["DE"],
            "categories": ["gloves"],
        }
