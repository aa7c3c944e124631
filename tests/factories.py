"""What tests are made of: tenants, members, credentials and a client. Everything is made by the platform's own actions.

Names end in a fresh suffix, so tests never meet each other's rows.
"""

import json as jsonlib
from collections.abc import Iterable
from functools import cache
from typing import Any
from uuid import UUID

from django.db import transaction
from django.test import Client as DjangoClient
from django.test.client import ClientHandler

from core.actor import Actor, SubjectKind, system_actor
from core.clock import now
from core.crypto import random_text
from core.db import tenant_context
from core.ids import uuid7
from organizations import tokens
from organizations.actions import keys, memberships, provisioning
from organizations.actions.provisioning import TenantSpec
from organizations.models import ApiKey, Membership, Organization, Tenant, User
from suppliers.company.models import SupplierProfile
from tests.contract.document import hold_to_document
from tests.tracing import untraced


def suffix() -> str:
    """Return eight characters that no other test has."""
    return random_text(8).lower()


def organization(name: str = "Organization", *, parent: Organization | None = None) -> Organization:
    """Make an organization, below another or on its own."""
    return Organization.objects.create(name=name, slug=f"org-{suffix()}", parent=parent)


@untraced()
def provision(
    kind: str = "provider",
    *,
    also: tuple[str, ...] = (),
    under: Organization | None = None,
    plan: str = "",
    qualified: bool = True,
    **fields: Any,
) -> Tenant:
    """Set up an active tenant of one kind and `also` others, with its own organization unless `under` names one.

    A supplier is qualified, so that it can trade, unless `qualified` is False: then it has no profile.
    """
    slug = f"{kind}-{suffix()}"
    name = fields.pop("name", slug.title())
    spec = TenantSpec(
        slug=slug, name=name, kinds=(kind, *also), organization_id=under.id if under else None, plan=plan, fields=fields
    )
    tenant = provisioning.provision_tenant(actor=provisioning.platform_actor(), spec=spec, at=now()).tenant
    if qualified and "supplier" in tenant.kinds:
        qualify(tenant)
    return tenant


def qualify(tenant: Tenant) -> SupplierProfile:
    """Give a supplier the profile with which it may trade."""
    with tenant_context(tenant.id):
        row = SupplierProfile(tenant_id=tenant.id, legal_name=tenant.name, country="DE")
        row.start_review()
        row.qualify()
        row.save(force_insert=True)
    return row


def user(name: str = "person", **fields: Any) -> User:
    """Make a person who can sign in with the password `suffix` gave nobody: use `bearer`, or pass `password`."""
    return User.objects.create_user(f"{name}-{suffix()}@example.org", fields.pop("password", None), name=name, **fields)


@untraced()
def member(tenant: Tenant, roles: Iterable[str] = ("tenant_admin",), **terms: Any) -> tuple[User, Membership]:
    """Make an active member of a tenant; `person=` takes a user that exists."""
    given = tuple(roles)
    person = terms.pop("person", None) or user(given[0] if given else "member")
    wanted = memberships.Terms(roles=given, **terms)
    with tenant_context(tenant.id):
        made = memberships.add_member(actor=system_actor(tenant.id), user=person, terms=wanted, at=now())
    return person, made


def bearer(
    person: User,
    *,
    tenant: Tenant | None = None,
    scopes: str | None = None,
    acr: str = "password",
    patient: str = "",
) -> str:
    """Return an access token of a person, as a sign-in gives it; with `scopes`, as a foreign client gets it.

    With `patient`, it is bound to one of the tenant's patients.
    """
    return tokens.issue_access_token(
        subject_id=person.id,
        subject_kind=SubjectKind.USER,
        client_id=tokens.FIRST_PARTY_CLIENT if scopes is None else "client-of-a-test",
        scopes=scopes,
        session_id=uuid7(),
        acr=acr,
        amr=("pwd", "otp") if acr == "mfa" else ("pwd",),
        authenticated_at=now(),
        tenant_id=tenant.id if tenant else None,
        patient=patient,
        at=now(),
    )


