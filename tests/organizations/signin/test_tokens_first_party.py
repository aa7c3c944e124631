"""Signing in, staying in, signing out."""

import statistics
import threading
import time
from datetime import timedelta

import pytest
from django.db import connection

from core.clock import now
from organizations import tokens
from organizations.models import DeniedToken, RefreshToken, SignInSession
from organizations.signin import lockout, passwords, sessions
from tests.organizations.people import Person


def _refresh(api, token):
    return api.post("/v1/auth/token/refresh", json={"refresh_token": token})


def _is_denied(access_token):
    claims = tokens.verify(access_token)
    return sessions.is_denied(claims.sid, claims.jti)


def test_sign_in_answers_exactly_the_contract(person):
    response = person.sign_in()

    body = response.json()
    assert response.status_code == 200
    assert sorted(body) == ["access_token", "expires_in", "refresh_token", "token_type"]
    assert (body["token_type"], body["expires_in"]) == ("Bearer", 600)
    assert response.headers["Cache-Control"] == "no-store"
    claims = tokens.verify(body["access_token"])
    assert (claims.sub, claims.sub_type, claims.client_id) == (person.user.id, "user", "first-party")
    assert (claims.scope, claims.acr, claims.amr, claims.tid) == (None, "password", ("pwd",), None)


def test_sign_in_takes_the_address_in_any_case(person, api):
    body = {"email": person.email.upper(), "password": person.password}

    assert api.post("/v1/auth/token", json=body).status_code == 200


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 400, "validation_error"),
        ({"email": "x"}, 400, "validation_error"),
        ({"email": "nobody@example.org", "password": "x" * 2000}, 400, "validation_error"),
        ({"email": "nobody@example.org", "password": "wrong", "extra": 1}, 400, "unknown_field"),
        ({"email": ["nobody@example.org"], "password": {"a": 1}}, 400, "validation_error"),
        ({"email": "nobody@example.org", "password": "wrong", "code": "12345x"}, 400, "validation_error"),
    ],
)
def test_sign_in_refuses_a_malformed_body(api, body, status, code):
    response = api.post("/v1/auth/token", json=body)

    assert (response.status_code, response.json()["code"]) == (status, code)


def test_unknown_address_and_wrong_password_look_alike(person, api):
    unknown = api.post("/v1/auth/token", json={"email": f"x{person.email}", "password": "wrong"})
    wrong = api.post("/v1/auth/token", json={"email": person.email, "password": "wrong"})

    assert unknown.status_code == wrong.status_code == 401
    without_id = [{k: v for k, v in answer.json().items() if k != "request_id"} for answer in (unknown, wrong)]
    assert without_id[0] == without_id[1]
    assert without_id[0]["code"] == "invalid_credentials"


def test_unknown_address_costs_as_much_as_a_wrong_password(person, monkeypatch):
    monkeypatch.setattr(lockout, "ALLOWED", 1000)

    def cost(email):
        started = time.thread_time()
        with pytest.raises(passwords.InvalidCredentials):
            passwords.authenticate(email=email, password="wrong", network="192.0.2.1", at=now())
        return time.thread_time() - started

    known = statistics.median(cost(person.email) for _ in range(9))
    unknown = statistics.median(cost(f"x{person.email}") for _ in range(9))

    assert 0.5 < known / unknown < 2


def test_inactive_person_cannot_sign_in(person):
    person.user.is_active = False
    person.user.save(update_fields=["is_active"])

    assert person.sign_in().json()["code"] == "invalid_credentials"


def test_refresh_rotates_within_one_session(person, api):
    first = person.sign_in().json()

    second = _refresh(api, first["refresh_token"])

    assert second.status_code == 200
    assert second.json()["refresh_token"] != first["refresh_token"]
    assert tokens.verify(second.json()["access_token"]).sid == tokens.verify(first["access_token"]).sid


@pytest.mark.parametrize("token", ["", "hrt_unknown", "x" * 200, "Ω≈ç√", None, 5])
def test_refresh_refuses_what_is_no_token(api, token):
    assert _refresh(api, token).status_code in (400, 401)


def test_parallel_refreshes_get_one_answer_and_the_session_lives(person, api):
    for _ in range(6):
        first = person.sign_in().json()
        barrier, answers = threading.Barrier(4), []

        def refresh(first=first, barrier=barrier, answers=answers):
            barrier.wait()
            answers.append(_refresh(api, first["refresh_token"]))
            connection.close()

        threads = [threading.Thread(target=refresh) for _ in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]

        assert [answer.status_code for answer in answers] == [200] * 4
        assert len({answer.json()["refresh_token"] for answer in answers}) == 1
        assert _refresh(api, answers[0].json()["refresh_token"]).status_code == 200
        assert not _is_denied(first["access_token"])


