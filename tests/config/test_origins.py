"""Browsers of allowed origins: what they may send and read, over the middleware as it runs where origins are allowed."""

from corsheaders.middleware import CorsMiddleware
from django.http import HttpResponse
from django.test import RequestFactory

ORIGIN = "https://ward.example"


def asked(settings, method, **headers):
    settings.CORS_ALLOWED_ORIGINS = [ORIGIN]
    request = RequestFactory().generic(method, "/fhir/R4/Patient/1", headers={"Origin": ORIGIN, **headers})
    return CorsMiddleware(lambda _: HttpResponse(b"{}"))(request)


def test_preflight_lets_the_headers_of_both_interfaces_through(settings):
    wanted = "if-match, if-none-exist, prefer, x-tenant-id, idempotency-key"
    headers = {"Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": wanted}
    answer = asked(settings, "OPTIONS", **headers)
    assert answer.headers["Access-Control-Allow-Origin"] == ORIGIN
    allowed = {name.strip() for name in answer.headers["Access-Control-Allow-Headers"].split(",")}
    assert set(wanted.split(", ")) <= allowed
    assert "cookie" not in allowed


def test_answer_exposes_version_place_and_limits(settings):
    shown = asked(settings, "GET").headers["Access-Control-Expose-Headers"]
    assert {"ETag", "Location", "Last-Modified", "RateLimit-Remaining", "X-Request-Id"} <= set(shown.split(", "))


def test_other_origins_get_nothing(settings):
    answer = asked(settings, "GET", Origin="https://evil.example")
    assert "Access-Control-Allow-Origin" not in answer.headers
