"""What buyers read of a supplier."""

from typing import Any

from rest_framework import serializers

from api.representations import Instant, OpenChoice
from suppliers.company.representations import RatingOut
from suppliers.company.serializers import MoneyIn, PaymentTermsIn, RegistrationIn, SupplierContactIn, TaxRateIn
from suppliers.company.states import LicenseType, Qualification
from suppliers.relationships.representations import OwnRelationshipOut, RelationshipOut
from suppliers.relationships.states import MANAGED


class PublicLicenseOut(serializers.Serializer[Any]):
    """A licence of a supplier, without its file."""

    type = OpenChoice(choices=LicenseType.choices)
    number = serializers.CharField()
    authority = serializers.CharField(allow_null=True)
    valid_from = serializers.DateField(allow_null=True)
    valid_to = serializers.DateField(allow_null=True, help_text="The first day on which it holds no more.")
    verified = serializers.BooleanField(
        help_text="Whether the platform's staff have seen the licence as it stands here."
    )


class FoundSupplierOut(serializers.Serializer[Any]):
    """A supplier as buyers find it; `id` is that of its tenant, the `supplier_id` of its products and documents."""

    id = serializers.UUIDField()
    legal_name = serializers.CharField()
    trade_name = serializers.CharField(allow_null=True)
    country = serializers.CharField(allow_null=True)
    registrations = RegistrationIn(many=True)
    categories = serializers.ListField(child=serializers.CharField())
    ships_to = serializers.ListField(child=serializers.CharField())
    currencies = serializers.ListField(child=serializers.CharField())
    payment_terms = PaymentTermsIn(allow_null=True)
    min_order_value = MoneyIn(allow_null=True)
    contacts = SupplierContactIn(many=True, allow_null=True, help_text="Of a managed supplier; else null.")
    tax_rates = TaxRateIn(many=True, allow_null=True, help_text="Of a managed supplier; else null.")
    licenses = PublicLicenseOut(many=True)
    qualification_status = OpenChoice(
        choices=[*Qualification.choices, (MANAGED, MANAGED)],
        help_text="A `qualified` supplier takes new orders, and one that the tenant itself has described, which is "
        "`managed`; one whose tenant is suspended reads `suspended`, too.",
    )
    rating = RatingOut()
    relationship = OwnRelationshipOut()
    created_at = Instant()
    updated_at = Instant()


class StandingRelationshipOut(RelationshipOut):
    """How the tenant stands to a supplier, also where it has settled nothing yet: then there are no times."""

    created_at = Instant(allow_null=True)
    updated_at = Instant(allow_null=True)


class SupplierOut(FoundSupplierOut):
    """A supplier as the buyer reads it, with the buyer's relationship to it; none yet reads as active, of version 1."""

    relationship = StandingRelationshipOut()  # type: ignore[assignment]  # in full
    merged_into = serializers.UUIDField(
        allow_null=True,
        help_text="Of a `managed` supplier that has come to the platform: the supplier that now has its documents, and takes "
        "new ones. The managed one is in no list any more.",
    )
