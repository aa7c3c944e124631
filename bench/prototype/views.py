"""The three requests: a list inside a DRF view, a get and a create behind a gate of a dozen lines."""

import hashlib
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import jwt
import orjson
from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.urls import path
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import PermissionDenied
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import JSONRenderer
from rest_framework.views import APIView

from api import ratelimits

from .trip import Named, run, statement

_COLUMNS = "id, name, supplier_sku, category, availability, description, attributes, version, created_at, updated_at"
_BIND = statement("SELECT set_config('app.tenant_id', $1, true)")
_MEMBER = statement(
    "SELECT array_to_json(m.scopes)::text FROM membership m JOIN tenant t ON t.id = m.tenant_id AND t.active"
    " WHERE m.subject_id = $1 AND m.tenant_id = $2 AND m.status = 'active'"
)
_LIST = statement(
    "SELECT coalesce(json_agg(p), '[]')::text, (SELECT n FROM counter WHERE tenant_id = $1)::text FROM (SELECT"
    f" {_COLUMNS} FROM product WHERE tenant_id = $1 ORDER BY updated_at DESC, id DESC LIMIT 20) p"
)
_GET = statement(
    f"SELECT row_to_json(p)::text FROM (SELECT {_COLUMNS} FROM product WHERE tenant_id = $1 AND id = $2) p"
)
_CREATE = statement("""
WITH key AS (INSERT INTO idempotency (tenant_id, subject, key, fingerprint, status, body)
  VALUES ($1, $2, $3, decode($4, 'hex'), 201, convert_to($5, 'UTF8')) ON CONFLICT DO NOTHING RETURNING 1),
made AS (INSERT INTO product (id, tenant_id, name, supplier_sku, category, availability, description, attributes, version,
    created_at, updated_at) SELECT $6, $1, $7, $8, $9, $10, $11, '[]', 1, $12, $12 FROM key RETURNING 1)
INSERT INTO outbox (tenant_id, kind, payload) SELECT $1, 'product.created', $5::jsonb FROM made RETURNING 1
""")
_COUNT = ratelimits.client().register_script("""
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return {count, redis.call('PTTL', KEYS[1]), redis.call('GET', KEYS[2])}
""")
_tokens: dict[str, tuple[float, str]] = {}

Calls = list[tuple[Named, list[bytes]]]
Finish = Callable[[list[Any]], HttpResponse]


def mark(ask: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """The middleware: a request id, and the length that keeps a connection open."""

    def marked(request: HttpRequest) -> HttpResponse:
        identity = request.headers.get("x-request-id") or uuid.uuid4().hex
        response = ask(request)
        response.headers["X-Request-Id"] = identity
        response.headers["Content-Length"] = str(len(response.content))
        return response

    return marked


def _verified(header: str) -> str:
    """The person of a token, which is read once."""
    known = _tokens.get(header)
    if known is None or known[0] < time.time():
        claims = jwt.decode(header[7:], settings.SIGNING_KEY, algorithms=["HS256"], options={"require": ["exp"]})
        known = _tokens[header] = (claims["exp"], claims["user_id"])
    return known[1]


def _trip(request: HttpRequest, person: str, scope: bytes, calls: Calls) -> tuple[list[Any], list[int]]:
    tenant = request.META["HTTP_X_TENANT_ID"]
    counted = _COUNT(keys=[f"prototype:{person}", f"epoch:{tenant}"], args=[60_000])
    connection.ensure_connection()
    bound = tenant.encode()
    _, member, *results = run(connection.connection, [(_BIND, [bound]), (_MEMBER, [person.encode(), bound]), *calls])
    if not member.ntuples or scope not in member.get_value(0, 0):
        raise PermissionDenied
    return results, counted


def _limits(response: HttpResponse, counted: list[int]) -> None:
    response.headers["RateLimit-Limit"] = "100"
    response.headers["RateLimit-Remaining"] = str(100 - counted[0])
    response.headers["RateLimit-Reset"] = str(counted[1] // 1000)


class _Bearer(BaseAuthentication):
    def authenticate(self, request: Any) -> tuple[Any, str]:
        return _Person(_verified(request.META["HTTP_AUTHORIZATION"])), ""


class _Person:
    is_authenticated = True

    def __init__(self, identity: str) -> None:
        self.id = identity


class _First(BaseContentNegotiation):
    def select_parser(self, request: Any, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> Any:
        return renderers[0], renderers[0].media_type


class List(APIView):
    """A page of 20 with its total; PostgreSQL writes the JSON."""

    authentication_classes = (_Bearer,)
    permission_classes = ()
    renderer_classes = (JSONRenderer,)
    content_negotiation_class = _First

    def get(self, request: Any) -> HttpResponse:
        """Answer it."""
        bound = request.META["HTTP_X_TENANT_ID"].encode()
        (found,), counted = _trip(request, request.user.id, b'"catalog:read"', [(_LIST, [bound])])
        items, total = found.get_value(0, 0), found.get_value(0, 1)
        content = b'{"success":true,"data":{"items":' + items + b',"page":1,"limit":20,"total":' + total + b"}}"
        response = HttpResponse(content, content_type="application/json")
        _limits(response, counted)
        return response


def get(request: HttpRequest, pk: str) -> HttpResponse:
    """Answer one product."""
    person, bound = _verified(request.META["HTTP_AUTHORIZATION"]), request.META["HTTP_X_TENANT_ID"].encode()
    (found,), counted = _trip(request, person, b'"catalog:read"', [(_GET, [bound, pk.encode()])])
    if not found.ntuples:
        return HttpResponse(status=404)
    content = b'{"success":true,"data":' + found.get_value(0, 0) + b"}"
    response = HttpResponse(content, content_type="application/json")
    _limits(response, counted)
    return response


def create(request: HttpRequest) -> HttpResponse:
    """Make a product with its key and its fact in one statement."""
    person, tenant = _verified(request.META["HTTP_AUTHORIZATION"]), request.META["HTTP_X_TENANT_ID"].encode()
    raw = request.body
    given = orjson.loads(raw)
    names = ("name", "supplier_sku", "category", "status", "description")
    texts = [given[name] for name in names]
    if not all(isinstance(text, str) for text in texts):
        return HttpResponse(status=400)
    now, pk = datetime.now(UTC).isoformat(), str(uuid.uuid4())
    content = orjson.dumps(dict(zip(names, texts, strict=True)) | {"id": pk, "version": 1, "created_at": now})
    key = request.META["HTTP_IDEMPOTENCY_KEY"].encode()
    digest = hashlib.sha256(raw).hexdigest().encode()
    values = [tenant, b"s", key, digest, content, pk.encode(), *(text.encode() for text in texts), now.encode()]
    (made,), counted = _trip(request, person, b'"catalog:write"', [(_CREATE, values)])
    if not made.ntuples:
        return HttpResponse(status=409)
    response = HttpResponse(content, status=201, content_type="application/json")
    _limits(response, counted)
    return response


def _products(request: HttpRequest) -> HttpResponse:
    return create(request) if request.method == "POST" else _list(request)


_list = List.as_view()
urlpatterns = [
    path("health/live", lambda _request: HttpResponse(b"{}")),
    path("prototype/products", _products),
    path("prototype/products/<str:pk>", get),
]