def test_replayed_refresh_ends_the_family(person, api):
    first = person.sign_in().json()
    second = _refresh(api, first["refresh_token"]).json()
    RefreshToken.objects.filter(used_at__isnull=False, session__user=person.user).update(
        used_at=now() - timedelta(seconds=11)
    )

    replay = _refresh(api, first["refresh_token"])

    assert (replay.status_code, replay.json()["code"]) == (401, "invalid_refresh_token")
    assert _refresh(api, second["refresh_token"]).status_code == 401
    assert _is_denied(second["access_token"])
    session = SignInSession.objects.get(user=person.user)
    assert session.end_reason == "refresh_token_replayed"


def test_idle_and_old_sessions_are_over(person, api):
    idle, old = person.sign_in().json(), person.sign_in().json()
    RefreshToken.objects.filter(digest=sessions.digest_of(idle["refresh_token"])).update(expires_at=now())
    SignInSession.objects.filter(id=tokens.verify(old["access_token"]).sid).update(expires_at=now())

    assert _refresh(api, idle["refresh_token"]).status_code == 401
    assert _refresh(api, old["refresh_token"]).status_code == 401


def test_signing_out_ends_session_and_tokens_at_once(person, api):
    given, other = person.sign_in().json(), person.sign_in().json()

    response = api.post("/v1/auth/token/revoke", json={"refresh_token": given["refresh_token"]})

    assert (response.status_code, response.content) == (204, b"")
    assert _refresh(api, given["refresh_token"]).status_code == 401
    assert _is_denied(given["access_token"])
    assert not _is_denied(other["access_token"])
    assert _refresh(api, other["refresh_token"]).status_code == 200


def test_signing_out_with_an_unknown_token_tells_nothing(api):
    assert api.post("/v1/auth/token/revoke", json={"refresh_token": "hrt_unknown"}).status_code == 204


def test_deactivation_ends_the_session_at_the_next_refresh(person, api):
    given = person.sign_in().json()
    person.user.is_active = False
    person.user.save(update_fields=["is_active"])

    assert _refresh(api, given["refresh_token"]).status_code == 401
    assert _is_denied(given["access_token"])


def test_brute_force_is_locked_out_and_the_right_password_does_not_help_meanwhile(person, api):
    statuses = [
        api.post("/v1/auth/token", json={"email": person.email, "password": f"guess {n}"}).status_code
        for n in range(10)
    ]
    locked = person.sign_in()

    assert statuses[:8] == [401] * 8
    assert set(statuses[8:]) == {429}
    assert (locked.status_code, locked.json()["code"]) == (429, "account_locked")
    assert 0 < int(locked.headers["Retry-After"]) <= 60


def test_unknown_accounts_lock_alike(api):
    email = f"nobody-{now().timestamp()}@example.org"

    statuses = [api.post("/v1/auth/token", json={"email": email, "password": "x"}).status_code for _ in range(10)]

    assert statuses == [401] * 8 + [429] * 2


def test_parallel_guesses_do_not_slip_past_the_lock(person, api):
    answers = []

    def guess(number):
        answers.append(api.post("/v1/auth/token", json={"email": person.email, "password": f"g{number}"}).status_code)
        connection.close()

    threads = [threading.Thread(target=guess, args=(n,)) for n in range(16)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]

    assert sorted(answers) == [401] * 8 + [429] * 8


def test_stolen_tables_hold_no_usable_secret(person, api):
    given = person.sign_in().json()
    renewed = _refresh(api, given["refresh_token"]).json()
    usable = [one[name].encode() for one in (given, renewed) for name in ("access_token", "refresh_token")]

    stored = [(row.digest, bytes(row.sealed_answer or b"")) for row in RefreshToken.objects.all()]

    assert any(sealed for _, sealed in stored)
    assert all(len(digest) == 64 and not any(one in sealed for one in usable) for digest, sealed in stored)


def test_denied_rows_outlive_every_token_of_the_session(person, api):
    given = person.sign_in().json()
    api.post("/v1/auth/token/revoke", json={"refresh_token": given["refresh_token"]})

    row = DeniedToken.objects.get(value=tokens.verify(given["access_token"]).sid)

    assert row.expires_at > now() + tokens.LIFETIME


def test_sessions_of_two_people_do_not_touch(person, api):
    other = Person(type(person.user).objects.create_user(f"other-{person.email}", person.password))
    kept = other.sign_in().json()
    given = person.sign_in().json()

    api.post("/v1/auth/token/revoke", json={"refresh_token": given["refresh_token"]})

    assert _refresh(api, kept["refresh_token"]).status_code == 200
