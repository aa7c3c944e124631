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
_RATES = ("on_time_rate", "fill_rate", "quality_rate")


def _rating(row: str) -> str:
    return ", ".join(f"'{name}', {row}.{name}::text" for name in _RATES) + f", 'orders_counted', {row}.orders_counted"


def rating_sql(row: str) -> str:
    """Write the SQL of what buyers read of how a supplier delivers; `row` is the alias of its profile."""
    return f"json_build_object({_rating(row)})"


_LINKS = ", ".join(
    f"'{name}', '/v1/orders?from=' || (t.rated_until - 365) || '&to=' || t.rated_until" for name in _RATES
)
_OWN_RATING = (
    f"json_build_object('from', t.rated_until - 365, 'to', t.rated_until, {_rating('t')},"
    f" 'links', json_build_object({_LINKS}))"
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
    """How the supplier has delivered in the last 365 days; a rate is null where there was nothing to count."""

    on_time_rate = serializers.CharField(
        allow_null=True,
        help_text="Lines delivered whole by their promised date, of the lines due; a decimal from 0 to 1.",
    )
    fill_rate = serializers.CharField(
        allow_null=True, help_text="Units shipped, of the units accepted of the lines due; a decimal from 0 to 1."
    )
    quality_rate = serializers.CharField(
        allow_null=True,
        help_text="Units that receipts accepted, of those accepted and rejected; a decimal from 0 to 1.",
    )
    orders_counted = serializers.IntegerField(help_text="How many orders were sent to the supplier in these days.")


class RatingLinksOut(serializers.Serializer[Any]):
    """For each rate the list of the orders behind it; null as long as the supplier was not rated."""

    on_time_rate = serializers.CharField(allow_null=True)
    fill_rate = serializers.CharField(allow_null=True)
    quality_rate = serializers.CharField(allow_null=True)


class OwnRatingOut(RatingOut):
    """How the supplier has delivered, with the days that were counted; it is rated once a day."""

    links = RatingLinksOut()

    def get_fields(self) -> dict[str, Any]:
        """Return the fields, the days at first; the name of one is a word of Python."""
        begin, end = (
            serializers.DateField(allow_null=True, help_text=text)
            for text in (
                "The first day that is counted, by the clock of the supplier.", "The day before which the count ends."
            )
        )  # fmt: skip
        return {"from": begin, "to": end, **super().get_fields()}


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
    rating = Computed(_OWN_RATING, OwnRatingOut())

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
        unversioned = "t.rated_until::text"
        example: Any = {
            **SupplierProfileIn.Meta.example,
            "order_settings": {**DEFAULTS, **OrderSettingsIn.Meta.example},
            "country": "DE",
            "ships_to": ["DE"],
            "categories": ["gloves"],
        }
