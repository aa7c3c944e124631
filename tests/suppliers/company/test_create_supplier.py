"""`manage.py create_supplier`: what it makes, that a second run keeps it, and what it refuses."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import transaction

from core.actor import system_actor
from core.clock import now
from core.db import tenant_context
from organizations.models import Tenant
from suppliers.company import qualification
from suppliers.company.queries import locked_profile
from tests.factories import Api, provision, suffix
from tests.suppliers.company.profiles import stored, told


def run(*options: str) -> dict[str, Any]:
    written = StringIO()
    call_command("create_supplier", *options, "--json", stdout=written)
    found: dict[str, Any] = json.loads(written.getvalue())
    return found


def options(slug: str) -> list[str]:
    return [
        "--slug", slug, "--name", "Nordic Supplies", "--country", "NO", "--registration", "DUNS:15-048-3782",
        "--registration", "national:NO 993 467 049", "--qualify",
    ]  # fmt: skip


def test_supplier_is_created_once() -> None:
    slug = f"s-{suffix()}"

    first, second = run(*options(slug)), run(*options(slug))

    tenant = Tenant.objects.get(slug=slug)
    row = stored(tenant)
    assert row is not None
    assert (first["created"], second["created"], second["api_key"]) == (True, False, None)
    assert (first["legal_name"], first["qualification_status"]) == ("Nordic Supplies", "qualified")
    assert row.registrations == [
        {"scheme": "DUNS", "value": "150483782"}, {"scheme": "national", "value": "NO 993 467 049"},
    ]  # fmt: skip
    assert (row.country, row.version) == ("NO", 4)
    assert [fact.type for fact in told(tenant)] == ["supplier.updated", "supplier.updated", "supplier.qualified"]
    assert Api(key=first["api_key"]).get("/v1/suppliers/me").json()["data"]["qualification_status"] == "qualified"


def test_later_run_changes_nothing_that_was_decided() -> None:
    slug = f"s-{suffix()}"
    run(*options(slug))
    tenant = Tenant.objects.get(slug=slug)
    with transaction.atomic(), tenant_context(tenant.id):
        actor = system_actor(tenant.id)
        qualification.suspend(actor, locked_profile(actor), now())

    again = run("--tenant", slug, "--legal-name", "Other", "--country", "SE", "--qualify")

    assert (again["legal_name"], again["qualification_status"]) == ("Nordic Supplies", "suspended")


def test_tenant_that_exists_gets_its_profile() -> None:
    tenant = provision("supplier", qualified=False)

    found = run("--tenant", str(tenant.id), "--country", "DE")

    assert (found["tenant_id"], found["legal_name"], found["qualification_status"]) == (
        str(tenant.id), tenant.name, "registered",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "Give --slug or --tenant."), (["--slug", "a", "--tenant", "b"], "Give --slug or --tenant."),
        (["--tenant", "nobody-there"], "There is no tenant"),
        (["--slug", "new-one", "--name", "N", "--country", "ZZ"], "country"),
        (["--slug", "new-one", "--name", "N", "--registration", "LEI:1"], "registrations.0.value"),
        (["--slug", "new-one", "--name", "N", "--registration", "nothing"], "registrations.0"),
        (["--slug", "new-one"], "name"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(given: list[str], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        run(*given)

    assert not Tenant.objects.filter(slug="new-one").exists()


def test_supplier_that_lacks_something_is_not_qualified() -> None:
    tenant = provision("supplier", qualified=False)

    with pytest.raises(CommandError, match="qualification_incomplete"):
        run("--tenant", tenant.slug, "--qualify")

    assert stored(tenant) is None


def test_hospital_gets_no_profile() -> None:
    tenant = provision("provider")

    with pytest.raises(CommandError, match="no supplier"):
        run("--tenant", tenant.slug)

    assert stored(tenant) is None
