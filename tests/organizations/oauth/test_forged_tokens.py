"""Tokens that must not pass: forged, stale, of another kind, of another key. All answer 401 and nothing else."""

import base64
import hashlib
import hmac
import json
from datetime import timedelta
from io import StringIO

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from django.core.management import call_command
from django.db import transaction

from core.actor import SubjectKind
from core.clock import now
from core.ids import uuid7
from organizations import signing_keys, tokens
from organizations.models import SigningKey
from organizations.signin import sessions
from tests.factories import Api, bearer, member, provision

PATH = "/v1/production-onboarding/rate-limits"


@pytest.fixture(scope="module")
def place():
    """Return a tenant and a member of it who may read its limits."""
    tenant = provision("provider")
    person, _ = member(tenant, ["tenant_admin"])
    return tenant, person


def _status(token, tenant):
    response = Api(token=token, tenant=tenant).get(PATH)
    if response.status_code == 401:
        assert response.headers["WWW-Authenticate"].startswith("Bearer ")
        assert response.json()["code"] == "invalid_token"
    return response.status_code


def _claims(person, **changes):
    at = int(now().timestamp())
    good = {
        "iss": "http://testserver/oauth", "aud": "http://testserver", "sub": str(person.id), "sub_type": "user",
        "client_id": "first-party", "scope": "*", "token_use": "access", "jti": str(uuid7()), "sid": str(uuid7()),
        "iat": at, "exp": at + 600, "acr": "password", "amr": ["pwd"], "auth_time": at,
    }  # fmt: skip
    return {name: value for name, value in {**good, **changes}.items() if value is not ...}


def _signed(claims, *, typ="at+jwt", algorithm="RS256", key=None, **header):
    active = signing_keys.active_key()
    headers = {"kid": active.kid, "typ": typ, **header}
    kept = {name: value for name, value in headers.items() if value is not ...}
    payload = json.dumps(claims).encode()  # not jwt.encode, which minds the types of claims
    return jwt.PyJWS().encode(payload, key or active.private, algorithm=algorithm, headers=kept)


def _raw(header, claims, signature=b""):
    parts = [json.dumps(header).encode(), json.dumps(claims).encode(), signature]
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)


def test_the_good_one_passes(place):
    tenant, person = place

    assert _status(_signed(_claims(person)), tenant) == 200
    assert _status(bearer(person), tenant) == 200
    assert _status(_signed(_claims(person), typ="application/at+JWT"), tenant) == 200


@pytest.mark.parametrize(
    "changes",
    [
        {"aud": "https://elsewhere.example"}, {"aud": ["http://testserver", "https://elsewhere.example"]}, {"aud": ""}, {"aud": ...},
        {"iss": "https://elsewhere.example/oauth"}, {"iss": "http://testserver"}, {"iss": ...}, {"iss": 1},
        {"sub": ...}, {"sub": "1"}, {"sub": 1}, {"sub": ""}, {"sub": "../admin"}, {"sub": "\x00"},
        {"sub_type": ...}, {"sub_type": "system"}, {"sub_type": "admin"}, {"sub_type": ["user"]},
        {"client_id": ...}, {"client_id": 5}, {"scope": ...}, {"scope": None}, {"scope": ["*"]},
        {"jti": ...}, {"jti": 7}, {"jti": "a\x00b"}, {"sid": ...}, {"sid": "not-a-uuid"}, {"sid": None},
        {"iat": ...}, {"iat": "now"}, {"iat": 99999999999}, {"exp": ...}, {"exp": "never"}, {"exp": None}, {"exp": 1}, {"exp": -1},
        {"exp": 1e400}, {"nbf": 99999999999}, {"nbf": "soon"},
        {"token_use": ...}, {"token_use": "refresh"}, {"token_use": "id"}, {"tid": "nobody"}, {"tid": 5},
        {"auth_time": "yesterday"}, {"amr": 5}, {"sub_type": "service"},
    ],
    ids=lambda changes: json.dumps(changes, default=lambda _: "absent")[:60],
)  # fmt: skip
def test_a_wrong_or_missing_claim_is_refused(place, changes):
    tenant, person = place

    assert _status(_signed(_claims(person, **changes)), tenant) == 401


def test_expiry_counts_from_the_lifetime_and_the_leeway(place):
    tenant, person = place
    at = int(now().timestamp())

    assert _status(_signed(_claims(person, exp=at - 2)), tenant) == 200
    assert _status(_signed(_claims(person, exp=at - 6)), tenant) == 401


