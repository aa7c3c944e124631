"""What the staff's roles, the acting tenant, the sign-in and the exports let happen, and what not."""

import csv
import io
from datetime import timedelta
from io import StringIO

import pyotp
import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from core.clock import now
from core.db import tenant_context
from ledger.models import Event
from organizations.models import ApiKey, ApiKeyUse, Location, SecurityLogEntry, SignInSession, Tenant, User
from organizations.oauth import clients
from organizations.signin import totp
from organizations.staff import acting_tenant, exports, sign_in
from organizations.staff.roles import Permission, does
from tests import factories
from tests.admin.people import PASSWORD, REASON, act_in, signed_in, staff, world
from tests.factories import Client

REASONED = {"reason": REASON}


def events_of(person: User) -> list[str]:
    rows = Event.objects.using("platform").filter(subject_id=person.pk).order_by("occurred_at", "id")
    return list(rows.values_list("type", flat=True))


@pytest.mark.parametrize("role", ["support", "supply", "finance", "security"])
def test_button_needs_the_deed(role: str) -> None:
    tenant, person = factories.provision(), staff(role)
    browser = signed_in(person=person)

    answer = browser.post(f"/admin/organizations/tenant/{tenant.pk}/do/suspend/", REASONED)

    allowed = does(person, Permission.STOP_TENANTS)
    assert answer.status_code == (302 if allowed else 403)
    assert Tenant.objects.get(pk=tenant.pk).status == ("suspended" if allowed else "active")


@pytest.mark.parametrize("role", ["support", "supply", "finance", "security"])
def test_only_administrators_provision(role: str) -> None:
    slug = f"never-{factories.suffix()}"

    answer = signed_in(role).post(
        "/admin/organizations/tenant/add/", {"name": "N", "slug": slug, "kinds": "provider", **REASONED}
    )

    assert answer.status_code == 403
    assert not Tenant.objects.filter(slug=slug).exists()


@pytest.mark.parametrize("reason", ["", "no", "x" * 301])
def test_button_needs_a_reason(reason: str) -> None:
    tenant = factories.provision()

    answer = signed_in().post(f"/admin/organizations/tenant/{tenant.pk}/do/suspend/", {"reason": reason})

    assert answer.status_code == 200
    assert Tenant.objects.get(pk=tenant.pk).status == "active"


def test_suspension_tells_the_tenant_who_and_why() -> None:
    tenant, person = factories.provision(), staff("security")

    signed_in(person=person).post(f"/admin/organizations/tenant/{tenant.pk}/do/suspend/", REASONED)

    told = Event.objects.using("platform").filter(tenant_id=tenant.pk, subject_id=person.pk)
    found = {row.type: row.data for row in told}
    assert sorted(found) == ["staff_action.performed", "tenant.suspended"]
    assert found["staff_action.performed"] == {
        "action": "tenant.suspend",
        "target_type": "tenant",
        "target_id": str(tenant.pk),
        "staff_role": "security",
        "reason": REASON,
    }


def test_refused_button_changes_and_records_nothing() -> None:
    tenant, person = factories.provision(), staff()
    browser = signed_in(person=person)

    answer = browser.post(f"/admin/organizations/tenant/{tenant.pk}/do/resume/", REASONED)

    assert answer.status_code == 200
    assert "does not allow" in answer.content.decode()
    assert events_of(person) == []


def test_ending_needs_the_name_typed() -> None:
    tenant = factories.provision()
    browser = signed_in()
    path = f"/admin/organizations/tenant/{tenant.pk}/do/offboard/"

    browser.post(path, {**REASONED, "confirmation": "another name"})
    assert Tenant.objects.get(pk=tenant.pk).status == "active"
    browser.post(path, {**REASONED, "confirmation": tenant.name})
    assert Tenant.objects.get(pk=tenant.pk).status == "offboarding"


@pytest.mark.parametrize("kind", ["change", "delete"])
def test_forms_change_nothing(kind: str) -> None:
    tenant = factories.provision(name="As it was")

    answer = signed_in().post(f"/admin/organizations/tenant/{tenant.pk}/{kind}/", {"name": "Changed", "post": "yes"})

    assert answer.status_code == 403
    assert Tenant.objects.get(pk=tenant.pk).name == "As it was"


