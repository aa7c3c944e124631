"""A tenant's administrators are mailed when an endpoint fails or was disabled: once each, after the commit, with no secret."""

import pytest
from django.core import mail
from django.db import transaction

from core.clock import now, rfc3339
from core.db import tenant_context
from core.ids import parse_uuid
from ledger import public as ledger
from ledger import relay
from ledger.models import Pending
from organizations.models import OutgoingMail
from organizations.signin.mails import MAX_ATTEMPTS
from organizations.signin.tasks import send_mails
from tests import factories
from webhooks import notices
from webhooks.events import EndpointDisabled, EndpointFailing

TROUBLE = {
    "failing_since": "2026-11-19T07:05:00.000Z",
    "failures": 37,
    "waiting": 120,
    "event_type": "order.placed",
    "last_status": 503,
    "last_error": "",
}
SECRET_URL = "https://hooks.example.com/services/T0/B0/verysecretpath?token=alsosecret"


@pytest.fixture
def scene(world):
    """A tenant with two administrators, somebody else, and an endpoint whose address is half a password."""
    people = [factories.member(world.tenant, [role])[0] for role in ("tenant_admin", "supplier_admin")]
    factories.member(world.tenant, ["supplier_user"])
    endpoint = world.endpoint(SECRET_URL, description="Warehouse\nBcc: everybody@example.org")
    mails(world)  # sends what other tests of this database left in the outbox
    return world, sorted(person.email for person in people), endpoint


def tell(world, endpoint, fact):
    with tenant_context(world.tenant.id):
        return ledger.record(actor=world.actor, event=fact, resource_id=parse_uuid(endpoint["id"]), at=now())


def due():
    return OutgoingMail.objects.filter(sent_at=None, due_at__lte=now(), attempts__lt=MAX_ATTEMPTS)


def mails(world):
    mail.outbox.clear()
    while relay.run_once():
        pass
    for _ in range(100):  # rows of other tests that cannot be sent may fill whole batches
        if not due().exists():
            break
        send_mails()
    own = [message for message in mail.outbox if f"administrator of {world.tenant.name}." in message.body]
    return sorted(own, key=lambda message: message.to)


def test_failing_endpoint_is_told_to_each_administrator(scene):
    world, addresses, endpoint = scene
    tell(world, endpoint, EndpointFailing(**TROUBLE))

    found = mails(world)

    assert [message.to for message in found] == [[address] for address in addresses]
    assert {message.subject for message in found} == {"Webhook endpoint is failing: hooks.example.com"}
    text = found[0].body
    for part in (
        "19 November 2026, 07:05 UTC",
        "37",
        "HTTP 503",
        "order.placed",
        "120 deliveries",
        f"/v1/webhooks/{endpoint['id']}",
        world.tenant.name,
        "three days",
    ):
        assert part in text


@pytest.mark.parametrize(("reason", "says"), [("gone", "410 Gone"), ("failing", "accepted nothing since")])
def test_disabled_endpoint_is_told_with_what_to_do(scene, reason, says):
    world, addresses, endpoint = scene
    tell(world, endpoint, EndpointDisabled(reason=reason, by="platform", **TROUBLE))

    found = mails(world)

    assert len(found) == len(addresses)
    assert found[0].subject == "Webhook endpoint was disabled: hooks.example.com"
    assert says in found[0].body
    assert '{"active": true}' in found[0].body


def test_mail_holds_no_secret_and_no_line_of_anybody_else(scene):
    world, _, endpoint = scene
    tell(world, endpoint, EndpointFailing(**TROUBLE | {"last_status": None, "last_error": "connect_timeout"}))

    (message, _) = mails(world)

    for part in ("verysecretpath", "alsosecret", endpoint["secret"], "\nBcc:"):
        assert part not in message.body
    assert "none (connect timeout)" in message.body
    assert set(message.message()) >= {"Subject", "From", "To"}
    assert "Bcc" not in message.message()


def test_fact_told_twice_is_mailed_once(scene):
    world, addresses, endpoint = scene
    fact = tell(world, endpoint, EndpointFailing(**TROUBLE))

    notices.mail_administrators(fact)

    assert len(mails(world)) == len(addresses)
    notices.mail_administrators(fact)
    assert mails(world) == []


def test_fact_that_rolls_back_mails_nobody(scene):
    world, _, endpoint = scene
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        tell(world, endpoint, EndpointFailing(**TROUBLE))
        raise ZeroDivisionError

    assert mails(world) == []


def test_mail_waits_sealed_and_is_wiped_once_sent(scene):
    world, addresses, endpoint = scene
    fact = tell(world, endpoint, EndpointFailing(**TROUBLE))
    before = set(OutgoingMail.objects.values_list("id", flat=True))
    notices.mail_administrators(fact)
    waiting = list(OutgoingMail.objects.filter(kind="notice", sent_at=None).exclude(id__in=before))

    assert len(waiting) == len(addresses)
    assert not any(addresses[0].encode() in bytes(row.sealed_content) for row in waiting)
    mails(world)
    assert not OutgoingMail.objects.filter(id__in=[row.id for row in waiting], sealed_content__isnull=False).exists()


def test_subscriber_that_fails_is_asked_again(scene, monkeypatch):
    world, addresses, endpoint = scene
    with monkeypatch.context() as patch:
        patch.setattr(notices, "_OPENINGS", {})
        tell(world, endpoint, EndpointFailing(**TROUBLE))
        assert mails(world) == []
    with tenant_context(world.tenant.id):
        Pending.objects.filter(tenant_id=world.tenant.id).update(due_at=now())

    assert len(mails(world)) == len(addresses)


def test_person_who_no_longer_administers_is_not_mailed(scene):
    world, addresses, endpoint = scene
    person, _ = factories.member(world.tenant, ["tenant_admin"], valid_until=now())
    assert person.email not in addresses
    tell(world, endpoint, EndpointFailing(**TROUBLE | {"failing_since": rfc3339(now())}))

    assert [message.to for message in mails(world)] == [[address] for address in addresses]
