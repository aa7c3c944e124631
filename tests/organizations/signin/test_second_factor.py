"""TOTP: enrolment, stepping up, and codes that are good once."""

import threading
from datetime import timedelta

import pyotp
import pytest
from django.db import connection

from core.actor import SubjectKind
from core.clock import now
from organizations import tokens
from organizations.models import SignInSession, TotpDevice
from organizations.signin import actions
from tests.factories import Api, api_key, provision


def _as(given):
    return Api(token=given["access_token"])


def _enroll(given):
    return _as(given).post("/v1/auth/mfa/enroll")


def _verify(given, code):
    return _as(given).post("/v1/auth/mfa/verify", json={"code": code})


def _code(secret, steps=0):
    return pyotp.TOTP(secret).at(now() + timedelta(seconds=30 * steps))


def _forget_used_steps(person):
    TotpDevice.objects.filter(user=person.user).update(last_step=0)


@pytest.fixture
def enrolled(person):
    """Return a session of somebody with a factor in force, and its secret."""
    given = person.sign_in().json()
    secret = _enroll(given).json()["data"]["secret"]
    assert _verify(given, _code(secret)).status_code == 200
    _forget_used_steps(person)
    return given, secret


def test_enrolment_shows_the_secret_once_and_waits_for_a_code(person):
    given = person.sign_in().json()

    response = _enroll(given)

    data = response.json()["data"]
    assert response.status_code == 201
    assert sorted(data) == ["otpauth_uri", "secret"]
    assert data["otpauth_uri"].startswith("otpauth://totp/")
    assert response.headers["Cache-Control"] == "no-store"
    device = TotpDevice.objects.get(user=person.user)
    assert device.sealed_secret is None
    assert data["secret"].encode() not in bytes(device.sealed_pending)


def test_a_code_raises_session_and_token(person):
    given = person.sign_in().json()
    secret = _enroll(given).json()["data"]["secret"]

    response = _verify(given, _code(secret))

    assert response.status_code == 200
    raised = tokens.verify(response.json()["data"]["access_token"])
    assert (raised.acr, raised.amr) == ("mfa", ("pwd", "otp"))
    assert raised.auth_time >= int(now().timestamp()) - 5
    assert raised.sid == tokens.verify(given["access_token"]).sid
    refreshed = Api().post("/v1/auth/token/refresh", json={"refresh_token": given["refresh_token"]}).json()
    assert tokens.verify(refreshed["access_token"]).acr == "mfa"


def test_a_code_is_good_once(person, enrolled):
    given, secret = enrolled
    code = _code(secret)

    assert _verify(given, code).status_code == 200
    again = _verify(given, code)

    assert (again.status_code, again.json()["code"]) == (401, "invalid_code")


def test_one_code_used_by_many_at_once_passes_once(enrolled):
    given, secret = enrolled
    code, answers = _code(secret), []

    def use():
        answers.append(_verify(given, code).status_code)
        connection.close()

    threads = [threading.Thread(target=use) for _ in range(6)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]

    assert sorted(answers) == [200] + [401] * 5


@pytest.mark.parametrize("steps", [-1, 0, 1])
def test_codes_of_the_neighbouring_steps_pass(enrolled, steps):
    given, secret = enrolled

    assert _verify(given, _code(secret, steps)).status_code == 200


@pytest.mark.parametrize("code", ["000000", "", "1234567", "abcdef", "１２３４５６", None])
def test_wrong_codes_are_refused(enrolled, code):
    given, secret = enrolled
    if code == _code(secret):
        pytest.skip("the one in a million")

    assert _verify(given, code).status_code in (400, 401)


def test_old_codes_are_refused(enrolled):
    given, secret = enrolled

    assert _verify(given, _code(secret, -4)).json()["code"] == "invalid_code"


def test_guessing_codes_is_locked_out(enrolled):
    given, secret = enrolled
    wrong = f"{(int(_code(secret)) + 7) % 1_000_000:06}"

    statuses = [_verify(given, wrong).status_code for _ in range(10)]

    assert statuses == [401] * 8 + [429] * 2
    assert _verify(given, _code(secret)).status_code == 429


def test_replacing_a_factor_takes_a_fresh_proof_of_it(person, enrolled):
    fresh = actions.open_session(person.user, with_code=False, at=now()).as_json()

    refused = _enroll(fresh)

    assert (refused.status_code, refused.json()["code"]) == (409, "mfa_already_enrolled")


def test_a_pending_factor_leaves_the_present_one_in_force(person, enrolled):
    given, secret = enrolled
    assert _verify(given, _code(secret)).status_code == 200

    pending = _enroll(given).json()["data"]["secret"]
    _forget_used_steps(person)

    assert person.sign_in(code=_code(pending)).status_code == 401
    assert person.sign_in(code=_code(secret)).status_code == 200


def test_an_old_proof_does_not_replace_a_factor(person, enrolled):
    given, _secret = enrolled
    SignInSession.objects.filter(user=person.user).update(authenticated_at=now() - timedelta(hours=1))

    assert _enroll(given).status_code == 409


def test_signing_in_with_a_code_gives_a_raised_session(person, enrolled):
    _, secret = enrolled

    given = person.sign_in(code=_code(secret)).json()

    assert tokens.verify(given["access_token"]).acr == "mfa"


def test_a_code_without_a_factor_says_so(person):
    given = person.sign_in().json()

    assert _verify(given, "123456").json()["code"] == "mfa_not_enrolled"


def test_ended_sessions_cannot_step_up(enrolled):
    given, secret = enrolled
    Api().post("/v1/auth/token/revoke", json={"refresh_token": given["refresh_token"]})

    assert _verify(given, _code(secret)).status_code == 401
    assert _enroll(given).status_code == 401


def test_machines_and_foreign_applications_have_no_second_factor(person):
    key = api_key(provision("supplier"))
    foreign = tokens.issue_access_token(
        subject_id=person.user.id,
        subject_kind=SubjectKind.USER,
        client_id="somebody-elses",
        scopes="openid",
        session_id=person.user.id,
        acr="password",
        authenticated_at=now(),
        at=now(),
    )

    for caller in (Api(key=key), Api(token=foreign)):
        for path, body in (("enroll", {}), ("verify", {"code": "123456"})):
            assert caller.post(f"/v1/auth/mfa/{path}", json=body).status_code == 403
    assert Api().post("/v1/auth/mfa/enroll").status_code == 401
