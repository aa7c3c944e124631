"""The demo data of `operations.md`: tenants, their members, API keys and an OAuth client, with random secrets."""

import json
import os
import secrets
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.db import transaction

from core.actor import system_actor
from core.db import tenant_context

from . import api_key_format
from .actions import memberships
from .actions.first_credentials import new_client
from .actions.keys import create_key, revoke_key
from .actions.locations import update_location
from .actions.provisioning import TenantSpec, platform_actor, provision_tenant
from .models import LIVE, ApiKey, Location, Membership, OAuthApplication, Tenant, User
from .roles import SUPPLIER_ADMIN

TENANTS = {
    "hospital": ("Demo Hospital", "provider"),
    "other_hospital": ("Other Demo Hospital", "provider"),
    "pharmacy": ("Demo Pharmacy", "pharmacy"),
    "supplier": ("Demo Medical Supplies", "supplier"),
    "other_supplier": ("Other Demo Supplies", "supplier"),
}
USERS = {
    "prescriber": ("hospital", "prescriber"),
    "nurse": ("hospital", "nurse"),
    "pharmacist": ("pharmacy", "pharmacist"),
    "buyer": ("hospital", "buyer"),
    "approver": ("hospital", "approver"),
    "second_approver": ("hospital", "approver"),
    "receiving_clerk": ("hospital", "receiving_clerk"),
    "finance": ("hospital", "finance"),
    "tenant_admin": ("hospital", "tenant_admin"),
    "auditor": ("hospital", "auditor"),
    "supplier_admin": ("supplier", SUPPLIER_ADMIN),
    "org_admin": ("hospital", "org_admin"),
    "other_prescriber": ("other_hospital", "prescriber"),
    "other_buyer": ("other_hospital", "buyer"),
    "pharmacy_admin": ("pharmacy", "tenant_admin"),
}
# Who has a Practitioner in the tenant's record, and under which id.
PRACTITIONERS = {name: f"demo-{name.replace('_', '-')}" for name in ("prescriber", "other_prescriber", "pharmacist")}
KEYS = ("supplier", "other_supplier")
CLIENT = "hospital_service"
KEY_NAME = "Demo key"


@dataclass
class _Seed:
    """One run: the content of the earlier file, the tenants, and what this run created."""

    earlier: dict[str, Any]
    at: datetime
    tenants: dict[str, Tenant] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)

    def earlier_object(self, *path: str) -> dict[str, Any]:
        """Return an object of the earlier file; empty if the file has none there."""
        found: Any = self.earlier
        for name in path:
            found = found.get(name, {}) if isinstance(found, dict) else {}
        return found if isinstance(found, dict) else {}


def seed(path: Path, *, at: datetime) -> list[str]:
    """Create the demo data and write its credentials; existing rows are kept. Returns what was created."""
    run = _Seed(_read(path), at)
    if _is_complete(run.earlier):
        return []
    for name, (title, kind) in TENANTS.items():
        spec = TenantSpec(slug=f"demo-{name.replace('_', '-')}", name=title, kinds=(kind,))
        outcome = provision_tenant(actor=platform_actor(), spec=spec, at=at)
        run.tenants[name] = outcome.tenant
        run.made += [f"tenant {name}"] if outcome.created else []
    _list_pharmacy(run)
    document = {
        "base_url": settings.BASE_URL,
        "fhir_base_url": settings.FHIR_BASE_URL,
        "admin": _admin(run),
        "tenants": {name: {"id": str(tenant.id), "slug": tenant.slug} for name, tenant in run.tenants.items()},
        "users": {name: _user(run, name, *where) for name, where in USERS.items()},
        "api_keys": {name: _key(run, name) for name in KEYS},
        "oauth_clients": {CLIENT: _client(run)},
    }
    _write(path, document)
    return run.made


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(path: Path, document: dict[str, Any]) -> None:
    """Replace the file in one step; at no moment may anybody but its owner read it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(json.dumps(document, indent=1) + "\n")
    draft.replace(path)


def _is_complete(earlier: dict[str, Any]) -> bool:
    """Tell whether the database has everything in the file; of the passwords only the administrator's is checked."""
    try:
        if (earlier["base_url"], earlier["fhir_base_url"]) != (settings.BASE_URL, settings.FHIR_BASE_URL):
            return False
        tenants = [earlier["tenants"][name]["id"] for name in TENANTS]
        people = {
            earlier["admin"]["email"]: earlier["admin"],
            **{earlier["users"][name]["email"]: earlier["users"][name] for name in USERS},
        }
        plain = [api_key_format.parse(earlier["api_keys"][name]) for name in KEYS]
        client_id = earlier["oauth_clients"][CLIENT]["client_id"]
    except (KeyError, TypeError):
        return False
    admin = User.objects.filter(email=earlier["admin"]["email"]).first()
    working = ApiKey.objects.filter(key_id__in=[key.key_id for key in plain if key], status="active")
    return (
        Tenant.objects.filter(pk__in=tenants, status=Tenant.Status.ACTIVE).count() == len(TENANTS)
        and User.objects.filter(email__in=people, is_active=True).count() == len(people)
        and working.count() == len(KEYS)
        and OAuthApplication.objects.filter(client_id=client_id, approved_at__isnull=False).exists()
        and admin is not None
        and check_password(earlier["admin"]["password"], admin.password)
    )


