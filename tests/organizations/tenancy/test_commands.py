"""The commands: JSON for machines, twice without harm, one clear line on a refusal."""

import hashlib
import io
import json
import stat

import pytest
from django.contrib.auth.hashers import check_password
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connections

from core import row_security
from core.db import tenant_context
from organizations.models import ApiKey, Location, Membership, OAuthApplication, Tenant, User
from tests.factories import Api, api_key, member, provision, suffix, user
from tests.fhir_api.clients import Fhir
from tests.organizations.oauth.flows import machine_token


def command(name, *arguments):
    out = io.StringIO()
    call_command(name, *arguments, "--json", stdout=out)
    return json.loads(out.getvalue())


def test_provision_tenant_shows_secrets_at_its_first_run_only():
    arguments = [
        "--slug",
        f"ward-{suffix()}",
        "--name",
        "Ward",
        "--kind",
        "supplier",
        "--admin-email",
        f"a-{suffix()}@example.org",
    ]

    first, second = command("provision_tenant", *arguments), command("provision_tenant", *arguments)

    assert (first["created"], second["created"]) == (True, False)
    assert first["tenant_id"] == second["tenant_id"]
    assert "/oauth/invitation" in first["admin"][0]["invitation"]
    assert Api(key=first["api_key"]).get("/v1/me").json()["data"]["roles"] == ["supplier_admin"]
    client = OAuthApplication.objects.get(client_id=first["oauth_client"]["client_id"])
    assert client.approved_at is not None
    assert check_password(first["oauth_client"]["client_secret"], client.client_secret)
    assert (second["admin"], second["api_key"], second["oauth_client"]) == (None, None, None)


def test_provision_tenant_reads_a_file_and_arguments_win(tmp_path):
    slug, email = f"ward-{suffix()}", f"p-{suffix()}@example.org"
    file = tmp_path / "spec.json"
    members = [{"email": email, "roles": ["prescriber", "tenant_admin"]}]
    file.write_text(json.dumps({"slug": slug, "name": "In the file", "kinds": ["provider"], "members": members}))

    command("provision_tenant", "--file", str(file), "--name", "On the line")

    tenant = Tenant.objects.get(slug=slug)
    assert tenant.name == "On the line"
    assert Membership.objects.get(tenant=tenant, user__email=email).roles == ["prescriber", "tenant_admin"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--slug", "x"], "name: This field is required"),
        (["--slug", "Not a slug", "--name", "x", "--kind", "provider"], "slug"),
        (["--slug", "x", "--name", "x", "--kind", "provider", "--plan", "diamond"], "unknown_plan|no plan"),
        (["--file", "/does/not/exist.json"], "cannot be read"),
    ],
)
def test_provision_tenant_says_in_one_line_what_is_wrong(arguments, words):
    with pytest.raises(CommandError, match=words) as caught:
        command("provision_tenant", *arguments)

    assert "\n" not in str(caught.value)


def test_suspend_and_resume_twice_change_once():
    tenant = provision()

    answers = [
        command(*call)
        for call in (
            ("suspend_tenant", "--tenant", tenant.slug, "--reason", "unpaid"),
            ("suspend_tenant", "--tenant", str(tenant.id)),
            ("resume_tenant", "--tenant", tenant.slug),
            ("resume_tenant", "--tenant", tenant.slug),
        )
    ]

    assert [(answer["status"], answer["changed"]) for answer in answers] == [
        ("suspended", True), ("suspended", False), ("active", True), ("active", False),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["suspend_tenant", "resume_tenant"])
def test_unknown_tenant_is_named(name):
    with pytest.raises(CommandError, match="no tenant 'nowhere'"):
        command(name, "--tenant", "nowhere")


def test_add_member_invites_the_unknown_and_adds_the_known():
    tenant, known = provision(), user(password="correct horse battery staple")
    email = f"new-{suffix()}@example.org"

    invited = command("add_member", "--tenant", tenant.slug, "--email", email, "--role", "prescriber")
    again = command(
        "add_member", "--tenant", tenant.slug, "--email", email.upper(), "--role", "prescriber", "--role", "nurse"
    )
    added = command("add_member", "--tenant", tenant.slug, "--email", known.email, "--role", "nurse")

    assert (invited["status"], bool(invited["invitation"])) == ("invited", True)
    assert (again["roles"], again["changed"], again["invitation"]) == (["prescriber", "nurse"], True, None)
    assert (added["status"], added["invitation"]) == ("active", None)


