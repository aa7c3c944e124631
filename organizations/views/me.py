"""The endpoint that describes the caller."""

from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse

from api.authentication import authenticator, tenant_header
from api.filters import check_names
from api.operations import Operation
from api.views import ApiViewSet
from core.actor import Actor, Subject, SubjectKind
from organizations.models import Membership, ServiceAccount, User
from organizations.queries.reachable import memberships_of
from organizations.representations.me import MeOut


class MeViewSet(ApiViewSet):
    """The caller: subject, tenant, memberships, roles and effective scopes."""

    family = "platform"
    tag = "Me"
    singleton = True
    operations = {
        "retrieve": Operation(
            "Get the caller",
            "With X-Tenant-Id, or if the caller has one membership, `tenant`, `membership`, `roles` and `scopes` "
            "describe that membership. `memberships` lists every membership that the credential reaches.",
            scope="",
            answer=MeOut,
            tenant="optional",
        )
    }

    def retrieve(self, request: HttpRequest) -> HttpResponse:
        """Answer the caller and its memberships."""
        check_names(request.GET, ())
        chosen = self.actor() if tenant_header(request) else None
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
        "practitioner_id": row.practitioner_id or None,
        "tenant": {
            "id": str(row.tenant_id),
            "name": row.tenant.name,
            "slug": row.tenant.slug,
            "kinds": list(row.tenant.kinds),
            "status": row.tenant.status,
            "organization_id": str(row.tenant.organization_id),
        },
    }
