"""Where a second factor is in force, whatever opens a session demands it."""

import statistics
import time
from datetime import timedelta

import pyotp
import pytest
from django.db import transaction

from core.clock import now
from organizations import tokens
from organizations.models import Membership, SecurityLogEntry, SignInSession, TotpDevice
from organizations.signin import actions, invitations, lockout, passwords, totp
from tests.factories import Api, provision


@pytest.fixture
def secret(person):
    """Enrol a second factor; return its secret."""
    with transaction.atomic():
        made, _ = totp.enroll(person.user, may_replace=True, at=now())
    totp.confirm(person.user.pk, code=pyotp.TOTP(made).now(), at=now())
    TotpDevice.objects.filter(user=person.user).update(last_step=0)
    return made


def code(secret, steps=0):
    return pyotp.TOTP(secret).at(now() + timedelta(seconds=30 * steps))


def told(response):
    return response.status_code, response.json().get("code")


def test_sign_in_without_the_code_is_refused_and_opens_no_session(person, secret):
    assert told(person.sign_in()) == (401, "second_factor_required")
    assert not SignInSession.objects.filter(user=person.user).exists()


def test_sign_in_with_the_code_is_stepped_up(person, secret):
    given = person.sign_in(otp=code(secret))

    assert given.status_code == 200
    claims = tokens.verify(given.json()["access_token"])
    assert (claims.acr, claims.amr) == ("mfa", ("pwd", "otp"))


def test_earlier_name_of_the_member_is_taken_too(person, secret):
    assert person.sign_in(code=code(secret)).status_code == 200
    assert told(person.sign_in(otp=code(secret, -4), code=code(secret, 1))) == (401, "invalid_code")


def test_wrong_password_says_nothing_of_the_second_factor(person, secret):
    for more in ({}, {"otp": code(secret)}, {"otp": "000000"}):
        answer = Api().post("/v1/auth/token", json={"email": person.email, "password": "wrong", **more})
        assert told(answer) == (401, "invalid_credentials")
    assert TotpDevice.objects.get(user=person.user).last_step == 0


def test_wrong_codes_are_counted_and_lock(person, secret):
    wrong = f"{(int(code(secret)) + 7) % 1_000_000:06}"

    answers = [told(person.sign_in(otp=wrong)) for _ in range(10)]

    assert answers == [(401, "invalid_code")] * 8 + [(429, "account_locked")] * 2


def test_refusals_are_logged_alike(person, secret):
    before = now()
    person.sign_in()
    Api().post("/v1/auth/token", json={"email": person.email, "password": "wrong"})
    person.sign_in(otp="000000")

    rows = SecurityLogEntry.objects.filter(at__gte=before, route__endswith="auth/token").order_by("at", "id")
    assert [row.code for row in rows] == ["second_factor_required", "invalid_credentials", "invalid_code"]
    assert len({(row.subject, row.credential, row.tenant_id, row.address) for row in rows}) == 1


def test_missing_code_takes_as_long_as_a_wrong_password(person, secret, monkeypatch):
    monkeypatch.setattr(lockout, "ALLOWED", 1000)

    def cost(password, refusal):
        started = time.thread_time()
        with pytest.raises(refusal):
            actions.sign_in(email=person.email, password=password, otp="", network="192.0.2.1", at=now())
        return time.thread_time() - started

    missing = statistics.median(cost(person.password, totp.SecondFactorRequired) for _ in range(9))
    wrong = statistics.median(cost("wrong", passwords.InvalidCredentials) for _ in range(9))

    assert 0.5 < missing / wrong < 2


def test_code_where_no_factor_is_in_force_says_so(person):
    assert told(person.sign_in(otp="123456")) == (409, "mfa_not_enrolled")
    assert person.sign_in().status_code == 200


def test_invitation_is_no_way_round_the_second_factor(person, secret):
    membership = Membership(tenant=provision("provider"), user=person.user, roles=["auditor"])
    membership.save()
    with transaction.atomic():
        token = invitations.issue(membership=membership, at=now())

    def accept(**more):
        return Api().post(f"/v1/auth/invitations/{token}/accept", json={"password": person.password, **more})

    assert told(accept()) == (401, "second_factor_required")
    assert told(accept(otp=f"{(int(code(secret)) + 7) % 1_000_000:06}")) == (401, "invalid_code")
    assert told(accept(password="wrong", otp=code(secret))) == (401, "invalid_credentials")
    assert Membership.objects.get(pk=membership.pk).status == "invited"
    given = accept(otp=code(secret))
    assert given.status_code == 200
    assert tokens.verify(given.json()["access_token"]).acr == "mfa"
