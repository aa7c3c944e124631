"""The outermost middleware: ids, HTTPS, limits by address, security headers, problem documents, the log line."""

import io
import json
import random
from typing import Any
from uuid import UUID

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.test import Client, RequestFactory

from api import ratelimits
from api.addresses import bucket_of, client_address
from api.middleware import Edge

SECRET = "Jane Roe 1970-01-01"


def address() -> str:
    return ".".join(str(random.randint(1, 250)) for _ in range(4))


def through(path: str = "/v1/things", answer: HttpResponse | None = None, **extra: Any) -> HttpResponse:
    request = RequestFactory().get(path, **({"REMOTE_ADDR": address()} | extra))
    return Edge(lambda _: answer or HttpResponse(b"{}", content_type="application/json"))(request)  # type: ignore[return-value]


def test_edge_request_id_of_the_caller_is_echoed() -> None:
    assert through(HTTP_X_REQUEST_ID="order-1.A_b").headers["X-Request-Id"] == "order-1.A_b"


@pytest.mark.parametrize("sent", ["", "a b", "x" * 129, "a\r\nSet-Cookie: b", "ä", "a,b", "<script>"])
def test_edge_malformed_request_id_is_replaced_by_a_uuid7(sent: str) -> None:
    assert UUID(through(HTTP_X_REQUEST_ID=sent).headers["X-Request-Id"]).version == 7


@pytest.mark.parametrize("path", ["/v1/things", "/fhir/R4/Patient", "/oauth/token"])
@pytest.mark.parametrize("coding", ["gzip", "br", "identity, gzip", "utf-8"])
def test_edge_body_with_a_content_coding_is_refused(path: str, coding: str) -> None:
    refused = through(path, HTTP_CONTENT_ENCODING=coding)
    assert (refused.status_code, refused.headers["Accept-Encoding"]) == (415, "identity")
    assert b"unsupported_content_coding" in refused.content
    assert through(path, HTTP_CONTENT_ENCODING="Identity").status_code != 415


def test_edge_api_answer_has_every_security_header() -> None:
    headers = through().headers
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; frame-ancestors 'none'")
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert {
        "Referrer-Policy",
        "Cross-Origin-Opener-Policy",
        "Cross-Origin-Resource-Policy",
        "Permissions-Policy",
    } <= set(headers)


def test_edge_calls_views_of_the_api_itself_and_leaves_pages_to_the_chain() -> None:
    chained = HttpResponse(b"from the chain", content_type="text/plain")
    assert through("/health/live", answer=chained).content == b'{"status": "live"}'
    for path in ("/admin/", "/docs", "/oauth/authorize", "/static/x.css", "/v1/things"):
        assert through(path, answer=chained).content == b"from the chain", path


def test_edge_headers_a_view_has_set_stay() -> None:
    answer = HttpResponse(b"{}", content_type="application/json", headers={"Cache-Control": "private, max-age=60"})
    assert through(answer=answer).headers["Cache-Control"] == "private, max-age=60"


def test_edge_eval_is_allowed_in_the_admin_alone() -> None:
    allowed = {
        path: "'unsafe-eval'" in through(path).headers["Content-Security-Policy"]
        for path in ("/admin/", "/administrator", "/docs", "/oauth/authorize", "/v1/me", "/fhir/R4/Patient")
    }
    assert [path for path, found in allowed.items() if found] == ["/admin/"]


def test_edge_plain_http_in_production_is_refused_and_never_redirected(settings: Any) -> None:
    settings.PRODUCTION = True
    answer = through("/v1/me")
    assert (answer.status_code, json.loads(answer.content)["code"]) == (400, "https_required")
    assert "Location" not in answer.headers
    assert through("/health/live").status_code == 200


def test_edge_https_in_production_passes_with_hsts(settings: Any) -> None:
    settings.PRODUCTION, settings.SECURE_HSTS_SECONDS = True, 31_536_000
    answer = through(**{"wsgi.url_scheme": "https"})
    assert (answer.status_code, answer.headers["Strict-Transport-Security"][:16]) == (200, "max-age=31536000")