def test_acting_tenant_needs_a_reason_and_is_told() -> None:
    tenant, person = factories.provision(), staff("support")
    browser = signed_in(person=person)

    answer = browser.post("/admin/acting-tenant/", {"tenant": str(tenant.pk), "reason": ""})
    assert answer.status_code == 200
    assert events_of(person) == []
    act_in(browser, tenant)

    assert events_of(person) == ["staff_access.started"]
    assert SecurityLogEntry.objects.filter(
        code="staff_access_started", tenant_id=tenant.pk, subject=str(person.pk)
    ).exists()


def test_acting_tenant_is_over_after_its_time() -> None:
    tenant = factories.provision()
    browser = signed_in()
    act_in(browser, tenant)
    session = browser.session
    session["acting_tenant"] = {**session["acting_tenant"], "until": (now() - timedelta(seconds=1)).isoformat()}
    session.save()

    assert timedelta(minutes=30) == acting_tenant.LASTS
    assert browser.get("/admin/organizations/location/").status_code == 302


def test_foreign_rows_stay_out_of_lists_pages_and_exports() -> None:
    mine, theirs = world("Mine"), world("Theirs")
    browser = signed_in()
    act_in(browser, mine.tenant)

    listed = browser.get("/admin/organizations/location/").content.decode()
    exported = browser.get("/admin/organizations/location/export/").content.decode()
    page = browser.get(f"/admin/organizations/location/{theirs.location.pk}/change/")
    events = browser.get("/admin/ledger/event/", {"q": str(theirs.tenant.pk)}).content.decode()

    assert mine.location.name in listed
    assert theirs.location.name not in listed + exported + events
    assert page.status_code == 302


def test_database_keeps_foreign_rows_out_without_the_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    from organizations.staff.tenant_admin import StaffAdmin, TenantAdmin

    mine, theirs = world("Mine"), world("Theirs")
    browser = signed_in()
    act_in(browser, mine.tenant)
    monkeypatch.setattr(TenantAdmin, "get_queryset", StaffAdmin.get_queryset)

    for name in ("location", "quota", "entitlement"):
        listed = browser.get(f"/admin/organizations/{name}/").content.decode()
        assert str(theirs.tenant.pk) not in listed
        assert theirs.location.name not in listed
    assert browser.get(f"/admin/organizations/location/{theirs.location.pk}/change/").status_code == 302


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "=cmd|' /C calc'!A0", " =1", "＝1"])
def test_export_neutralises_formulas(start: str) -> None:
    tenant = factories.provision()
    with tenant_context(tenant.id):
        Location.objects.create(tenant_id=tenant.id, name=f"{start}1+1", type="site")
    browser = signed_in()
    act_in(browser, tenant)

    text = browser.get("/admin/organizations/location/export/").content.decode()

    names = [row[0] for row in csv.reader(io.StringIO(text, newline=""))]
    assert f"'{start}1+1" in names
    assert not any(name.startswith(exports._STARTS_A_FORMULA) for name in names)


def test_session_ends_when_idle() -> None:
    browser = signed_in()
    assert browser.get("/admin/").status_code == 200
    session = browser.session
    session["staff_seen_at"] = now().timestamp() - sign_in.IDLE.total_seconds() - 1
    session.save()

    answer = browser.get("/admin/")

    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/admin/login/")


def test_session_of_another_page_is_no_admin_session() -> None:
    person, browser = staff(), Client()
    browser.force_login(person)

    assert browser.get("/admin/").status_code == 302


def test_second_factor_is_asked() -> None:
    person = staff()
    with transaction.atomic():
        secret, _ = totp.enroll(person, may_replace=False, at=now())
    totp.prove(person.pk, code=pyotp.TOTP(secret).at(now() - timedelta(seconds=30)), at=now(), first_use=True)
    browser, given = Client(), {"username": person.email, "password": PASSWORD}

    assert browser.post("/admin/login/", given).status_code == 200
    assert browser.post("/admin/login/", {**given, "code": pyotp.TOTP(secret).now()}).status_code == 302


