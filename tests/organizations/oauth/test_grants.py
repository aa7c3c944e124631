"""Codes and refresh tokens: what is refused, what is good once, and what dies with what."""

import threading
from datetime import timedelta

import jwt
import pytest
from django.db import connection, transaction

from core.clock import now
from organizations import tokens
from organizations.models import AuthorizationGrant, OAuthApplication, RefreshToken, SignInSession
from tests.organizations.oauth.clients import (
    CALLBACK,
    application,
    grant,
)
from tests.organizations.oauth.flows import error_of, exchange_code, is_alive, new_code, refreshed


@pytest.mark.parametrize("verifier", ["x" * 50, "", None, "v" * 5000])
def test_a_wrong_verifier_is_refused(person, verifier):
    client, _ = application()
    code, _ = new_code(person, client)

    assert error_of(exchange_code(client, code, verifier)) in [(400, "invalid_grant"), (400, "invalid_request")]


@pytest.mark.parametrize(
    "changes",
    [
        {"redirect_uri": "https://evil.example/callback"},
        {"redirect_uri": f"{CALLBACK}/"},
        {"redirect_uri": None},
        {"code": "guess"},
    ],
    ids=str,
)
def test_a_code_is_bound_to_its_request(person, changes):
    client, _ = application()
    code, verifier = new_code(person, client)

    refused = exchange_code(client, code, verifier, **changes)

    assert error_of(refused)[0] == 400


def test_a_code_of_another_client_is_refused(person):
    (client, _), (other, _) = application(), application()
    code, verifier = new_code(person, client)

    assert error_of(exchange_code(other, code, verifier)) == (400, "invalid_grant")
    assert exchange_code(client, code, verifier).status_code == 200


def test_an_expired_code_is_refused(person):
    client, _ = application()
    code, verifier = new_code(person, client)
    AuthorizationGrant.objects.filter(user=person.user).update(expires=now())

    assert error_of(exchange_code(client, code, verifier)) == (400, "invalid_grant")


def test_the_code_of_a_deactivated_person_is_refused(person):
    client, _ = application()
    code, verifier = new_code(person, client)
    person.user.is_active = False
    person.user.save(update_fields=["is_active"])

    assert error_of(exchange_code(client, code, verifier)) == (400, "invalid_grant")


def test_a_replayed_code_ends_what_it_gave(person):
    client, _ = application()
    code, verifier = new_code(person, client)
    given = exchange_code(client, code, verifier).json()
    assert is_alive(given["access_token"])

    assert error_of(exchange_code(client, code, verifier)) == (400, "invalid_grant")

    assert not is_alive(given["access_token"])
    assert error_of(refreshed(client, given["refresh_token"])) == (400, "invalid_grant")


def test_one_code_used_by_many_at_once_gives_one_session_at_most(person):
    client, _ = application()
    code, verifier = new_code(person, client)
    answers = []

    def use():
        answers.append(exchange_code(client, code, verifier).status_code)
        connection.close()

    threads = [threading.Thread(target=use) for _ in range(6)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]

    assert sorted(answers) == [200] + [400] * 5
    assert SignInSession.objects.get(client_id=client.client_id).end_reason == "code_replayed"


def test_codes_and_secrets_are_stored_as_digests(person):
    client, secret = application(confidential=True)
    code, _ = new_code(person, client)

    assert not AuthorizationGrant.objects.extra(where=["code = %s"], params=[code]).exists()
    assert AuthorizationGrant.objects.filter(code=code).exists()
    assert OAuthApplication.objects.get(pk=client.pk).client_secret.startswith("sha256_client_secret$$")
    assert secret not in OAuthApplication.objects.get(pk=client.pk).client_secret


def test_refresh_keeps_the_session_and_may_narrow_the_scope(person):
    client, _ = application()
    first = grant(person, client)

    second = refreshed(client, first["refresh_token"], scope="locations.read").json()

    assert second["scope"] == "locations.read"
    assert tokens.verify(second["access_token"]).scope == frozenset({"locations.read"})
    assert tokens.verify(second["access_token"]).sid == tokens.verify(first["access_token"]).sid
    widened = refreshed(client, second["refresh_token"], scope="locations.read prescriptions.sign")
    assert error_of(widened) == (400, "invalid_scope")


def test_a_refresh_token_of_another_client_is_refused_and_does_no_harm(person):
    (client, _), (other, _) = application(), application()
    given = grant(person, client)

    assert error_of(refreshed(other, given["refresh_token"])) == (400, "invalid_grant")
    assert refreshed(client, given["refresh_token"]).status_code == 200


def test_first_party_and_client_refresh_tokens_do_not_mix(person):
    client, _ = application()
    own = person.sign_in().json()

    assert error_of(refreshed(client, own["refresh_token"])) == (400, "invalid_grant")


def test_parallel_refreshes_get_one_answer_and_the_session_lives(person):
    client, _ = application()
    for _ in range(6):
        first, barrier, answers = grant(person, client), threading.Barrier(3), []

        def refresh(first=first, barrier=barrier, answers=answers):
            barrier.wait()
            answers.append(refreshed(client, first["refresh_token"]))
            connection.close()

        threads = [threading.Thread(target=refresh) for _ in range(3)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]

        assert [answer.status_code for answer in answers] == [200] * 3
        assert len({(answer.json()["refresh_token"], answer.json()["access_token"]) for answer in answers}) == 1
        assert refreshed(client, answers[0].json()["refresh_token"]).status_code == 200
        assert is_alive(first["access_token"])


def test_a_replayed_refresh_token_ends_the_family(person):
    client, _ = application()
    first = grant(person, client)
    second = refreshed(client, first["refresh_token"]).json()
    RefreshToken.objects.filter(session__client_id=client.client_id, used_at__isnull=False).update(
        used_at=now() - timedelta(seconds=11)
    )

    assert error_of(refreshed(client, first["refresh_token"])) == (400, "invalid_grant")
    assert error_of(refreshed(client, second["refresh_token"])) == (400, "invalid_grant")
    assert not is_alive(second["access_token"])


def test_a_new_password_ends_the_sessions_of_clients_too(person):
    from organizations.signin import passwords

    client, _ = application()
    given = grant(person, client)
    with transaction.atomic():
        passwords.change(person.user, password="another long sentence to use", at=now())

    assert not is_alive(given["access_token"])
    assert error_of(refreshed(client, given["refresh_token"])) == (400, "invalid_grant")


def test_the_id_token_is_not_kept_and_tells_the_nonce_once(person):
    client, _ = application()
    first = grant(person, client)
    claims = jwt.decode(first["id_token"], options={"verify_signature": False})
    again = refreshed(client, first["refresh_token"], nonce="mine").json()

    assert claims["nonce"] == "n-1"
    assert "nonce" not in jwt.decode(again["id_token"], options={"verify_signature": False})


def test_parameters_that_mean_nothing_reach_nothing(person):
    client, _ = application()
    code, verifier = new_code(person, client)
    odd = dict.fromkeys(
        (
            "platform_carried",
            "redeemed",
            "session",
            "user",
            "client",
            "scopes",
            "claims",
            "response_type",
            "expires_in",
        ),
        "x",
    )

    given = exchange_code(client, code, verifier, **odd)

    assert given.status_code == 200
    assert given.json()["expires_in"] == 600
    assert "id_token" in given.json()
