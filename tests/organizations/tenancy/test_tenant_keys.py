"""The keys of tenants: what they seal, where it opens, and that nothing opens it once the tenant is closed."""

import json
import subprocess
import sys
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import DatabaseError, transaction

from core import pipeline
from core.clock import now
from core.crypto import SealBroken
from core.db import tenant_context
from core.ids import uuid7
from organizations import tenant_keys
from organizations.models import TenantKey
from organizations.public import KeyDestroyed, keep_tenant_key, seal, tenant_key_call, unseal
from tests.factories import provision

PLAIN = "Zoë: 30 tablets".encode()
PLACE = uuid7().bytes
FOR = {"purpose": "snapshot", "place": PLACE}


@pytest.fixture
def trips():
    """The seconds of every round trip of the pipeline."""
    seen = []
    pipeline.observers.append(seen.append)
    yield seen
    pipeline.observers.remove(seen.append)


def close(tenant):
    call_command(
        "close_tenant", "--tenant", tenant.slug, "--confirm", tenant.slug, "--retention-days", "0", stdout=StringIO()
    )


def test_a_sealed_value_opens_at_its_place_alone():
    tenant, other = provision(), provision()
    sealed = seal(tenant.id, PLAIN, **FOR)

    assert PLAIN not in sealed
    assert unseal(tenant.id, sealed, **FOR) == PLAIN
    assert seal(tenant.id, PLAIN, **FOR) != sealed
    for where, what, how in (
        (other.id, sealed, FOR),
        (tenant.id, sealed, {**FOR, "purpose": "file"}),
        (tenant.id, sealed, {**FOR, "place": uuid7().bytes}),
        (tenant.id, sealed[:-1] + bytes([sealed[-1] ^ 1]), FOR),
        (tenant.id, b"", FOR),
    ):
        with pytest.raises(SealBroken):
            unseal(where, what, **how)


def test_provisioning_creates_the_key_and_the_table_does_not_show_it():
    tenant = provision()

    row = TenantKey.objects.get(tenant_id=tenant.id)
    assert len(bytes(row.sealed_key)) > 32 + 16
    with pytest.raises(SealBroken):
        tenant_keys._opened(uuid7(), bytes(row.sealed_key).hex())


def test_a_key_in_memory_costs_no_trip(trips):
    tenant = provision()
    seal(tenant.id, PLAIN, **FOR)
    trips.clear()

    unseal(tenant.id, seal(tenant.id, PLAIN, **FOR), **FOR)

    assert trips == []


def test_a_key_can_be_read_in_the_trip_of_another_tenant(trips):
    owner, pharmacy = provision(), provision("pharmacy")
    tenant_keys.forget_tenant_keys()
    with tenant_context(owner.id):
        trips.clear()
        both = pipeline.run([tenant_key_call(owner.id), tenant_key_call(pharmacy.id)])
        for tenant, rows in zip((owner, pharmacy), both, strict=True):
            keep_tenant_key(tenant.id, rows)
        sealed = [seal(tenant.id, PLAIN, **FOR) for tenant in (owner, pharmacy)]

        assert len(trips) == 1

    assert unseal(pharmacy.id, sealed[1], **FOR) == PLAIN


def _without_key():
    """Provision a tenant as it was before tenants had keys; the trigger keeps rows, so the step is left out."""
    from organizations.actions import provisioning

    steps = dict(provisioning._STEPS)
    provisioning._STEPS.pop("tenant_key")
    try:
        return provision()
    finally:
        provisioning._STEPS.clear()
        provisioning._STEPS.update(steps)


def test_the_first_key_outlives_the_transaction_in_which_it_was_needed():
    tenant = _without_key()

    with pytest.raises(RuntimeError, match="rolled back"), transaction.atomic():
        sealed = seal(tenant.id, PLAIN, **FOR)
        raise RuntimeError("rolled back")

    tenant_keys.forget_tenant_keys()
    assert unseal(tenant.id, sealed, **FOR) == PLAIN


def test_two_processes_seal_under_one_first_key():
    tenant = _without_key()
    script = (
        "import django; django.setup()\n"
        "from uuid import UUID\n"
        "from organizations.public import seal\n"
        f"print(seal(UUID('{tenant.id}'), b'x', purpose='snapshot', place=b'p').hex())"
    )
    both = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    texts = [bytes.fromhex(one.communicate(timeout=60)[0].strip()) for one in both]

    assert [unseal(tenant.id, text, purpose="snapshot", place=b"p") for text in texts] == [b"x", b"x"]
    assert TenantKey.objects.filter(tenant_id=tenant.id).count() == 1


def test_closing_a_tenant_destroys_its_key_for_good():
    tenant, other = provision(), provision()
    sealed = seal(tenant.id, PLAIN, **FOR)
    theirs = seal(other.id, PLAIN, **FOR)

    close(tenant)

    row = TenantKey.objects.get(tenant_id=tenant.id)
    assert (row.sealed_key, row.destroyed_at is not None) == (None, True)
    with pytest.raises(KeyDestroyed):
        unseal(tenant.id, sealed, **FOR)
    with pytest.raises(KeyDestroyed):
        seal(tenant.id, PLAIN, **FOR)
    assert unseal(other.id, theirs, **FOR) == PLAIN


def test_a_tenant_that_never_had_a_key_gets_none_after_it_is_closed():
    tenant = _without_key()

    close(tenant)

    with pytest.raises(KeyDestroyed):
        seal(tenant.id, PLAIN, **FOR)
    with transaction.atomic():
        assert not tenant_keys.create_key(tenant.id, at=now())


def test_the_database_keeps_destroyed_keys_destroyed():
    tenant, open_tenant = provision(), provision()
    close(tenant)

    for change in (
        lambda: TenantKey.objects.filter(tenant_id=tenant.id).update(sealed_key=b"x", destroyed_at=None),
        lambda: TenantKey.objects.filter(tenant_id=open_tenant.id).update(sealed_key=None),
        lambda: TenantKey.objects.filter(tenant_id=open_tenant.id)._raw_delete("default"),
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()

    assert TenantKey.objects.get(tenant_id=tenant.id).sealed_key is None
    assert TenantKey.objects.get(tenant_id=open_tenant.id).sealed_key is not None


def test_the_export_of_a_tenant_holds_no_key(tmp_path):
    tenant = provision()
    seal(tenant.id, PLAIN, **FOR)
    key = bytes(TenantKey.objects.get(tenant_id=tenant.id).sealed_key)

    out = StringIO()
    call_command("export_tenant", "--json", "--tenant", tenant.slug, "--out", str(tmp_path / "out"), stdout=out)

    assert json.loads(out.getvalue())
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and key.hex().encode() in file.read_bytes()]