def test_add_member_refuses_an_unknown_role():
    tenant, email = provision(), f"new-{suffix()}@example.org"

    with pytest.raises(CommandError, match="no role 'wizard'"):
        command("add_member", "--tenant", tenant.slug, "--email", email, "--role", "wizard")

    assert not User.objects.filter(email=email).exists()


def test_issue_and_revoke_api_key():
    tenant = provision("supplier")
    arguments = ["--tenant", tenant.slug, "--name", "ERP", "--scopes", "catalog:read,orders:read", "--expires", "30d"]

    first, second = command("issue_api_key", *arguments), command("issue_api_key", *arguments)
    me = Api(key=first["api_key"]).get("/v1/me").json()["data"]
    revoked = command("revoke_api_key", "--key", first["key_id"])
    again = command("revoke_api_key", "--key", first["api_key"])

    assert me["scopes"] == ["catalog.read", "orders.read"]
    assert (second["id"], second["created"], second["api_key"]) == (first["id"], False, None)
    assert [answer["changed"] for answer in (revoked, again)] == [True, False]
    assert Api(key=first["api_key"]).get("/v1/me").status_code == 401


def test_register_client_makes_apps_and_machines_once():
    tenant, name = provision("provider"), f"Ward app {suffix()}"
    app = ["--name", name, "--scopes", "launch/patient,patient/*.rs,openid", "--redirect-uri", "https://app.example/cb"]
    machine = ["--name", f"{name} feed", "--scopes", "system/*.rs", "--tenant", tenant.slug, "--approve"]

    first, second = command("register_client", *app), command("register_client", *app, "--approve")
    service = command("register_client", *machine)

    assert (first["created"], first["approved"], first["client_secret"]) == (True, False, "")
    assert (second["created"], second["approved"], second["client_id"]) == (False, True, first["client_id"])
    granted = machine_token(OAuthApplication.objects.get(client_id=service["client_id"]), service["client_secret"])
    assert granted.json()["scope"] == "system/*.rs"
    assert Fhir(granted.json()["access_token"]).get("/Patient").status_code == 200


@pytest.mark.parametrize(
    "scopes", [["openid,profile"], ["openid profile"], ["openid", "profile"], ["openid,", "profile"], ["openid, profile"]], ids=str
)  # fmt: skip
def test_scopes_are_separated_by_spaces_or_commas(scopes):
    arguments = ["--name", f"App {suffix()}", "--redirect-uri", "https://app.example/cb", "--scopes", *scopes]
    assert command("register_client", *arguments)["scopes"] == ["openid", "profile"]
    key = ["--tenant", provision("supplier").slug, "--name", "ERP", "--scopes"]
    assert command("issue_api_key", *key, *(one.replace("openid", "catalog:read").replace("profile", "orders:read") for one in scopes))[
        "scopes"
    ] == ["catalog.read", "orders.read"]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Give --redirect-uri"),
        (["--redirect-uri", "https://app.example/cb", "--tenant", "nobody"], "Give --redirect-uri"),
        (["--redirect-uri", "http://app.example/cb"], "http"),
        (["--redirect-uri", "https://app.example/cb", "--scopes", "make.coffee"], "ungrantable_scope"),
        (["--tenant", "nobody-has-this"], "no tenant"),
    ],
)
def test_register_client_refuses_in_one_line(arguments, message):
    with pytest.raises(CommandError, match=message):
        command("register_client", "--name", f"App {suffix()}", "--scopes", "openid", *arguments)


def test_export_writes_every_table_with_its_digest_and_no_foreign_row(tmp_path):
    tenant, other = provision("supplier"), provision("supplier")
    person, _ = member(tenant, ["supplier_user"])
    api_key(tenant)
    member(other)

    command("export_tenant", "--tenant", tenant.slug, "--out", str(tmp_path))

    manifest = json.loads((tmp_path / "manifest.json").read_text())
    for file in manifest["files"]:
        content = (tmp_path / file["name"]).read_bytes()
        assert (hashlib.sha256(content).hexdigest(), len(content)) == (file["sha256"], file["bytes"])
    everything = "".join(path.read_text() for path in tmp_path.iterdir())
    assert person.email in everything
    assert str(other.id) not in everything
    assert ApiKey.objects.get(tenant=tenant).digest not in everything
    assert '"kty"' in (tmp_path / "jwks.json").read_text()


