"""Mails about notifications: to whom, when, together or alone, and each once."""

import json
import logging
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction

from core.crypto import key_ring
from core.db import tenant_context
from organizations.models import OutgoingMail
from organizations.signin.mails import _PURPOSE
from suppliers.notifications.mails import send_batch, send_mails
from suppliers.notifications.models import NotificationMail
from tests import factories
from tests.races import race
from tests.suppliers.notifications.inbox import PREFERENCES, data, gone, message, raised, reserved, rows

SEEN = set()
DAY = datetime(2030, 1, 10, 12, tzinfo=UTC)
NIGHT = datetime(2030, 1, 10, 22, tzinfo=UTC)
QUIET = {"quiet_hours": {"from": "20:00", "to": "07:00", "timezone": "UTC"}}


@pytest.fixture
def admins(shelf):
    """The administrators of the supplier; its client's member is the first of them."""
    people = [factories.member(shelf.tenant, ["tenant_admin"])[0]]
    factories.member(shelf.tenant, ["supplier_user"])
    return people


def queued(shelf):
    """What waits to be sent to the administrators of a tenant, since the last call: address, subject and text."""
    found = []
    for row in OutgoingMail.objects.filter(kind="notice", sent_at=None).order_by("created_at", "id"):
        content = json.loads(key_ring().open(bytes(row.sealed_content), purpose=_PURPOSE, place=row.id.bytes))
        if content["tenant"] == shelf.tenant.name and row.id not in SEEN:
            SEEN.add(row.id)
            found.append((content["to"], content["subject"], content["text"]))
    return sorted(found)


def sent(shelf, admins):
    """Subjects and texts of what one administrator gets."""
    return [(subject, text) for address, subject, text in queued(shelf) if address == admins[0].email]


def settle(shelf, **body):
    data(shelf.api.put(PREFERENCES, json=body))


def test_alert_is_mailed_at_once_to_each_administrator(shelf, admins):
    row = raised(shelf, at=DAY)
    send_mails(at=DAY)
    found = queued(shelf)
    assert len({address for address, _, _ in found}) == len(found) == 2
    assert {subject for _, subject, _ in found} == {"Low"}
    assert all("Little is left." in text and f"/v1/notifications/{row.id}" in text for _, _, text in found)
    assert rows(shelf, NotificationMail) == []


def test_mail_waits_for_the_end_of_the_quiet_hours(shelf, admins):
    settle(shelf, **QUIET)
    raised(shelf, at=NIGHT)
    for at in (NIGHT, NIGHT, NIGHT + timedelta(hours=8, minutes=59)):
        send_mails(at=at)
        assert sent(shelf, admins) == []
    (waiting,) = rows(shelf, NotificationMail)
    assert waiting.due_at == NIGHT + timedelta(hours=9)
    send_mails(at=NIGHT + timedelta(hours=9))
    assert [subject for subject, _ in sent(shelf, admins)] == ["Low"]


@pytest.mark.parametrize("kind", ["recall", "temperature_excursion", "key_compromised"])
def test_safety_alerts_go_at_once_and_alone(shelf, admins, kind):
    settle(shelf, digest="daily", **QUIET)
    raised(shelf, kind, "s1", at=NIGHT, title="Danger")
    raised(shelf, "low_stock", "s2", at=NIGHT)
    send_mails(at=NIGHT)
    assert [subject for subject, _ in sent(shelf, admins)] == ["[warning] Danger"]


def test_digest_tells_all_of_a_day_in_one_mail(shelf, admins):
    settle(shelf, digest="daily", **QUIET)
    for number in range(3):
        raised(shelf, subject=f"s{number}", at=DAY + timedelta(hours=number), title=f"Low {number}")
        send_mails(at=DAY + timedelta(hours=number))
    assert sent(shelf, admins) == []
    gone(shelf, subject="s1")
    send_mails(at=DAY + timedelta(hours=19))
    ((subject, body),) = sent(shelf, admins)
    assert subject == "2 notifications"
    assert "Low 0" in body
    assert "Low 1" not in body
    assert "Low 2" in body


def test_hourly_digest_goes_at_the_full_hour(shelf, admins):
    settle(shelf, digest="hourly")
    raised(shelf, at=DAY + timedelta(minutes=20))
    send_mails(at=DAY + timedelta(minutes=59))
    assert sent(shelf, admins) == []
    send_mails(at=DAY + timedelta(hours=1))
    assert len(sent(shelf, admins)) == 1


def test_channel_that_is_off_sends_nothing_even_what_waits(shelf, admins):
    settle(shelf, digest="daily")
    raised(shelf, at=DAY)
    settle(shelf, types={"low_stock": {"email": False}})
    raised(shelf, subject="s2", at=DAY)
    assert len(rows(shelf, NotificationMail)) == 1
    send_mails(at=DAY)
    assert sent(shelf, admins) == []
    assert rows(shelf, NotificationMail) == []


def test_job_twice_and_in_workers_at_once_mails_once(shelf, admins):
    for number in range(6):
        raised(shelf, "recall", f"s{number}", at=DAY, title=f"Danger {number}")
    race(*[lambda: send_batch(shelf.id, DAY)] * 4)
    send_batch(shelf.id, DAY)
    send_mails(at=DAY)
    assert sorted(subject for subject, _ in sent(shelf, admins)) == [
        f"[warning] Danger {number}" for number in range(6)
    ]
    assert rows(shelf, NotificationMail) == []


def test_mail_of_a_message_tells_neither_text_nor_writer(shelf, buyer, admins, caplog):
    document = reserved(shelf, buyer)
    caplog.set_level(logging.DEBUG)
    data(message(buyer.api, document, "Very secret words"), 201)
    (row,) = rows(shelf)
    assert rows(buyer, NotificationMail) == []  # nobody is told of an own message
    send_mails(at=row.created_at)
    ((subject, body),) = sent(shelf, admins)
    assert subject == f"{buyer.tenant.name} has written to you: Message about a reservation"
    assert "Very secret words" not in body + subject + caplog.text
    assert f"/v1/notifications/{row.id}" in body


def test_closed_tenant_is_mailed_nothing(shelf, admins):
    raised(shelf, at=DAY)
    for status in ("offboarding", "closed"):
        type(shelf.tenant).objects.filter(pk=shelf.id).update(status=status)
    before = OutgoingMail.objects.count()
    send_mails(at=DAY)
    assert OutgoingMail.objects.count() == before


def test_mail_is_queued_with_the_alert_or_not_at_all(shelf):
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        raised(shelf)
        raise ZeroDivisionError
    with tenant_context(shelf.id):
        assert not NotificationMail.objects.filter(tenant_id=shelf.id).exists()
    assert rows(shelf) == []