@pytest.mark.parametrize(
    "header",
    [
        {"kid": "unknown"}, {"kid": ...}, {"kid": ""}, {"kid": "../../key"}, {"kid": "' OR 1=1 --"},
        {"typ": "JWT"}, {"typ": ...}, {"typ": ""}, {"typ": "at+jwt2"}, {"typ": "logout+jwt"}, {"typ": "dpop+jwt"},
        {"crit": ["unknown"], "unknown": 1},
    ],
    ids=lambda header: json.dumps(header, default=lambda _: "absent"),
)  # fmt: skip
def test_a_wrong_header_is_refused(place, header):
    tenant, person = place
    known = {"typ": header.pop("typ", "at+jwt"), **header}

    assert _status(_signed(_claims(person), **known), tenant) == 401


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "nOnE", ""])
def test_no_algorithm_is_refused(place, algorithm):
    tenant, person = place
    header = {"alg": algorithm, "typ": "at+jwt", "kid": signing_keys.active_key().kid}

    assert _status(_raw(header, _claims(person)), tenant) == 401
    assert _status(_raw(header, _claims(person), b"x"), tenant) == 401


@pytest.mark.parametrize("digest", ["sha256", "sha384", "sha512"])
@pytest.mark.parametrize("form", ["pem", "der", "kid", "empty"])
def test_the_public_key_as_a_shared_secret_is_refused(place, digest, form):
    tenant, person = place
    active = signing_keys.active_key()
    public = {"pem": serialization.Encoding.PEM, "der": serialization.Encoding.DER}.get(form)
    secret = active.public.public_bytes(public, serialization.PublicFormat.SubjectPublicKeyInfo) if public else b""
    secret = active.kid.encode() if form == "kid" else secret
    header = {"alg": f"HS{digest[3:]}", "typ": "at+jwt", "kid": active.kid}
    body = _raw(header, _claims(person)).rpartition(".")[0]
    signature = base64.urlsafe_b64encode(hmac.new(secret, body.encode(), digest).digest()).rstrip(b"=").decode()

    assert _status(f"{body}.{signature}", tenant) == 401


def test_a_key_of_our_own_making_is_refused(place):
    tenant, person = place
    foreign = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    numbers = jwt.algorithms.RSAAlgorithm.to_jwk(foreign.public_key(), as_dict=True)

    assert _status(_signed(_claims(person), key=foreign), tenant) == 401
    assert _status(_signed(_claims(person), key=foreign, jwk=numbers), tenant) == 401
    assert _status(_signed(_claims(person), key=foreign, jku="https://elsewhere.example/keys"), tenant) == 401
    assert _status(_signed(_claims(person), key=foreign, x5u="https://elsewhere.example/cert"), tenant) == 401


@pytest.mark.parametrize("algorithm", ["RS384", "RS512", "PS256"])
def test_another_algorithm_of_the_right_key_is_refused(place, algorithm):
    tenant, person = place

    assert _status(_signed(_claims(person), algorithm=algorithm), tenant) == 401


def test_an_elliptic_key_is_refused(place):
    tenant, person = place
    key = ec.generate_private_key(ec.SECP256R1())

    assert _status(_signed(_claims(person), algorithm="ES256", key=key), tenant) == 401


@pytest.mark.parametrize("change", ["payload", "signature", "truncated", "doubled", "swapped", "spaces"])
def test_an_altered_token_is_refused(place, change):
    tenant, person = place
    head, body, signature = _signed(_claims(person)).split(".")
    other = _signed(_claims(person)).split(".")
    altered = {
        "payload": f"{head}.{body[:-4]}AAAA.{signature}",
        "signature": f"{head}.{body}.{'A' * len(signature)}",
        "truncated": f"{head}.{body}",
        "doubled": f"{head}.{body}.{signature}.{signature}",
        "swapped": f"{head}.{body}.{other[2]}",
        "spaces": f"{head} .{body}.{signature}",
    }[change]

    assert _status(altered, tenant) == 401


@pytest.mark.parametrize(
    "text",
    ["x", ".", "..", "....", "null", "{}", "e30.e30.", "e30.e30.e30", "é.é.é", "A" * 20_000, "hrt_" + "a" * 48, "Bearer x", "a b c",
     "eyJhbGciOiJSUzI1NiJ9.bm90IGpzb24.AA", "W10.W10.W10", "MQ.MQ.MQ"],
    ids=lambda text: text[:20],
)  # fmt: skip
def test_what_is_no_token_is_refused(place, text):
    tenant, _ = place

    assert _status(text, tenant) == 401


def test_the_refresh_token_of_a_sign_in_is_no_access_token():
    from tests.organizations.people import new_person

    given = new_person().sign_in().json()

    assert Api(token=given["refresh_token"]).get("/v1/me").status_code == 401


