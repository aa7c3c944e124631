"""Representations of locations: a tenant's own, and the pharmacies of the public directory."""

from typing import ClassVar

from api.postal import AddressIn
from api.representations import Document, Representation
from organizations.models import Location, PharmacyListing
from organizations.serializers.locations import ContactIn, GeoIn, IdentifierIn, OpeningHoursIn


class LocationOut(Representation):
    """A location of the tenant."""

    address = Document(AddressIn())
    geo = Document(GeoIn())
    opening_hours = Document(OpeningHoursIn(many=True))
    contact = Document(ContactIn())
    identifiers = Document(IdentifierIn(many=True))

    class Meta:
        model = Location
        fields = (
            "id", "tenant_id", "organization_id", "parent_id", "name", "type", "status", "address", "geo", "opening_hours",
            "time_zone", "contact", "identifiers", "is_dispensing", "listed", "version", "created_at", "updated_at",
        )  # fmt: skip
        blank_as_null = ("time_zone",)
        example: ClassVar = {"time_zone": "Europe/Berlin"}


class PharmacyOut(Representation):
    """A pharmacy in the public directory; pharmacies of suspended tenants are left out."""

    address = Document(AddressIn())
    opening_hours = Document(OpeningHoursIn(many=True))

    class Meta:
        model = PharmacyListing
        fields = ("id", "name", "address", "opening_hours")
        version = None
        where = "EXISTS (SELECT 1 FROM organizations_tenant o WHERE o.id = t.tenant_id AND o.status = 'active')"
