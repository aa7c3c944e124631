"""The ring of keys: rotation, compromise, first keys, and what the database keeps of a key."""

import subprocess
import sys
from datetime import timedelta

import pytest
from django.core.management import CommandError
from django.db import DatabaseError, connection, transaction

from core import pipeline
from core.clock import now
from organizations import signatures, signing_keys
from organizations.models import SigningKey
from organizations.public import KeyPurpose, published, sign, signing_key_call, signing_key_of, verify
from tests.factories import Api, provision
from tests.organizations.signatures.ring import ES, PAYLOAD, TYP, command, header_of, key_set
from tests.races import race


@pytest.mark.parametrize("purpose", ES)
def test_rotation_keeps_the_public_half_and_drops_the_private_one(purpose):
    before = sign(purpose, PAYLOAD, TYP[purpose])
    old = header_of(before)["kid"]

    rotated = command("--purpose", purpose, "--now")

    after = sign(purpose, PAYLOAD, TYP[purpose])
    assert rotated == {
        "kid": header_of(after)["kid"],
        "purpose": purpose,
        "rotated": True,
        "published": [key.kid for key in published(purpose)],
    }
    assert old != rotated["kid"] == rotated["published"][0]
    row = SigningKey.objects.get(pk=old)
    assert (row.status, row.sealed_pem) == ("retired", None)
    later = signing_keys.retire_expired(at=now() + timedelta(days=4000))
    assert later == 0
    found = verify(purpose, before)
    assert (found.signature_ok, found.payload, found.retired_at) == (True, PAYLOAD, row.retired_at)
    assert {old, rotated["kid"]} <= {key["kid"] for key in key_set().json()["keys"]}


def test_rotation_of_one_purpose_leaves_the_others():
    before = {purpose: signing_keys.active_key(purpose).kid for purpose in KeyPurpose.values}

    command("--purpose", "checkpoint", "--now")

    after = {purpose: signing_keys.active_key(purpose).kid for purpose in KeyPurpose.values}
    assert [purpose for purpose in before if before[purpose] != after[purpose]] == ["checkpoint"]


def test_a_process_that_cached_the_former_key_notices_in_the_trip_of_its_write():
    old = signing_keys.active_key("snapshot")
    stale = signing_keys._cache.ring
    command("--purpose", "snapshot", "--now")
    signing_keys._cache.ring = stale  # what another process still holds

    (rows,) = pipeline.run([signing_key_call("snapshot")])
    text = sign("snapshot", PAYLOAD, TYP["snapshot"], kid=signing_key_of(rows))

    assert header_of(text)["kid"] == signing_key_of(rows) != old.kid


@pytest.fixture
def listed():
    signatures.register_signatures("snapshot", lambda kid: [{"prescription_id": "p1", "kid": kid}])
    yield
    signatures._listers.pop("snapshot")


def test_a_compromised_key_is_replaced_marked_and_unpublished(listed):
    text = sign("snapshot", PAYLOAD, TYP["snapshot"])
    leaked = header_of(text)["kid"]

    told = command("--purpose", "snapshot", f"--compromised={leaked}")

    assert (told["rotated"], told["compromised"], told["signed_count"]) == (True, leaked, 1)
    assert told["signed"] == [{"prescription_id": "p1", "kid": leaked}]
    row = SigningKey.objects.get(pk=leaked)
    assert (row.status, row.sealed_pem) == ("retired", None)
    assert row.compromised_at == row.retired_at
    assert leaked not in {key["kid"] for key in key_set().json()["keys"]}
    found = verify("snapshot", text)
    assert (found.signature_ok, found.compromised_at) == (True, row.compromised_at)
    again = command("--purpose", "snapshot", f"--compromised={leaked}")
    assert (again["rotated"], again["compromised_at"]) == (False, told["compromised_at"])


def test_without_a_list_the_command_says_so(monkeypatch):
    monkeypatch.delitem(signatures._listers, "checkpoint")  # as in a service without the app that registers it
    kid = signing_keys.active_key("checkpoint").kid

    told = command("--purpose", "checkpoint", f"--compromised={kid}")

    assert told["signed"] is None
    assert told["note"] == "No app of this service lists what keys for checkpoint sign."


def test_a_key_of_another_purpose_is_not_marked():
    kid = signing_keys.active_key("checkpoint").kid

    with pytest.raises(CommandError, match="unknown_signing_key"):
        command("--purpose", "snapshot", f"--compromised={kid}")

    assert SigningKey.objects.get(pk=kid).compromised_at is None