def test_denied_tokens_and_sessions_are_refused_at_once(place):
    tenant, person = place
    by_token, by_session = _claims(person), _claims(person)
    tokens_of = [_signed(by_token), _signed(by_session)]
    assert [_status(token, tenant) for token in tokens_of] == [200, 200]

    with transaction.atomic():
        sessions.deny([by_token["jti"], by_session["sid"]], at=now())

    assert [_status(token, tenant) for token in tokens_of] == [401, 401]


def test_the_token_of_a_deactivated_person_is_refused(place):
    tenant, _ = place
    person, _ = member(tenant, ["tenant_admin"])
    token = bearer(person)
    assert _status(token, tenant) == 200

    person.is_active = False
    person.save(update_fields=["is_active"])

    assert _status(token, tenant) == 401


def test_a_token_bound_to_one_tenant_is_shut_out_of_others(place):
    tenant, person = place
    other = provision("provider")
    member(other, ["tenant_admin"], person=person)
    bound = bearer(person, tenant=tenant)

    assert _status(bound, tenant) == 200
    assert Api(token=bound, tenant=other).get(PATH).status_code == 403


def test_a_foreign_client_cannot_write_itself_a_token_without_bounds(place):
    tenant, person = place
    claims = _claims(person, client_id="somebody-elses")

    assert tokens.verify(_signed(claims)).scope == frozenset({"*"})
    assert Api(token=_signed(claims), tenant=tenant).get("/v1/locations").status_code == 403
    with pytest.raises(ValueError, match="first-party"):
        tokens.issue_access_token(
            subject_id=person.id,
            subject_kind=SubjectKind.USER,
            client_id="x",
            scopes=None,
            session_id=uuid7(),
            at=now(),
        )


def test_tokens_of_the_key_before_pass_until_the_overlap_ends(place):
    tenant, person = place
    before = bearer(person)
    old = signing_keys.active_key().kid

    with transaction.atomic():
        kid, is_new = signing_keys.rotate(at=now())
    after = bearer(person)

    assert is_new
    assert kid == jwt.get_unverified_header(after)["kid"] != old
    assert [_status(before, tenant), _status(after, tenant)] == [200, 200]
    assert SigningKey.objects.get(pk=old).sealed_pem is None
    _end_overlap(old)
    fresh = bearer(person)
    assert _status(fresh, tenant) == 200
    with pytest.raises(tokens.InvalidToken):
        tokens.verify(before)


def _end_overlap(kid):
    SigningKey.objects.filter(pk=kid).update(verifies_until=now() - timedelta(seconds=1))
    signing_keys.forget_cached_keys()


def test_rotation_by_age_does_nothing_before_its_time():
    with transaction.atomic():
        kid, is_new = signing_keys.rotate(at=now(), max_age=timedelta(days=90))

    assert (kid, is_new) == (signing_keys.active_key().kid, False)


def test_a_withdrawn_key_stops_at_once(place):
    _, person = place
    before = bearer(person)
    old = signing_keys.active_key().kid
    with transaction.atomic():
        signing_keys.rotate(at=now())

    with transaction.atomic():
        assert signing_keys.withdraw(old, at=now())

    with pytest.raises(tokens.InvalidToken):
        tokens.verify(before)


def test_a_stolen_table_holds_no_private_key():
    signing_keys.active_key()

    for row in SigningKey.objects.all():
        assert "PRIVATE" not in row.public_pem
        assert b"PRIVATE" not in bytes(row.sealed_pem or b"")


def test_unknown_keys_are_not_a_way_to_flood_the_database(place, django_assert_max_num_queries):
    _, person = place
    signing_keys.active_key()
    forged = [_signed(_claims(person), kid=hashlib.sha256(bytes([n])).hexdigest()) for n in range(30)]

    with django_assert_max_num_queries(1):
        for token in forged:
            with pytest.raises(tokens.InvalidToken):
                tokens.verify(token)


def test_a_first_key_made_twice_stays_one():
    kid = signing_keys.active_key().kid

    signing_keys._make_first()

    assert list(SigningKey.objects.filter(status="active", purpose="token").values_list("kid", flat=True)) == [kid]


def test_the_command_rotates_by_age_at_will_and_withdraws():
    def run(*arguments):
        out = StringIO()
        call_command("rotate_signing_keys", "--json", *arguments, stdout=out)
        return json.loads(out.getvalue())

    before = signing_keys.active_key().kid

    assert run() == {**run(), "kid": before, "rotated": False}
    rotated = run("--now")
    assert rotated["rotated"]
    assert rotated["published"][0] == rotated["kid"] != before
    assert before in rotated["published"]
    assert run(f"--withdraw={before}") == {"kid": before, "withdrawn": True}
    assert run(f"--withdraw={before}") == {"kid": before, "withdrawn": False}
    assert before not in run()["published"]
