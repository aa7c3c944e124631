"""Staff, tenants with rows of every kind, and a signed-in client, for the tests of the admin."""

from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db import transaction

from core.actor import system_actor
from core.clock import now
from core.db import tenant_context
from organizations.actions import configuration
from organizations.models import ApiKey, ConfigurationVersion, Location, Membership, OAuthApplication, Tenant, User
from organizations.oauth import clients
from organizations.queries.configuration import locked_configuration
from suppliers.company.models import SupplierLicense
from tests import factories
from tests.factories import Client

PASSWORD = "correct horse battery staple 9"
REASON = "Ticket 4711: customer asks for help"


@dataclass
class World:
    """One tenant with something on every page."""

    tenant: Tenant
    member: Membership
    key: ApiKey
    secret: str
    client: OAuthApplication
    location: Location
    version: ConfigurationVersion


def staff(role: str = "administrator") -> User:
    """Make a member of staff."""
    return factories.user(f"staff-{role}", password=PASSWORD, is_staff=True, staff_role=role)


def signed_in(role: str = "administrator", person: User | None = None) -> Client:
    """Return a client that signed in at the admin's own page."""
    person = person or staff(role)
    browser = Client()
    answer = browser.post("/admin/login/", {"username": person.email, "password": PASSWORD})
    assert answer.status_code == 302, answer.content[-2000:]
    return browser


def act_in(browser: Client, tenant: Tenant) -> None:
    """Choose the acting tenant."""
    answer = browser.post("/admin/acting-tenant/", {"tenant": str(tenant.pk), "reason": REASON})
    assert answer.status_code == 302, answer.content[-2000:]


def world(name: str = "World") -> World:
    """Make a tenant and rows in it."""
    tenant = factories.provision("supplier", name=f"{name} {factories.suffix()}")
    _, member = factories.member(tenant)
    factories.member(tenant, ["supplier_user"])
    key, secret = factories.new_api_key(tenant)
    at, actor = now(), system_actor(tenant.id)
    with transaction.atomic():
        client, _ = clients.register_application(
            name=f"Client {factories.suffix()}",
            redirect_uris=["https://app.example.org/back"],
            allowed_scopes=["openid"],
            confidential=True,
            at=at,
        )
    with tenant_context(tenant.id):
        changes = {"policies": {"prescription_validity_days": 90}, "branding": {"primary_color": "#0B3C5D"}}
        row = locked_configuration(tenant.id)
        configuration.update_configuration(actor=actor, row=row, data=changes, at=at)
        version = ConfigurationVersion.objects.filter(tenant_id=tenant.id).get()
        SupplierLicense.objects.create(tenant_id=tenant.id, type="wholesale", number="WDA-1", valid_to=date(2020, 1, 1))
        location: Any = Location.objects.filter(tenant_id=tenant.id).first()
    return World(tenant, member, key, secret, client, location, version)
