"""Keys that clients register: public ones for RS384 and ES384, and nothing else."""

import base64
import io
import json

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from joserfc import jwk

from organizations.models import OAuthApplication
from organizations.oauth import client_keys
from organizations.oauth.assertions import ASSERTION_TYPE
from tests.factories import provision, suffix
from tests.fhir_api.clients import Fhir
from tests.organizations.oauth.clients import CALLBACK, Browser, pkce, request_of, token
from tests.organizations.oauth.flows import error_of, machine_token
from tests.organizations.oauth.signers import MAKERS, Signer, key_set, public

RSA, EC = MAKERS["RS384"](), MAKERS["ES384"]()


def command(name, *arguments):
    out = io.StringIO()
    call_command(name, *arguments, "--json", stdout=out)
    return json.loads(out.getvalue())


def private(key):
    return {**key.as_dict(private=True), "kid": "first"}


def of_size(bits):
    modulus = (2 ** (bits - 1) + 1).to_bytes((bits + 7) // 8, "big")
    return public(RSA, n=base64.urlsafe_b64encode(modulus).rstrip(b"=").decode())


def test_the_public_members_alone_are_stored():
    more = {"use": "sig", "alg": "RS384", "key_ops": ["verify"], "x5t": "x", "name": "Anna Berg"}
    keys = client_keys.inline(key_set(public(RSA, "a", **more), public(EC, "b", ext=True)))

    assert keys.uri == ""
    assert keys.jwks == [
        {"kid": "a", "kty": "RSA", "n": RSA.as_dict()["n"], "e": "AQAB"},
        {"kid": "b", "kty": "EC", "crv": "P-384", "x": EC.as_dict()["x"], "y": EC.as_dict()["y"]},
    ]


REFUSED = {
    "private rsa": (lambda: key_set(private(RSA)), "private half"),
    "private ec": (lambda: key_set(private(EC)), "private half"),
    "a prime": (lambda: key_set(public(RSA, p="AQAB")), "private half"),
    "d is null": (lambda: key_set(public(EC, d=None)), "private half"),
    "symmetric": (lambda: key_set({"kty": "oct", "kid": "first", "k": "c2VjcmV0"}), "symmetric"),
    "a secret in it": (lambda: key_set(public(RSA, k="c2VjcmV0")), "symmetric"),
    "rsa of 1024": (lambda: key_set(of_size(1024)), "1024 bits"),
    "rsa of 2047": (lambda: key_set(of_size(2047)), "2047 bits"),
    "rsa of 8193": (lambda: key_set(of_size(8193)), "8193 bits"),
    "p-256": (lambda: key_set(public(jwk.ECKey.generate_key("P-256"))), "P-384"),
    "p-521": (lambda: key_set(public(jwk.ECKey.generate_key("P-521"))), "P-384"),
    "secp256k1": (lambda: key_set(public(jwk.ECKey.generate_key("secp256k1"))), "P-384"),
    "unknown curve": (lambda: key_set(public(EC, crv="P-1")), "P-384"),
    "no curve": (lambda: key_set(public(EC, crv=None)), "P-384"),
    "ed25519": (lambda: key_set(public(jwk.OKPKey.generate_key("Ed25519"))), "neither RSA nor EC"),
    "no type": (lambda: key_set({"kid": "first"}), "neither RSA nor EC"),
    "a list as type": (lambda: key_set({"kid": "first", "kty": ["RSA"]}), "neither RSA nor EC"),
    "not on the curve": (lambda: key_set(public(EC, y=EC.as_dict()["x"])), "cannot be read"),
    "broken numbers": (lambda: key_set(public(RSA, n=5)), "cannot be read"),
    "no numbers": (lambda: key_set({"kid": "first", "kty": "RSA"}), "cannot be read"),
    "even exponent": (lambda: key_set(public(RSA, e="Ag")), "cannot be read"),
    "other algorithm": (lambda: key_set(public(RSA, alg="RS256")), "not RS384"),
    "for encryption": (lambda: key_set(public(RSA, use="enc")), "not for signatures"),
    "for signing": (lambda: key_set(public(RSA, key_ops=["sign"])), "not for signatures"),
    "no kid": (lambda: key_set({**public(RSA), "kid": None}), "kid"),
    "empty kid": (lambda: key_set(public(RSA, "")), "kid"),
    "long kid": (lambda: key_set(public(RSA, "x" * 256)), "kid"),
    "same kid": (lambda: key_set(public(RSA), public(EC)), "same kid"),
    "no key": (key_set, "no key"),
    "too many": (lambda: key_set(*[public(EC)] * 21), "at most 20"),
    "one key": (lambda: public(RSA), "object with a list"),
    "a list": (lambda: [public(RSA)], "object with a list"),
    "a text": (lambda: "keys", "object with a list"),
    "a text as key": (lambda: key_set("key"), "A key is an object"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_keys_are_refused_with_the_reason(name):
    make, words = REFUSED[name]
    with pytest.raises(client_keys.UnusableKeys) as refused:
        client_keys.inline(make())
    ((field, code, message),) = [(error.field, error.code, error.message) for error in refused.value.errors]
    assert (field, code) == ("jwks", "unusable_keys")
    assert words in message


def written(path, document):
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return str(path)


def test_register_client_takes_a_file_of_keys(tmp_path):
    tenant, name = provision("provider"), f"Warehouse {suffix()}"
    arguments = ["--name", name, "--scopes", "system/*.rs", "--tenant", tenant.slug, "--approve"]
    file = written(tmp_path / "jwks.json", key_set(public(EC, "first"), public(RSA, "second")))

    first = command("register_client", *arguments, "--jwks", file)
    again = command(
        "register_client", *arguments, "--jwks", written(tmp_path / "b.json", key_set(public(RSA, "other")))
    )

    client = OAuthApplication.objects.get(client_id=first["client_id"])
    assert (first["created"], first["approved"], first["client_secret"]) == (True, True, "")
    assert (first["keys"], again["keys"], again["created"]) == (["first", "second"], ["first", "second"], False)
    given = Signer(client, EC, "ES384").ask()
    assert given.json()["scope"] == "system/*.rs"
    assert Fhir(given.json()["access_token"]).get("/Patient").status_code == 200
    assert Signer(client, RSA, "RS384", "second").ask().status_code == 200


def test_register_client_takes_an_address_and_replaces_keys(tmp_path):
    tenant, name = provision("provider"), f"Warehouse {suffix()}"
    arguments = ["--name", name, "--scopes", "system/*.rs", "--tenant", tenant.slug, "--approve"]
    file = written(tmp_path / "jwks.json", key_set(public(RSA)))

    with_secret = command("register_client", *arguments)
    client = OAuthApplication.objects.get(client_id=with_secret["client_id"])
    assert machine_token(client, with_secret["client_secret"]).status_code == 200
    at_address = command("register_client", *arguments, "--jwks-uri", "https://keys.example.com/", "--replace-keys")
    inline = command("register_client", *arguments, "--jwks", file, "--replace-keys")

    assert with_secret["keys"] == []
    assert (at_address["keys"], inline["keys"]) == (["https://keys.example.com/"], ["first"])
    assert error_of(machine_token(client, with_secret["client_secret"])) == (401, "invalid_client")
    assert Signer(client, RSA, "RS384").ask().status_code == 200


def test_register_client_makes_apps_that_sign(tmp_path, person):
    file = written(tmp_path / "jwks.json", key_set(public(EC)))
    made = command(
        "register_client", "--name", f"App {suffix()}", "--scopes", "openid,offline_access", "--redirect-uri", CALLBACK,
        "--jwks", file, "--approve",
    )  # fmt: skip
    client = OAuthApplication.objects.get(client_id=made["client_id"])
    assert (client.client_type, made["keys"], made["client_secret"]) == ("confidential", ["first"], "")
    app, browser, (verifier, challenge) = Signer(client, EC, "ES384"), Browser(), pkce()
    browser.sign_in(person)
    code = browser.authorize(request_of(client, challenge, scope="openid offline_access"))["code"]
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK, "code_verifier": verifier}

    def signs(**claims):
        return {"client_assertion_type": ASSERTION_TYPE, "client_assertion": app.assertion(**claims)}

    for credential in ({}, {"client_secret": "x"}, signs(aud="x")):
        assert error_of(token(client_id=client.client_id, **form, **credential)) == (401, "invalid_client")
    given = token(**form, **signs()).json()
    refresh = {"grant_type": "refresh_token", "refresh_token": given["refresh_token"]}
    assert error_of(token(client_id=client.client_id, **refresh)) == (401, "invalid_client")
    assert token(client_id=client.client_id, **refresh, **signs()).json()["scope"] == "openid offline_access"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--jwks", "/nowhere/jwks.json"], "cannot be read"),
        (["--jwks", "{broken}"], "cannot be read"),
        (["--jwks", "{private}"], "unusable_keys: jwks: The key 'first' holds its private half"),
        (["--jwks-uri", "https://127.0.0.1/jwks.json"], "unusable_keys: jwks_uri: The address must be an https URL"),
        (["--jwks", "{good}", "--jwks-uri", "https://keys.example.com"], "not allowed with argument"),
        (["--replace-keys"], "Give --jwks or --jwks-uri"),
    ],
)
def test_register_client_refuses_keys_in_one_line(settings, tmp_path, arguments, message):
    settings.WEBHOOKS_ALLOW_PRIVATE_DESTINATIONS = False
    files = {
        "broken": written(tmp_path / "broken.json", "{"),
        "private": written(tmp_path / "private.json", key_set(private(EC))),
        "good": written(tmp_path / "good.json", key_set(public(EC))),
    }
    name, tenant = f"Warehouse {suffix()}", provision("provider")

    with pytest.raises(CommandError, match=message):
        command(
            "register_client", "--name", name, "--scopes", "system/*.rs", "--tenant", tenant.slug,
            *[argument.format(**files) for argument in arguments],
        )  # fmt: skip

    assert not OAuthApplication.objects.filter(name=name).exists()