def _password(run: _Seed, user: User, earlier: dict[str, Any]) -> str:
    """Return the password in the file if it is still valid, else set a new one."""
    known = str(earlier.get("password") or "")
    if known and earlier.get("email") == user.email and user.check_password(known):
        return known
    chosen = secrets.token_urlsafe(18)
    user.set_password(chosen)
    user.password_changed_at = run.at
    user.save(update_fields=["password", "password_changed_at"])
    run.made.append(f"password of {user.email}")
    return chosen


def _admin(run: _Seed) -> dict[str, str]:
    email = "admin@demo.example"
    with transaction.atomic():
        user = User.objects.filter(email=email).first() or User.objects.create_superuser(
            email, None, name="Demo Administrator"
        )
        return {"email": email, "password": _password(run, user, run.earlier_object("admin"))}


def _user(run: _Seed, name: str, tenant_name: str, role: str) -> dict[str, str]:
    tenant = run.tenants[tenant_name]
    email = f"{name.replace('_', '-')}@demo.example"
    title = f"Demo {name.replace('_', ' ').title()}"
    with transaction.atomic():
        user = User.objects.filter(email=email).first() or User.objects.create_user(email, None, name=title)
        if not Membership.objects.filter(tenant=tenant, user=user, status__in=LIVE).exists():
            with tenant_context(tenant.id):
                terms = memberships.Terms(roles=(role,), practitioner_id=PRACTITIONERS.get(name))
                memberships.add_member(actor=system_actor(tenant.id), user=user, terms=terms, at=run.at)
        password = _password(run, user, run.earlier_object("users", name))
    return {"email": email, "password": password, "tenant": tenant_name}


def _list_pharmacy(run: _Seed) -> None:
    """Enter the pharmacy's first place in the public directory, once."""
    tenant = run.tenants["pharmacy"]
    with transaction.atomic(), tenant_context(tenant.id):
        places = Location.objects.filter(tenant_id=tenant.id).select_for_update().order_by("created_at", "id")
        if not any(place.listed for place in places):
            update_location(system_actor(tenant.id), places[0], {"listed": True}, run.at)
            run.made.append("entry in the directory of pharmacies")


def _key(run: _Seed, name: str) -> str:
    tenant = run.tenants[name]
    text = str(run.earlier_object("api_keys").get(name) or "")
    plain = api_key_format.parse(text)
    row = ApiKey.objects.filter(key_id=plain.key_id, tenant=tenant, status="active").first() if plain else None
    if plain and row and plain.matches(row.digest):
        return text
    actor = system_actor(tenant.id)
    with tenant_context(tenant.id):
        for old in (
            ApiKey.objects.select_for_update().filter(tenant=tenant, name=KEY_NAME, status="active").order_by("id")
        ):
            revoke_key(actor=actor, key=old, at=run.at)
        values = {"name": KEY_NAME, "partner": tenant.slug, "roles": [SUPPLIER_ADMIN]}
        made = create_key(actor=actor, data=values, at=run.at)
    run.made.append(f"API key of {name}")
    return made.text


def _client(run: _Seed) -> dict[str, str]:
    tenant, earlier = run.tenants["hospital"], run.earlier_object("oauth_clients", CLIENT)
    application = OAuthApplication.objects.filter(client_id=earlier.get("client_id") or "", tenant=tenant).first()
    if application and check_password(str(earlier.get("client_secret")), application.client_secret):
        return {"client_id": str(earlier["client_id"]), "client_secret": str(earlier["client_secret"])}
    with transaction.atomic():
        made = new_client(actor=system_actor(tenant.id), tenant=tenant, name=CLIENT, at=run.at)
    run.made.append(f"OAuth client {CLIENT}")
    return {"client_id": made.client_id, "client_secret": made.client_secret}