def test_close_waits_for_the_retention_time_and_deletes_then():
    tenant, other = provision("pharmacy"), provision("pharmacy")
    key = api_key(tenant, ["supplier_user"])
    arguments = ["--tenant", tenant.slug, "--confirm", tenant.slug]

    waiting = command("close_tenant", *arguments)
    closed = command("close_tenant", *arguments, "--retention-days", "0")
    again = command("close_tenant", *arguments, "--retention-days", "0")

    assert (waiting["status"], waiting["deleted"]) == ("offboarding", {})
    assert closed["status"] == again["status"] == "closed"
    assert closed["deleted"]["organizations_location"] == 1
    for model in row_security.tenant_models():
        if not row_security.security_of(model).append_only:
            with connections["platform"].cursor() as cursor:
                column = row_security.security_of(model).tenant_column
                cursor.execute(f'SELECT count(*) FROM "{model._meta.db_table}" WHERE "{column}" = %s', [tenant.id])
                assert cursor.fetchone() == (0,), model
    assert Api(key=key).get("/v1/me").status_code == 401
    with tenant_context(other.id):
        assert Location.objects.filter(tenant_id=other.id).count() == 1


def test_close_needs_the_slug_once_more_and_respects_a_legal_hold():
    tenant = provision()

    with pytest.raises(CommandError, match="nothing was done"):
        command("close_tenant", "--tenant", tenant.slug, "--confirm", "another")
    assert Tenant.objects.get(pk=tenant.pk).status == "active"

    Tenant.objects.filter(pk=tenant.pk).update(legal_hold=True)
    with pytest.raises(CommandError, match="legal_hold"):
        command("close_tenant", "--tenant", tenant.slug, "--confirm", tenant.slug, "--retention-days", "0")
    assert Tenant.objects.get(pk=tenant.pk).status == "offboarding"


def test_check_isolation_finds_no_fault():
    answer = command("check_isolation")

    assert (answer["ok"], answer["faults"]) == (True, [])
    assert "organizations_location" in answer["tenant_tables"]


def test_seed_demo_writes_the_file_of_the_contract_and_keeps_what_holds(tmp_path):
    file = tmp_path / "demo.json"

    first = command("seed_demo", "--file", str(file))
    content = file.read_text()
    second = command("seed_demo", "--file", str(file))

    demo = json.loads(content)
    assert (first["changed"], second["changed"]) == (True, False)
    assert file.read_text() == content
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert demo.keys() == {"base_url", "fhir_base_url", "admin", "tenants", "users", "api_keys", "oauth_clients"}
    assert demo["tenants"].keys() == {"hospital", "other_hospital", "pharmacy", "supplier", "other_supplier"}
    assert demo["users"].keys() == {
        "prescriber", "nurse", "pharmacist", "buyer", "approver", "second_approver", "receiving_clerk", "finance", "tenant_admin",
        "auditor", "supplier_admin", "org_admin", "other_prescriber", "other_buyer", "pharmacy_admin",
    }  # fmt: skip
    nurse = demo["users"]["nurse"]
    signed_in = Api().post("/v1/auth/token", json={"email": nurse["email"], "password": nurse["password"]})
    assert signed_in.status_code == 200
    me = Api(token=signed_in.json()["access_token"]).get("/v1/me").json()["data"]
    assert (me["roles"], me["tenant"]["id"]) == (["nurse"], demo["tenants"]["hospital"]["id"])
    assert Api(key=demo["api_keys"]["supplier"]).get("/v1/me").json()["data"]["roles"] == ["supplier_admin"]


def test_seed_demo_without_its_file_makes_new_secrets_for_the_same_world(tmp_path):
    file = tmp_path / "demo.json"
    command("seed_demo", "--file", str(file))
    before = json.loads(file.read_text())
    file.unlink()

    command("seed_demo", "--file", str(file))

    after = json.loads(file.read_text())
    assert after["tenants"] == before["tenants"]
    assert all(after["users"][name]["password"] != before["users"][name]["password"] for name in before["users"])
    assert Api(key=before["api_keys"]["supplier"]).get("/v1/me").status_code == 401
    assert Api(key=after["api_keys"]["supplier"]).get("/v1/me").status_code == 200
