"""Invitations and password resets: links that are good once and mails that are sent after the commit."""

import re
import threading
from datetime import timedelta

import pytest
from django.core import mail
from django.db import connection, transaction

from core.clock import now
from organizations import tokens
from organizations.models import Invitation, Membership, OutgoingMail, PasswordReset, User
from organizations.signin import invitations, sessions
from organizations.signin.mails import MAX_ATTEMPTS
from organizations.signin.tasks import send_mails, sweep_credentials
from tests.factories import Api, provision, suffix
from tests.organizations.people import PASSWORD

NEW = "a brand new sentence to sign in with"


def _invite(tenant, user):
    membership = Membership(tenant=tenant, user=user, roles=["auditor"])
    membership.save()
    with transaction.atomic():
        return membership, invitations.issue(membership=membership, at=now())


@pytest.fixture
def tenant():
    """Make a tenant."""
    return provision("provider")


@pytest.fixture
def invited(tenant):
    """Invite somebody new; return the membership and the link's token."""
    return _invite(tenant, User.objects.create_user(f"new-{suffix()}@example.org"))


def _accept(token, **body):
    return Api().post(f"/v1/auth/invitations/{token}/accept", json={"password": NEW, **body})


def _mails_to(address):
    send_mails()
    return [message for message in mail.outbox if message.to == [address]]


def test_an_invitation_sets_the_password_and_signs_in(invited, tenant):
    membership, token = invited

    response = _accept(token, name="Ben Ode")

    assert response.status_code == 200
    assert tokens.verify(response.json()["access_token"]).sub == membership.user_id
    membership.refresh_from_db()
    assert (membership.status, membership.version, membership.accepted_at is not None) == ("active", 2, True)
    signed_in = Api().post("/v1/auth/token", json={"email": membership.user.email, "password": NEW})
    assert signed_in.status_code == 200
    assert User.objects.get(pk=membership.user_id).name == "Ben Ode"


def test_the_link_is_mailed_once_and_wiped(invited, tenant):
    membership, token = invited

    (message,) = _mails_to(membership.user.email)
    send_mails()

    assert f"/oauth/invitation?token={token}" in message.body
    assert tenant.name in message.body
    assert len([one for one in mail.outbox if one.to == message.to]) == 1
    assert not OutgoingMail.objects.filter(sent_at__isnull=False, sealed_content__isnull=False).exists()


def test_mails_that_cannot_be_opened_do_not_hold_up_the_others(tenant):
    while OutgoingMail.objects.filter(sent_at=None, due_at__lte=now(), attempts__lt=MAX_ATTEMPTS).exists():
        send_mails()  # what other tests of this database left in the outbox; each is tried once
    earlier = now() - timedelta(minutes=5)
    broken = OutgoingMail.objects.bulk_create(
        OutgoingMail(kind="notice", sealed_content=b"broken", due_at=earlier) for _ in range(120)
    )
    user = User.objects.create_user(f"behind-{suffix()}@example.org")
    with transaction.atomic():
        _invite(tenant, user)

    send_mails()

    assert len(_mails_to(user.email)) == 1
    left = OutgoingMail.objects.filter(id__in=[row.id for row in broken])
    assert {(row.sent_at, row.attempts, row.last_error) for row in left} == {(None, 1, "SealBroken")}
    left.delete()


def test_an_invitation_that_rolls_back_mails_nothing(tenant):
    user = User.objects.create_user(f"never-{suffix()}@example.org")
    with transaction.atomic():
        _invite(tenant, user)
        transaction.set_rollback(True)

    assert _mails_to(user.email) == []


@pytest.mark.parametrize("spoil", ["accepted", "expired", "withdrawn", "reissued", "inactive"])
def test_spoilt_invitations_are_refused_alike(invited, spoil):
    membership, token = invited
    if spoil == "accepted":
        assert _accept(token).status_code == 200
    if spoil == "expired":
        Invitation.objects.filter(membership=membership).update(expires_at=now())
    if spoil == "withdrawn":
        membership.revoke()
        membership.save()
    if spoil == "reissued":
        with transaction.atomic():
            invitations.issue(membership=membership, at=now())
    if spoil == "inactive":
        User.objects.filter(pk=membership.user_id).update(is_active=False)

    response = _accept(token)

    assert (response.status_code, response.json()["code"]) == (400, "invalid_link")


@pytest.mark.parametrize("token", ["hpi_unknown", "x" * 500, "%00", "Ω"])
def test_unknown_invitations_are_refused(token):
    assert _accept(token).status_code in (400, 404)


def test_weak_passwords_are_refused_and_the_link_stays_good(invited):
    _, token = invited

    weak = _accept(token, password="short")

    assert (weak.status_code, weak.json()["code"]) == (400, "weak_password")
    assert weak.json()["errors"][0]["field"] == "password"
    assert _accept(token).status_code == 200


