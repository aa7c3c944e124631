"""Organizations, tenants and memberships on the wire."""

from api import shapes
from api.listing import CREATED, Listing, Sort
from api.shapes import Shape
from organizations.filters.tenancy import ChildFilters, MembershipFilters, OrganizationFilters, TenantFilters
from organizations.models import Membership, Organization, Tenant

ADDRESS: dict[str, object] = {"type": ["object", "null"]}
CONTACT: dict[str, object] = {"type": ["object", "null"]}
IDENTIFIERS: dict[str, object] = {"type": "array", "items": {"type": "object"}}

_NULLABLE_TEXT = {"type": ["string", "null"]}
_UUIDS = {"type": "array", "items": {"type": "string", "format": "uuid"}}
_NAMED = {**CREATED, "name": Sort("name", "text")}

ORGANIZATION = Shape(
    name="organization",
    model=Organization,
    fields=(
        shapes.uuid("id"),
        shapes.text("name"),
        shapes.text("slug").nullable(),
        shapes.choice("type", Organization.Type.values),
        shapes.uuid("parent_id").nullable(),
        shapes.choice("status", Organization.Status.values),
        shapes.document("identifiers", IDENTIFIERS),
        shapes.document("contact", CONTACT),
        shapes.document("address", ADDRESS),
        shapes.document("metadata"),
        shapes.computed(
            "children_count",
            'SELECT count(*) FROM organizations_organization c WHERE c.parent_id = t."id"',
            {"type": "integer", "description": "Organizations directly below."},
        ),
        shapes.integer("version"),
        shapes.instant("created_at"),
        shapes.instant("updated_at"),
    ),
    tenant_column=None,
    example={
        "id": "0190a5d2-7c1e-7b3a-9f00-000000000002",
        "name": "North Clinic",
        "slug": "north-clinic",
        "type": "clinic",
        "parent_id": "0190a5d2-7c1e-7b3a-9f00-000000000001",
        "status": "active",
        "identifiers": [{"system": "urn:oid:2.16.578.1.12.4.1.4.101", "value": "993467049"}],
        "contact": {"phone": "+47 55 00 00 00"},
        "address": {"city": "Bergen", "country": "NO"},
        "metadata": {},
        "children_count": 0,
        "version": 1,
        "created_at": "2026-01-05T08:00:00.000Z",
        "updated_at": "2026-01-05T08:00:00.000Z",
    },
)
ORGANIZATIONS = Listing(shape=ORGANIZATION, filters=OrganizationFilters, sorts=_NAMED)
CHILDREN = Listing(shape=ORGANIZATION, filters=ChildFilters, sorts=_NAMED)

TENANT = Shape(
    name="tenant",
    model=Tenant,
    fields=(
        shapes.uuid("id"),
        shapes.uuid("organization_id"),
        shapes.strings("kinds"),
        shapes.text("name"),
        shapes.text("slug"),
        shapes.choice("status", Tenant.Status.values),
        shapes.computed("region", "NULLIF(t.\"region\", '')", _NULLABLE_TEXT),
        shapes.text("time_zone"),
        shapes.text("locale"),
        shapes.text("currency"),
        shapes.text("plan"),
        shapes.choice("environment", Tenant.Environment.values),
        shapes.computed("suspended_reason", "NULLIF(t.\"suspended_reason\", '')", _NULLABLE_TEXT),
        shapes.integer("settings_version"),
        shapes.uuid("provisioning_job_id").nullable(),
        shapes.integer("version"),
        shapes.instant("created_at"),
        shapes.instant("updated_at"),
    ),
    tenant_column=None,
    example={
        "id": "0190a5d2-7c1e-7b3a-9f00-00000000000a",
        "organization_id": "0190a5d2-7c1e-7b3a-9f00-000000000002",
        "kinds": ["provider"],
        "name": "North Clinic",
        "slug": "north-clinic",
        "status": "active",
        "region": "eu-north",
        "time_zone": "Europe/Oslo",
        "locale": "nb-NO",
        "currency": "NOK",
        "plan": "standard",
        "environment": "production",
        "suspended_reason": None,
        "settings_version": 1,
        "provisioning_job_id": None,
        "version": 2,
        "created_at": "2026-01-05T08:00:00.000Z",
        "updated_at": "2026-01-05T08:00:00.000Z",
    },
)
TENANTS = Listing(shape=TENANT, filters=TenantFilters, sorts=_NAMED)

_SUBJECT = """SELECT CASE WHEN t."user_id" IS NOT NULL
  THEN (SELECT json_build_object('type', 'user', 'id', u.id, 'email', u.email, 'name', u.name)
          FROM organizations_user u WHERE u.id = t."user_id")
  ELSE (SELECT json_build_object('type', 'service', 'id', a.id, 'name', a.name, 'partner', a.partner)
          FROM organizations_serviceaccount a WHERE a.id = t."service_account_id") END"""

MEMBERSHIP = Shape(
    name="membership",
    model=Membership,
    fields=(
        shapes.uuid("id"),
        shapes.uuid("tenant_id"),
        shapes.computed(
            "subject",
            _SUBJECT,
            {
                "type": "object",
                "properties": {
                    "type": {"type": "string", "x-extensible-enum": ["user", "service"]},
                    "id": {"type": "string", "format": "uuid"},
                    "name": {"type": "string"},
                    "email": {"type": "string", "description": "Of a user."},
                    "partner": {"type": "string", "description": "Of a service."},
                },
            },
        ),
        shapes.strings("roles"),
        shapes.document("location_ids", _UUIDS),
        shapes.choice("status", Membership.Status.values),
        shapes.instant("valid_from").nullable(),
        shapes.instant("valid_until").nullable(),
        shapes.uuid("practitioner_id").nullable(),
        shapes.uuid("invited_by").nullable(),
        shapes.instant("accepted_at").nullable(),
        shapes.integer("version"),
        shapes.instant("created_at"),
        shapes.instant("updated_at"),
    ),
    example={
        "id": "0190a5d2-7c1e-7b3a-9f00-0000000000aa",
        "tenant_id": "0190a5d2-7c1e-7b3a-9f00-00000000000a",
        "subject": {
            "type": "user",
            "id": "0190a5d2-7c1e-7b3a-9f00-0000000000ab",
            "email": "kari@example.org",
            "name": "Kari",
        },
        "roles": ["tenant_admin"],
        "location_ids": [],
        "status": "invited",
        "valid_from": None,
        "valid_until": None,
        "practitioner_id": None,
        "invited_by": "0190a5d2-7c1e-7b3a-9f00-0000000000ac",
        "accepted_at": None,
        "version": 1,
        "created_at": "2026-01-05T08:00:00.000Z",
        "updated_at": "2026-01-05T08:00:00.000Z",
    },
)
MEMBERSHIPS = Listing(shape=MEMBERSHIP, filters=MembershipFilters)