def test_lost_role_ends_the_access_at_once() -> None:
    person = staff()
    browser = signed_in(person=person)
    assert browser.get("/admin/").status_code == 200

    User.objects.filter(pk=person.pk).update(is_staff=False, staff_role="")

    assert browser.get("/admin/").status_code == 302


def test_nobody_changes_the_own_account() -> None:
    person = staff()
    browser = signed_in(person=person)

    for button, data in (("deactivate", {}), ("appoint", {"role": "support"})):
        answer = browser.post(f"/admin/organizations/user/{person.pk}/do/{button}/", {**REASONED, **data})
        assert "your own account" in answer.content.decode()

    person.refresh_from_db()
    assert (person.is_active, person.staff_role) == (True, "administrator")


def test_own_new_password_ends_every_session() -> None:
    person = staff()
    browser = signed_in(person=person)
    at = now()
    values = {"client_id": "app", "acr": "password", "authenticated_at": at, "last_used_at": at}
    SignInSession.objects.create(user=person, expires_at=at + timedelta(days=1), **values)
    fresh = "another horse battery staple 8"

    answer = browser.post(
        "/admin/password_change/", {"old_password": PASSWORD, "new_password1": fresh, "new_password2": fresh}
    )

    assert answer.status_code == 302, answer.content[-1500:]
    person.refresh_from_db()
    assert person.check_password(fresh)
    assert not SignInSession.objects.filter(user=person, ended_at__isnull=True).exists()


def test_no_secret_reaches_a_page() -> None:
    one = world()
    with transaction.atomic():
        client, secret = clients.register_application(
            name="Shown",
            redirect_uris=["https://app.example.org/"],
            allowed_scopes=["openid"],
            confidential=True,
            at=now(),
        )
    browser = signed_in()
    digest = ApiKey.objects.get(pk=one.key.pk).digest

    key_page = browser.get(f"/admin/organizations/apikey/{one.key.pk}/change/").content.decode()
    client_page = browser.get(f"/admin/organizations/oauthapplication/{client.pk}/change/").content.decode()

    assert one.key.key_id in key_page
    assert client.client_id in client_page
    for hidden in (one.secret, digest):
        assert hidden not in key_page
    client.refresh_from_db()
    for hidden in (secret, client.client_secret):
        assert hidden not in client_page


def test_unused_keys_are_found() -> None:
    one = world()
    long_ago = now() - timedelta(days=91)
    ApiKeyUse.objects.create(api_key=one.key, tenant_id=one.key.tenant_id, last_used_at=long_ago, usage_count=1)

    unused = signed_in().get("/admin/organizations/apikey/", {"use": "unused"}).content.decode()

    assert one.key.key_id in unused


@pytest.mark.parametrize("name", ["membership", "apikey", "tenant", "user", "organization"])
def test_lists_take_the_same_statements_for_more_rows(name: str) -> None:
    world()
    browser = signed_in()
    browser.get(f"/admin/organizations/{name}/")
    with CaptureQueriesContext(connection) as few:
        browser.get(f"/admin/organizations/{name}/")
    world()
    world()
    with CaptureQueriesContext(connection) as more:
        browser.get(f"/admin/organizations/{name}/")

    assert len(more) == len(few)


def test_create_staff_is_idempotent(monkeypatch: pytest.MonkeyPatch) -> None:
    email, first, second = f"new-{factories.suffix()}@example.org", StringIO(), StringIO()
    arguments = ("--email", email, "--role", "support", "--json")

    call_command("create_staff", *arguments, stdout=first)
    call_command("create_staff", *arguments, stdout=second)

    person = User.objects.get(email=email)
    assert (person.is_staff, person.staff_role, person.is_superuser) == (True, "support", False)
    assert '"created": true' in first.getvalue()
    assert '"password": null' not in first.getvalue()
    assert '"changed": false' in second.getvalue()
    assert '"password": null' in second.getvalue()