def test_edge_foreign_host_is_refused() -> None:
    answer = through(HTTP_HOST="evil.example")
    assert (answer.status_code, json.loads(answer.content)["code"]) == (400, "host_not_allowed")


@pytest.mark.parametrize(
    ("status", "code"), [(404, "route_not_found"), (405, "method_not_allowed"), (500, "internal_error")]
)
def test_edge_html_error_becomes_a_problem_document(status: int, code: str) -> None:
    answer = through(answer=HttpResponse("<h1>no</h1>", status=status))
    document = json.loads(answer.content)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert (answer.status_code, document["status"], document["code"]) == (status, status, code)
    assert document["request_id"] == answer.headers["X-Request-Id"]


def test_edge_not_allowed_keeps_its_allow_header() -> None:
    assert through(answer=HttpResponseNotAllowed(["GET"])).headers["Allow"] == "GET"


def test_edge_unknown_address_is_a_problem_document() -> None:
    answer = Client(REMOTE_ADDR=address()).get("/nowhere/at/all")
    assert (answer.status_code, answer.json()["code"]) == (404, "route_not_found")


@pytest.mark.parametrize(
    ("error", "status"), [(RuntimeError(SECRET), 500), (Http404(SECRET), 404), (PermissionDenied(SECRET), 403)]
)
def test_edge_exception_outside_views_reveals_nothing(error: Exception, status: int, lines: io.StringIO) -> None:
    from django.core.handlers.exception import convert_exception_to_response

    def fails(_: HttpRequest) -> HttpResponse:
        patient = SECRET  # a local variable the log must not show
        assert patient
        raise error

    request = RequestFactory().get(f"/v1/x?name={SECRET}", REMOTE_ADDR=address())
    answer = Edge(convert_exception_to_response(fails))(request)
    assert answer.status_code == status
    assert SECRET not in answer.content.decode()  # type: ignore[attr-defined]
    assert "Jane" not in lines.getvalue()