def test_tokens_of_a_compromised_key_stop_at_once():
    kid = signing_keys.active_key().kid

    told = command(f"--compromised={kid}")

    assert (told["rotated"], told["signed"]) == (True, None)
    assert signing_keys.verifying_key(kid) is None
    assert kid not in told["published"]


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM organizations_signingkey WHERE kid = %s",
        "UPDATE organizations_signingkey SET public_pem = 'x' WHERE kid = %s",
        "UPDATE organizations_signingkey SET purpose = 'checkpoint' WHERE kid = %s",
        "UPDATE organizations_signingkey SET created_at = created_at - interval '1 day' WHERE kid = %s",
        "UPDATE organizations_signingkey SET status = 'active' WHERE kid = %s",
        "UPDATE organizations_signingkey SET retired_at = NULL WHERE kid = %s",
        "UPDATE organizations_signingkey SET compromised_at = NULL WHERE kid = %s",
        "UPDATE organizations_signingkey SET sealed_pem = 'x' WHERE kid = %s",
    ],
)
def test_the_database_keeps_what_is_known_of_a_key(change):
    kid = signing_keys.active_key("snapshot").kid
    command("--purpose", "snapshot", f"--compromised={kid}")
    before = SigningKey.objects.filter(pk=kid).values().get()

    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(change, [kid])

    assert SigningKey.objects.filter(pk=kid).values().get() == before


def test_one_key_is_active_for_each_purpose():
    signing_keys.ensure_keys()

    with pytest.raises(DatabaseError), transaction.atomic():
        SigningKey.objects.create(kid="second", purpose="snapshot", algorithm="ES256", status="active", public_pem="x")


def test_the_key_set_may_be_cached_as_that_of_tokens():
    ours, theirs = key_set(), Api().get("/oauth/.well-known/jwks.json")

    for name in ("Cache-Control", "Access-Control-Allow-Origin", "Content-Type"):
        assert ours.headers[name] == theirs.headers[name]
    assert {key["alg"] for key in theirs.json()["keys"]} == {"RS256"}
    assert {key["alg"] for key in ours.json()["keys"]} == {"ES256"}


def test_a_new_tenant_finds_keys_of_every_purpose():
    provision()

    active = SigningKey.objects.filter(status="active").values_list("purpose", flat=True)
    assert sorted(active) == sorted(KeyPurpose.values)


def _without_active_keys():
    """Leave the platform without an active snapshot key, as a new one is."""
    SigningKey.objects.filter(purpose="snapshot", status="active").update(
        status="retired", retired_at=now(), sealed_pem=None
    )
    signing_keys.forget_cached_keys()


def test_the_first_key_outlives_the_transaction_in_which_it_was_needed():
    _without_active_keys()

    with pytest.raises(RuntimeError, match="rolled back"), transaction.atomic():
        text = sign("snapshot", PAYLOAD, TYP["snapshot"])
        raise RuntimeError("rolled back")

    signing_keys.forget_cached_keys()
    assert verify("snapshot", text).signature_ok


def test_two_processes_make_one_first_key():
    _without_active_keys()
    script = (
        "import django; django.setup()\n"
        "from organizations.public import sign\n"
        "print(sign('snapshot', b'x', 'prescription-snapshot+jws'))"
    )
    both = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    texts = [one.communicate(timeout=60)[0].strip() for one in both]

    assert [one.returncode for one in both] == [0, 0]
    kids = {header_of(text)["kid"] for text in texts}
    assert kids == {SigningKey.objects.get(purpose="snapshot", status="active").kid}
    assert all(verify("snapshot", text).signature_ok for text in texts)


def test_rotation_during_use_loses_no_signature():
    def signing():
        return [sign("snapshot", PAYLOAD, TYP["snapshot"]) for _ in range(150)]

    def rotating():
        for _ in range(5):
            with transaction.atomic():
                signing_keys.rotate(at=now(), purpose="snapshot")
        return []

    found = race(signing, rotating, signing, rotating, signing)

    assert not [one for one in found if isinstance(one, Exception)]
    texts = [text for one in found for text in one]
    signing_keys.forget_cached_keys()
    assert all(verify("snapshot", text).payload == PAYLOAD for text in texts)
    assert SigningKey.objects.filter(purpose="snapshot", status="active").count() == 1