def test_an_invitation_cannot_take_over_an_account(tenant, person):
    _, token = _invite(tenant, person.user)

    thief = _accept(token, password=NEW)

    assert (thief.status_code, thief.json()["code"]) == (401, "invalid_credentials")
    assert person.sign_in().status_code == 200
    assert _accept(token, password=PASSWORD).status_code == 200


def test_guessing_a_password_through_an_invitation_is_locked_out(tenant, person):
    _, token = _invite(tenant, person.user)

    statuses = [_accept(token, password=f"guess number {n}").status_code for n in range(10)]

    assert statuses == [401] * 8 + [429] * 2


def test_one_invitation_accepted_by_many_at_once_counts_once(invited):
    _, token = invited
    answers = []

    def accept():
        answers.append(_accept(token).status_code)
        connection.close()

    threads = [threading.Thread(target=accept) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]

    assert sorted(answers) == [200, 400, 400, 400]


def test_machines_are_not_invited(tenant):
    from organizations.models import ServiceAccount

    machine = ServiceAccount.objects.create(name="m", partner=f"m-{suffix()}")
    membership = Membership(tenant=tenant, service_account=machine)
    membership.save()

    with pytest.raises(invitations.NobodyToInvite), transaction.atomic():
        invitations.issue(membership=membership, at=now())


def _reset_token(person):
    response = Api().post("/v1/auth/password/reset", json={"email": person.email})
    assert (response.status_code, response.json()) == (202, {"status": "accepted"})
    message = _mails_to(person.email)[-1]
    return re.search(r"token=(\S+)", message.body)[1]


def _confirm(token, password=NEW):
    return Api().post("/v1/auth/password/confirm", json={"token": token, "password": password})


def test_a_reset_sets_the_password_and_ends_every_session(person):
    given = person.sign_in().json()
    token = _reset_token(person)

    response = _confirm(token)

    assert (response.status_code, response.content) == (204, b"")
    assert person.sign_in().status_code == 401
    assert Api().post("/v1/auth/token", json={"email": person.email, "password": NEW}).status_code == 200
    refresh = Api().post("/v1/auth/token/refresh", json={"refresh_token": given["refresh_token"]})
    assert refresh.status_code == 401
    assert sessions.is_denied(tokens.verify(given["access_token"]).sid)
    assert [message.subject for message in _mails_to(person.email)][-1] == "Your password was changed"


def test_a_reset_answers_the_same_for_nobody_and_mails_nothing(person):
    unknown = f"nobody-{suffix()}@example.org"

    response = Api().post("/v1/auth/password/reset", json={"email": unknown})

    assert (response.status_code, response.json()) == (202, {"status": "accepted"})
    assert _mails_to(unknown) == []
    assert not OutgoingMail.objects.filter(sent_at__isnull=True, kind="password_reset").exists()


def test_reset_links_are_good_once_and_spoil_each_other(person):
    first, second = _reset_token(person), _reset_token(person)

    assert _confirm(second).status_code == 204
    again = [_confirm(second), _confirm(first)]

    assert [(one.status_code, one.json()["code"]) for one in again] == [(400, "invalid_link")] * 2


def test_reset_links_expire(person):
    token = _reset_token(person)
    PasswordReset.objects.filter(user=person.user).update(expires_at=now())

    assert _confirm(token).status_code == 400


def test_a_weak_new_password_leaves_the_link_and_the_old_one(person):
    token = _reset_token(person)

    assert _confirm(token, "password1234").status_code == 400
    assert person.sign_in().status_code == 200
    assert _confirm(token).status_code == 204


def test_resets_of_one_address_are_limited(person):
    statuses = [Api().post("/v1/auth/password/reset", json={"email": person.email}).status_code for _ in range(22)]

    assert statuses == [202] * 20 + [429] * 2


def test_a_mail_server_that_is_away_is_tried_again(invited, settings):
    membership, _ = invited
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9

    send_mails()

    waiting = OutgoingMail.objects.filter(sent_at__isnull=True, kind="invitation").latest("created_at")
    assert (waiting.attempts, waiting.last_error) == (1, "ConnectionRefusedError")
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    OutgoingMail.objects.filter(pk=waiting.pk).update(due_at=now())
    assert len(_mails_to(membership.user.email)) == 1


def test_the_sweep_forgets_what_decides_nothing_any_more(person):
    given = person.sign_in().json()
    refreshed = Api().post("/v1/auth/token/refresh", json={"refresh_token": given["refresh_token"]}).json()
    session = sessions.find_by_refresh_token(given["refresh_token"], client_id=tokens.FIRST_PARTY_CLIENT)
    with transaction.atomic():
        sessions.deny(["old"], at=now() - timedelta(hours=1))
    session.refresh_tokens.filter(used_at__isnull=False).update(used_at=now() - timedelta(minutes=1))

    sweep_credentials()

    assert not sessions.is_denied("old")
    assert not session.refresh_tokens.filter(sealed_answer__isnull=False).exists()
    again = Api().post("/v1/auth/token/refresh", json={"refresh_token": refreshed["refresh_token"]})
    assert again.status_code == 200
