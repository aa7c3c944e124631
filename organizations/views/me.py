"""HTTP of "who am I": the subject, the tenant, the membership, the roles and the effective scopes."""

from typing import Any, ClassVar

import orjson
from django.http import HttpRequest, HttpResponse

from api.authentication import authenticator, tenant_header
from api.filters import check_names
from api.operations import Operation
from api.views import ApiViewSet
from core.actor import Actor, Subject, SubjectKind
from organizations.models import Membership, ServiceAccount, User
from organizations.queries.reachable import memberships_of

_ID = {"type": "string", "format": "uuid"}
_STRINGS = {"type": "array", "items": {"type": "string"}}
_TENANT = {
    "title": "MyTenant",
    "type": "object",
    "required": ["id", "name", "slug", "kinds", "status", "organization_id"],
    "properties": {
        "id": _ID,
        "name": {"type": "string"},
        "slug": {"type": "string"},
        "kinds": _STRINGS,
        "status": {"type": "string"},
        "organization_id": _ID,
    },
}
_MEMBERSHIP: dict[str, Any] = {
    "title": "MyMembership",
    "type": "object",
    "required": ["id", "roles", "scopes", "location_ids", "practitioner_id", "tenant"],
    "properties": {
        "id": _ID,
        "roles": _STRINGS,
        "scopes": _STRINGS,
        "location_ids": _STRINGS,
        "practitioner_id": {"type": ["string", "null"], "format": "uuid"},
        "tenant": _TENANT,
    },
}
_EXAMPLE_MEMBERSHIP = {
    "id": "0190a5d2-7c1e-7b3a-9f00-0000000000aa",
    "roles": ["supplier_admin"],
    "scopes": ["catalog.read", "catalog.write"],
    "location_ids": [],
    "practitioner_id": None,
    "tenant": {
        "id": "0190a5d2-7c1e-7b3a-9f00-00000000000a",
        "name": "Acme Medical Supplies",
        "slug": "acme",
        "kinds": ["supplier"],
        "status": "active",
        "organization_id": "0190a5d2-7c1e-7b3a-9f00-000000000002",
    },
}
_EXAMPLE = {
    "subject": {
        "type": "user",
        "id": "0190a5d2-7c1e-7b3a-9f00-0000000000ab",
        "name": "Kari Nordmann",
        "email": "kari@example.org",
    },
    "tenant": _EXAMPLE_MEMBERSHIP["tenant"],
    "membership": _EXAMPLE_MEMBERSHIP,
    "roles": _EXAMPLE_MEMBERSHIP["roles"],
    "scopes": _EXAMPLE_MEMBERSHIP["scopes"],
    "memberships": [_EXAMPLE_MEMBERSHIP],
}
ME_SCHEMA: dict[str, Any] = {
    "title": "Me",
    "type": "object",
    "required": ["subject", "tenant", "membership", "roles", "scopes", "memberships"],
    "properties": {
        "subject": {
            "title": "MySubject",
            "type": "object",
            "required": ["type", "id", "name"],
            "properties": {
                "type": {"type": "string", "x-extensible-enum": ["user", "service"]},
                "id": _ID,
                "name": {"type": "string"},
                "email": {"type": "string", "description": "Of a user."},
                "partner": {"type": "string", "description": "Of a service."},
            },
        },
        "tenant": {"oneOf": [_TENANT, {"type": "null"}]},
        "membership": {"oneOf": [_MEMBERSHIP, {"type": "null"}]},
        "roles": _STRINGS,
        "scopes": _STRINGS,
        "memberships": {"type": "array", "items": _MEMBERSHIP},
    },
    "examples": [_EXAMPLE],
}


class MeViewSet(ApiViewSet):
    """The caller as the platform sees him."""

    family = "platform"
    tag = "Me"
    operations: ClassVar = {
        "retrieve": Operation(
            scope="",
            summary="Who am I",
            description="With X-Tenant-Id, or with one membership only, `tenant`, `membership`, `roles` and `scopes` tell of "
            "it; `memberships` lists all that the credential reaches.",
            answer=ME_SCHEMA,
            tenant="optional",
        )
    }

    def retrieve(self, request: HttpRequest) -> HttpResponse:
        """Answer who the caller is."""
        check_names(request.GET, ())
        chosen = self.read(lambda _: ())[0] if tenant_header(request) else None
        actors = [chosen] if chosen else authenticator().reach(self.subject, request)
        memberships = [_membership(actor, row) for actor, row in memberships_of(actors)]
        only = memberships[0] if len(memberships) == 1 else None
        return self.answer(
            orjson.dumps(
                {
                    "subject": _subject(self.subject),
                    "tenant": only["tenant"] if only else None,
                    "membership": only,
                    "roles": only["roles"] if only else [],
                    "scopes": only["scopes"] if only else [],
                    "memberships": memberships,
                }
            )
        )


def _subject(subject: Subject) -> dict[str, Any]:
    if subject.kind is SubjectKind.USER:
        person = User.objects.only("email", "name").get(pk=subject.id)
        return {"type": "user", "id": str(subject.id), "name": person.name, "email": person.email}
    account = ServiceAccount.objects.only("name", "partner").get(pk=subject.id)
    return {"type": "service", "id": str(subject.id), "name": account.name, "partner": account.partner}


def _membership(actor: Actor, row: Membership) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "roles": sorted(actor.roles),
        "scopes": sorted(actor.scopes),
        "location_ids": [str(one) for one in row.location_ids],
        "practitioner_id": str(row.practitioner_id) if row.practitioner_id else None,
        "tenant": {
            "id": str(row.tenant_id),
            "name": row.tenant.name,
            "slug": row.tenant.slug,
            "kinds": list(row.tenant.kinds),
            "status": row.tenant.status,
            "organization_id": str(row.tenant.organization_id),
        },
    }
