"""Places on the wire: a tenant's own, and the directory of pharmacies with no more than a pharmacy publishes."""

from api import shapes
from api.listing import CREATED, Listing, Sort
from api.shapes import Shape
from organizations.filters.locations import DirectoryFilters, LocationFilters
from organizations.models import Location, LocationStatus, LocationType, PharmacyListing

ADDRESS = {
    "type": ["object", "null"],
    "properties": {
        "lines": {"type": "array", "items": {"type": "string"}},
        "city": {"type": "string"},
        "state": {"type": "string"},
        "postal_code": {"type": "string"},
        "country": {"type": "string", "description": "ISO 3166-1 alpha-2"},
    },
}
GEO = {
    "type": ["object", "null"],
    "properties": {"latitude": {"type": "number"}, "longitude": {"type": "number"}},
}
OPENING_HOURS = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "days": {"type": "array", "items": {"type": "string"}},
            "opens": {"type": "string"},
            "closes": {"type": "string"},
            "all_day": {"type": "boolean"},
        },
    },
}
CONTACT = {
    "type": ["object", "null"],
    "properties": {"phone": {"type": "string"}, "email": {"type": "string"}, "url": {"type": "string"}},
}
IDENTIFIERS = {
    "type": "array",
    "items": {"type": "object", "properties": {"system": {"type": "string"}, "value": {"type": "string"}}},
}
_NAME = {**CREATED, "name": Sort("name", "text")}

LOCATION = Shape(
    name="location",
    model=Location,
    fields=(
        shapes.uuid("id"),
        shapes.uuid("tenant_id"),
        shapes.uuid("organization_id").nullable(),
        shapes.uuid("parent_id").nullable(),
        shapes.text("name"),
        shapes.choice("type", LocationType.values),
        shapes.choice("status", LocationStatus.values),
        shapes.document("address", ADDRESS),
        shapes.document("geo", GEO),
        shapes.document("opening_hours", OPENING_HOURS),
        shapes.document("contact", CONTACT),
        shapes.document("identifiers", IDENTIFIERS),
        shapes.boolean("is_dispensing"),
        shapes.boolean("listed"),
        shapes.integer("version"),
        shapes.instant("created_at"),
        shapes.instant("updated_at"),
    ),
    example={
        "id": "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f",
        "tenant_id": "0190a5d2-7c1e-7b3a-9f00-000000000001",
        "organization_id": "0190a5d2-7c1e-7b3a-9f00-000000000002",
        "parent_id": None,
        "name": "North Pharmacy",
        "type": "pharmacy",
        "status": "active",
        "address": {"lines": ["1 North Street"], "city": "Bergen", "postal_code": "5003", "country": "NO"},
        "geo": {"latitude": 60.39, "longitude": 5.32},
        "opening_hours": [{"days": ["mon", "tue"], "opens": "08:00", "closes": "18:00"}],
        "contact": {"phone": "+47 55 00 00 00"},
        "identifiers": [{"system": "urn:gln", "value": "7080000000012"}],
        "is_dispensing": True,
        "listed": True,
        "version": 1,
        "created_at": "2026-01-05T08:00:00.000Z",
        "updated_at": "2026-01-05T08:00:00.000Z",
    },
)

LOCATIONS = Listing(shape=LOCATION, filters=LocationFilters, sorts=_NAME)

# A suspended tenant's pharmacies take nothing, so nobody should find them.
PHARMACY = Shape(
    name="pharmacy",
    model=PharmacyListing,
    fields=(
        shapes.uuid("id"),
        shapes.text("name"),
        shapes.document("address", ADDRESS),
        shapes.document("opening_hours", OPENING_HOURS),
    ),
    tenant_column=None,
    version=None,
    example={
        "id": "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f",
        "name": "North Pharmacy",
        "address": {"lines": ["1 North Street"], "city": "Bergen", "postal_code": "5003", "country": "NO"},
        "opening_hours": [{"days": ["mon", "tue"], "opens": "08:00", "closes": "18:00"}],
    },
    where="EXISTS (SELECT FROM organizations_tenant o WHERE o.id = t.tenant_id AND o.status = 'active')",
)

PHARMACIES = Listing(shape=PHARMACY, filters=DirectoryFilters, sorts=_NAME, default_sort="name")