def test_edge_without_credential_the_address_is_limited(settings: Any) -> None:
    settings.RATE_LIMIT_OVERRIDES, settings.WEB_WORKERS = {"address": 3}, 1
    home = address()
    answers = [through(REMOTE_ADDR=home) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert [answer.headers["RateLimit-Remaining"] for answer in answers] == ["2", "1", "0", "0"]
    document = json.loads(answers[3].content)
    assert (document["code"], document["violated-policies"]) == ("rate_limited", ["address-minute"])
    assert answers[3].headers["Retry-After"] == answers[3].headers["RateLimit-Reset"] == str(document["retry_after"])


def test_edge_unproven_credentials_count_and_end_in_429(settings: Any) -> None:
    settings.RATE_LIMIT_OVERRIDES, settings.WEB_WORKERS = {"address": 2}, 1
    home = address()
    refused = [
        through(REMOTE_ADDR=home, answer=HttpResponse(status=401), HTTP_X_API_KEY="guess").status_code for _ in range(3)
    ]
    assert refused == [401, 401, 429]
    assert through(REMOTE_ADDR=home, HTTP_X_API_KEY="valid").status_code == 200


def test_edge_limits_of_the_view_stay() -> None:
    answer = HttpResponse(b"{}", content_type="application/json", headers={"RateLimit-Limit": "600"})
    found = through(answer=answer, HTTP_X_API_KEY="k").headers
    assert (found["RateLimit-Limit"], "RateLimit-Policy" in found) == ("600", False)


def test_edge_preflight_costs_nothing() -> None:
    home = address()
    request = RequestFactory().options("/v1/things", REMOTE_ADDR=home, HTTP_ACCESS_CONTROL_REQUEST_METHOD="GET")
    Edge(lambda _: HttpResponse())(request)
    policy = ratelimits.policy("address")
    assert ratelimits.peek(policy, home).remaining == policy.limit


def test_edge_log_line_has_path_but_neither_query_nor_body(lines: io.StringIO) -> None:
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    through(f"/v1/things?name={SECRET}", HTTP_TRACEPARENT=trace, HTTP_X_REQUEST_ID="r-1")
    line = json.loads(lines.getvalue().splitlines()[-1])
    assert (line["path"], line["method"], line["status"], line["request_id"]) == ("/v1/things", "GET", 200, "r-1")
    assert line["traceparent"] == trace
    assert line["ms"] >= 0
    assert "Jane" not in lines.getvalue()


@pytest.mark.parametrize("name", ["Jane%20Doe", "jane@example.org", "D%C3%B6", "a,b", "a%0Ab"])
def test_edge_log_line_masks_a_name_in_place_of_an_id(lines: io.StringIO, name: str) -> None:
    through(f"/fhir/r4/Patient/{name}/_history")
    assert json.loads(lines.getvalue().splitlines()[-1])["path"] == "/fhir/r4/Patient/*/_history"


def test_logs_exception_shows_kind_and_frames_only(lines: io.StringIO) -> None:
    import logging

    try:
        patient = SECRET
        raise ValueError(f"Failing row contains ({patient})")
    except ValueError:
        logging.getLogger("any").exception("it broke", extra={"task": "t"})
    line = json.loads(lines.getvalue())
    assert (line["event"], line["task"], line["exception"][0]["kind"]) == ("it broke", "t", "builtins.ValueError")
    assert "test_edge.py" in line["exception"][0]["frames"][-1]
    assert SECRET not in lines.getvalue()


def test_logs_keep_only_plain_values_of_added_members(lines: io.StringIO) -> None:
    import logging

    request = RequestFactory().get(f"/admin/?q={SECRET}")
    added = {"request": request, "data": {"args": SECRET}, "count": 2, "made": ["a", "b"], "none": None}
    logging.getLogger("any").warning("done", extra=added)
    line = json.loads(lines.getvalue())
    assert {name: line[name] for name in added if name in line} == {"count": 2, "made": ["a", "b"], "none": None}
    assert "Jane" not in lines.getvalue()


@pytest.mark.parametrize("message", ["Task t[1] raised unexpected: %r", "Exception caught: %s"])
def test_logs_message_that_quotes_the_exception_names_its_kind(lines: io.StringIO, message: str) -> None:
    import logging

    try:
        raise ValueError(SECRET)
    except ValueError as error:
        logging.getLogger("any").exception(message, error)
    assert json.loads(lines.getvalue())["event"] == message[:-2] + "builtins.ValueError"
    assert SECRET not in lines.getvalue()


@pytest.mark.parametrize(
    ("forwarded", "trusted", "found"),
    [
        ("", 0, "10.0.0.9"),
        ("1.2.3.4", 0, "10.0.0.9"),
        ("1.2.3.4", 1, "1.2.3.4"),
        ("6.6.6.6, 1.2.3.4", 1, "1.2.3.4"),
        ("6.6.6.6, 1.2.3.4, 10.0.0.8", 2, "1.2.3.4"),
        ("1.2.3.4", 2, "10.0.0.9"),
        ("garbage", 1, "10.0.0.9"),
        ("::ffff:1.2.3.4", 1, "1.2.3.4"),
        ("2001:db8::1", 1, "2001:db8::1"),
    ],
)
def test_client_address_trusts_only_the_platforms_proxies(forwarded: str, trusted: int, found: str) -> None:
    meta = {"REMOTE_ADDR": "10.0.0.9", "HTTP_X_FORWARDED_FOR": forwarded}
    assert client_address(meta, trusted_proxies=trusted) == found


def test_bucket_of_ipv6_is_the_customers_network() -> None:
    assert bucket_of("2001:db8:1:2:3::1") == bucket_of("2001:db8:1:2::ffff") != bucket_of("2001:db8:1:3::1")
    assert (bucket_of("1.2.3.4"), bucket_of("unknown")) == ("1.2.3.4", "unknown")