def new_api_key(tenant: Tenant, roles: Iterable[str] = ("supplier_admin",), **values: Any) -> tuple[ApiKey, str]:
    """Make an API key; return its row and its text."""
    wanted = {"name": "Integration", "partner": f"partner-{suffix()}", "roles": list(roles), **values}
    with tenant_context(tenant.id):
        made = keys.create_key(actor=system_actor(tenant.id), data=wanted, at=now())
    return made.row, made.text


def api_key(tenant: Tenant, roles: Iterable[str] = ("supplier_admin",), **values: Any) -> str:
    """Make an API key; return its text."""
    return new_api_key(tenant, roles, **values)[1]


def actor_of(tenant: Tenant, roles: Iterable[str] = ("tenant_admin",)) -> Actor:
    """Make a member and return the actor as which the authenticator would let it act."""
    from core.actor import Subject
    from organizations.policies import scopes_of_roles

    person, membership = member(tenant, roles)
    subject = Subject(id=person.id, kind=SubjectKind.USER, credential="session:test")
    return Actor(
        subject=subject,
        tenant_id=tenant.id,
        membership_id=membership.id,
        roles=frozenset(membership.roles),
        scopes=scopes_of_roles(tenant.id, membership.roles),
        tenant_kinds=frozenset(tenant.kinds),
        features=frozenset(Tenant.objects.get(pk=tenant.id).features),
        organization_id=tenant.organization_id,
    )


@cache
def _handler(enforce_csrf_checks: bool) -> ClientHandler:
    made = ClientHandler(enforce_csrf_checks=enforce_csrf_checks)
    made.load_middleware()
    return made


class Client(DjangoClient):
    """Django's test client with a way in that is built once, not for each client: whitenoise looks at every file then."""

    def __init__(self, enforce_csrf_checks: bool = False, **more: Any) -> None:
        super().__init__(enforce_csrf_checks, **more)
        self.handler = _handler(enforce_csrf_checks)


class Api:
    """A client of the HTTP interface with one credential and, if wanted, one tenant in the header."""

    def __init__(self, *, key: str = "", token: str = "", tenant: Tenant | UUID | str | None = None) -> None:
        self.client = Client(raise_request_exception=False)
        self.headers: dict[str, str] = {}
        if key:
            self.headers["X-API-Key"] = key
        if token:
            self.headers["Authorization"] = f"Bearer {token}"
        if tenant is not None:
            self.headers["X-Tenant-Id"] = str(tenant.id if isinstance(tenant, Tenant) else tenant)

    def call(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        headers: dict[str, str] | None = None,
        data: bytes | str | None = None,
        content_type: str = "application/json",
    ) -> Any:
        """Send one request; `json` becomes the body, `data` is sent as it is."""
        body = jsonlib.dumps(json, default=str) if json is not None else (data or b"")
        response = self.client.generic(
            method, path, body, content_type=content_type, headers={**self.headers, **(headers or {})}
        )
        hold_to_document(method, response)
        return response

    def get(self, path: str, **more: Any) -> Any:
        """Send a GET."""
        return self.call("GET", path, **more)

    def post(self, path: str, **more: Any) -> Any:
        """Send a POST."""
        return self.call("POST", path, **more)

    def put(self, path: str, **more: Any) -> Any:
        """Send a PUT."""
        return self.call("PUT", path, **more)

    def patch(self, path: str, **more: Any) -> Any:
        """Send a PATCH."""
        return self.call("PATCH", path, **more)

    def delete(self, path: str, **more: Any) -> Any:
        """Send a DELETE."""
        return self.call("DELETE", path, **more)


def as_member(tenant: Tenant, roles: Iterable[str] = ("tenant_admin",), *, header: bool = True) -> Api:
    """Make a member and return a client that acts as it."""
    person, _ = member(tenant, roles)
    return Api(token=bearer(person), tenant=tenant if header else None)


def committed(work: Any) -> Any:
    """Run a function in a transaction of its own and return what it returns."""
    with transaction.atomic():
        return work()
