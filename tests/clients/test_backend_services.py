"""SMART Backend Services over a socket, as authlib and `jose` of npm sign in: token, search, refusals, rotated keys."""

import json
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc7523 import PrivateKeyJWT

from bench import javascript

HERE = Path(__file__).parent / "jose"
DOCUMENT = Path(__file__).parents[2] / "docs" / "fhir.md"
ALGORITHMS = pytest.mark.parametrize("algorithm", ["RS384", "ES384"])


@pytest.fixture(autouse=True)
def plain_http(monkeypatch):
    """Let authlib speak plain HTTP to this machine."""
    monkeypatch.setenv("AUTHLIB_INSECURE_TRANSPORT", "1")


@pytest.fixture(scope="session")
def service_base(service_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run the real front under the address that its metadata names."""
    from devtools import parts
    from devtools.ports import answers, check_port
    from tests.conftest import part, wait

    port = check_port(0)
    address = f"http://127.0.0.1:{port}"
    variables = service_environment | {"BASE_URL": address, "FHIR_BASE_URL": f"{address}/fhir/R4"}
    with part(parts.web_command(port=port, workers=1), variables, tmp_path_factory.mktemp("service")) as child:
        wait(child, lambda: answers(port))
        yield f"{address}/fhir/R4"


@pytest.fixture
def provider():
    """A provider with one patient."""
    from tests.factories import bearer, member, provision
    from tests.fhir_api.clients import Fhir

    tenant = provision("provider")
    nurse, _ = member(tenant, ["nurse"])
    token = bearer(nurse, tenant=tenant, scopes="healthcare.read healthcare.write")
    made = Fhir(token).post("/Patient", {"resourceType": "Patient", "gender": "female"})
    assert made.status_code == 201, made.content
    return tenant


@pytest.fixture
def register(provider, tmp_path):
    """Register a machine of the provider by the command, as an operator does."""
    from django.core.management import call_command

    from organizations.models import OAuthApplication
    from tests.factories import suffix

    def work(*arguments):
        name = f"Warehouse {suffix()}"
        call_command(
            "register_client",
            "--name",
            name,
            "--scopes",
            "system/*.rs",
            "--tenant",
            provider.slug,
            "--approve",
            *arguments,
        )
        return OAuthApplication.objects.get(name=name).client_id

    def inline(*public_keys):
        file = tmp_path / "jwks.json"
        file.write_text(json.dumps({"keys": public_keys}))
        return work("--jwks", str(file))

    return inline, lambda url: work("--jwks-uri", url)


def configuration(base):
    return requests.get(f"{base}/.well-known/smart-configuration", timeout=10).json()


def authlib_session(base, client_id, key, algorithm, *, kid="first", **claims):
    """authlib sets an hour as lifetime, so `exp` is a claim of ours."""
    token_url = configuration(base)["token_endpoint"]
    session = OAuth2Session(client_id, key, token_endpoint_auth_method=PrivateKeyJWT.name, scope="system/*.rs")
    claims = {"exp": int(time.time()) + 240, **claims}
    session.register_client_auth_method(PrivateKeyJWT(token_url, claims=claims, headers={"kid": kid}, alg=algorithm))
    return session, token_url


@ALGORITHMS
def test_authlib_signs_in_and_searches(service_base, register, algorithm):
    from tests.organizations.oauth.signers import MAKERS, public

    inline, _ = register
    key = MAKERS[algorithm]()
    client_id = inline(public(key))
    session, token_url = authlib_session(service_base, client_id, key, algorithm)

    given = session.fetch_token(token_url, grant_type="client_credentials")
    found = session.get(f"{service_base}/Patient", params={"_total": "accurate"})

    assert (given["token_type"], given["scope"], given["expires_in"]) == ("Bearer", "system/*.rs", 600)
    assert (found.status_code, found.json()["total"]) == (200, 1)
    assert session.post(f"{service_base}/Patient", json={"resourceType": "Patient"}).status_code == 403


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "https://elsewhere.example/token"},
        {"iss": "somebody"},
        {"sub": "somebody"},
        {"exp": 1},
        {"exp": 10**10},
    ],
    ids=["aud", "iss", "sub", "expired", "far"],
)
def test_authlib_is_refused_with_other_claims(service_base, register, claims):
    from tests.organizations.oauth.signers import MAKERS, public

    inline, _ = register
    key = MAKERS["ES384"]()
    session, token_url = authlib_session(service_base, inline(public(key)), key, "ES384", **claims)

    with pytest.raises(OAuthError, match="invalid_client"):
        session.fetch_token(token_url, grant_type="client_credentials")


def test_authlib_repeats_an_id_in_vain(service_base, register):
    from tests.organizations.oauth.signers import MAKERS, public

    inline, _ = register
    key = MAKERS["RS384"]()
    session, token_url = authlib_session(service_base, inline(public(key)), key, "RS384", jti="the-same")

    assert session.fetch_token(token_url, grant_type="client_credentials")["access_token"]
    with pytest.raises(OAuthError, match="used before"):
        session.fetch_token(token_url, grant_type="client_credentials")


@ALGORITHMS
def test_keys_at_an_address_are_rotated(service_base, register, algorithm):
    from tests.organizations.oauth.signers import MAKERS, public
    from tests.outside import answering, server

    _, at_address = register
    old, new = MAKERS[algorithm](), MAKERS[algorithm]()
    published = [public(old, "old")]

    def answer(write):
        answering(json.dumps({"keys": published}).encode())(write)

    with server(answer) as (url, asked):
        client_id = at_address(url)
        session, token_url = authlib_session(service_base, client_id, old, algorithm, kid="old")
        assert session.fetch_token(token_url, grant_type="client_credentials")["access_token"]

        published[:] = [public(new, "new")]
        after, _ = authlib_session(service_base, client_id, new, algorithm, kid="new")
        assert after.fetch_token(token_url, grant_type="client_credentials")["access_token"]
        stale, _ = authlib_session(service_base, client_id, old, algorithm, kid="old")
        with pytest.raises(OAuthError, match="invalid_client"):
            stale.fetch_token(token_url, grant_type="client_credentials")
    assert len(asked) == 2


@ALGORITHMS
def test_jose_signs_in_and_searches(service_base, register, algorithm):
    from tests.organizations.oauth.signers import MAKERS, public

    try:
        folder = javascript.installed(HERE, ("package.json", "package-lock.json", "service.mjs"))
    except javascript.Unavailable as reason:
        pytest.skip(str(reason))
    inline, _ = register
    key = MAKERS[algorithm]()
    client_id = inline(public(key))
    command = ["node", "service.mjs", service_base, client_id, algorithm, json.dumps(key.as_dict(private=True))]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 0, done.stderr[-2000:]
    refused = [401, "invalid_client"]
    assert json.loads(done.stdout) == {
        "algorithms": ["RS384", "ES384"],
        "granted": ["Bearer", "system/Patient.rs", 600],
        "found": ["Bundle", 1],
        "forbidden": 403,
        "refused": dict.fromkeys(["replayed", "audience", "expired", "far", "kid"], refused),
    }


def test_the_example_of_the_documents_runs(service_base, register, tmp_path, monkeypatch, capsys):
    chapter = DOCUMENT.read_text().partition("## Machines that sign in with a key")[2].partition("\n## ")[0]
    make_key, sign_in = re.findall(r"```python\n(.*?)```", chapter, re.DOTALL)
    names: dict[str, object] = {}
    monkeypatch.chdir(tmp_path)

    exec(make_key, names)  # the project's own document
    inline, _ = register
    client_id = inline(*json.loads(Path("jwks.json").read_text())["keys"])
    capsys.readouterr()
    address = service_base.removesuffix("/fhir/R4")
    exec(sign_in.replace("CLIENT_ID", client_id).replace("http://127.0.0.1:8000", address), names)

    assert capsys.readouterr().out == "Bundle\n"
