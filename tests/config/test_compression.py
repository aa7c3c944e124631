"""Answers are compressed where their length tells no secret, in the coding that the client likes best."""

import gzip

import brotli
import pytest
from django.http import HttpResponse, StreamingHttpResponse
from django.test import RequestFactory
from django.urls import get_resolver

from config.compression import SMALLEST_BYTES, Compression, is_safe, preferred

LONG = b'{"name": "' + b"gloves " * 600 + b'"}'
UNPACK = {"br": brotli.decompress, "gzip": gzip.decompress, None: bytes}


def answered(path="/v1/products", method="get", content=LONG, accept="gzip, deflate, br", answer=None, **headers):
    given = answer or HttpResponse(content, content_type="application/json", headers=headers)
    request = getattr(RequestFactory(), method)(path, headers={"Accept-Encoding": accept} if accept else {})
    return Compression(lambda _: given)(request)


@pytest.mark.parametrize(
    ("accept", "coding"),
    [
        ("gzip, deflate, br", "br"),
        ("gzip", "gzip"),
        ("GZIP;q=0.5, br;q=0.1", "gzip"),
        ("br;q=0, gzip;q=0", None),
        ("*", "br"),
        ("*;q=0", None),
        ("identity", None),
        ("identity;q=1, br;q=0.5", None),
        ("gzip;q=nonsense", None),
        ("deflate", None),
        (";,;q=", None),
        ("gzip," * 300, None),
    ],
)
def test_coding_is_the_one_that_the_client_likes(accept, coding):
    assert preferred(accept) == coding


@pytest.mark.parametrize(("accept", "coding"), [("br", "br"), ("gzip", "gzip"), ("", None)])
def test_list_arrives_whole(accept, coding):
    response = answered(accept=accept, Vary="Origin")
    assert response.headers.get("Content-Encoding") == coding
    assert UNPACK[coding](response.content) == LONG
    assert response.headers["Vary"] == ("Origin, Accept-Encoding" if coding else "Origin")


@pytest.mark.parametrize(
    "found",
    [
        {"method": "post"},
        {"method": "head"},
        {"content": LONG[: SMALLEST_BYTES - 1]},
        {"answer": HttpResponse(LONG, content_type="application/json", status=422)},
        {"answer": HttpResponse(LONG, content_type="image/png")},
        {"answer": HttpResponse(LONG, content_type="application/json", headers={"Content-Encoding": "identity"})},
        {"answer": StreamingHttpResponse([LONG], content_type="application/x-ndjson")},
        {"ETag": '"7"'},
    ],
)
def test_what_stays_as_it_is(found):
    assert answered(**found).headers.get("Content-Encoding") in (None, "identity")


def test_answer_with_a_cookie_stays_as_it_is():
    answer = HttpResponse(LONG, content_type="application/json")
    answer.set_cookie("sessionid", "s" * 32)
    assert "Content-Encoding" not in answered(answer=answer).headers


def test_fhir_tag_stays_weak_and_the_same():
    response = answered("/fhir/R4/Patient/1", ETag='W/"7"')
    assert (response.headers["Content-Encoding"], response.headers["ETag"]) == ("br", 'W/"7"')


def routes(patterns, before=""):
    for one in patterns:
        address = before + str(one.pattern).lstrip("^")
        if hasattr(one, "url_patterns"):
            yield from routes(one.url_patterns, address)
        else:
            yield "/" + address


def test_no_address_of_secrets_or_sessions_is_compressed():
    pages = ("/admin", "/oauth/")
    secrets = ("auth/", "token", "api-keys", "/secrets", "invitations", "service-accounts", "oauth-clients", "sessions")
    found = sorted(set(routes(get_resolver().url_patterns)))
    held = [path for path in found if path.startswith(pages) or any(word in path for word in secrets)]
    assert len(held) > 20, "the walk finds them"
    assert [path for path in held if is_safe(path)] == []
    assert is_safe("/v1/products")
    assert is_safe("/fhir/R4/Observation")


@pytest.fixture
def asked(client):
    """Return the answer of the whole service, with all its middleware."""
    return lambda path, accept="br", **headers: client.get(path, headers={"Accept-Encoding": accept, **headers})


def test_api_document_is_small_and_kept_by_its_tag(asked):
    plain, packed = asked("/v1/openapi.json", "identity"), asked("/v1/openapi.json")
    assert brotli.decompress(packed.content) == plain.content
    assert len(packed.content) * 8 < len(plain.content)
    assert packed.headers["ETag"] == f"W/{plain.headers['ETag']}"
    again = asked("/v1/openapi.json", **{"If-None-Match": packed.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_scripts_of_the_reference_are_small(asked):
    path = "/static/drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js"
    plain, packed = asked(path, "identity"), asked(path, "gzip")
    whole = b"".join(plain)
    plain.close()
    assert gzip.decompress(packed.content) == whole
    assert packed.headers["Content-Length"] == str(len(packed.content))
    assert len(packed.content) * 3 < len(whole)
    again = asked(path, "gzip", **{"If-None-Match": packed.headers["ETag"]})
    assert again.status_code == 304
