"""The OpenAPI 3.1 document, derived from the operations: scopes, parameters, bodies, answers, every error, rate family."""

from collections.abc import Iterator
from typing import Any

from drf_spectacular.openapi import AutoSchema
from rest_framework.serializers import Serializer

from core.errors import (
    Conflict,
    Malformed,
    NotFound,
    PlatformError,
    TooLarge,
    Unauthenticated,
    Unavailable,
    VersionConflict,
)

from . import idempotency
from .authentication import InvalidTenantHeader
from .errors import Busy, UnsupportedMediaType, status_of
from .listing import Listing
from .metering import RateLimited
from .operations import Operation
from .permissions import InsufficientScope
from .shapes import Schema
from .views import ApiViewSet

PROBLEM = {"$ref": "#/components/schemas/Problem"}
_TAGS = {"v1": "Platform", "oauth": "OAuth"}

PROBLEM_SCHEMA: Schema = {
    "type": "object",
    "description": "RFC 9457 problem document.",
    "required": ["type", "title", "status", "detail", "instance", "code", "success", "request_id", "errors"],
    "properties": {
        "type": {"type": "string", "format": "uri-reference"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string"},
        "code": {"type": "string"},
        "success": {"type": "boolean", "const": False},
        "request_id": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "pointer", "code", "message"],
                "properties": {name: {"type": "string"} for name in ("field", "pointer", "code", "message")},
            },
        },
    },
}


class Inspector(AutoSchema):
    """One operation of the document; see `ApiViewSet.operations`."""

    view: ApiViewSet  # type: ignore[override]  # the library's declaration is wider

    def get_operation(self, path: str, path_regex: str, path_prefix: str, method: str, registry: Any) -> Schema | None:
        """Build the operation object, or leave views out that are not ours."""
        self.registry, self.path, self.method = registry, path, method.upper()
        view = self.view
        if not isinstance(view, ApiViewSet) or view.action not in view.operations:
            return None
        declared = view.operations[view.action]
        found: Schema = {
            "operationId": _operation_id(path, method),
            "tags": [_tag(path)],
            "summary": declared.summary,
            "description": _description(declared, view.family, self.method),
            "parameters": [*_path_parameters(path), *_headers(declared, self.method), *_query(declared, view.family)],
            "responses": self._responses(declared, view.family),
            "security": _security(declared),
            "x-rate-family": declared.policy or view.family,
            "x-idempotent": self.method != "GET",
        }
        if declared.scope:
            found["x-required-scope"] = declared.scope
        if declared.body is not None:
            found["requestBody"] = {"required": True, "content": {"application/json": self._body(declared)}}
        return found

    def _body(self, declared: Operation) -> Schema:
        assert declared.body is not None
        serializer: Serializer[Any] = declared.body(partial=declared.partial)
        direction = "request"
        schema = self._map_serializer(serializer, direction)
        schema = _tidy(schema)
        media: Schema = {"schema": {**schema, "additionalProperties": False}}
        if declared.partial:
            media["schema"].pop("required", None)
        if "version" not in serializer.fields and self.method in ("PUT", "PATCH"):
            media["schema"].setdefault("properties", {})["version"] = {
                "type": "integer", "description": "The version read; an alternative to If-Match.",
            }  # fmt: skip
        if declared.example:
            media["example"] = declared.example
        return media

    def _responses(self, declared: Operation, family: str) -> Schema:
        found: Schema = {str(declared.status): _success(declared, family)}
        if self.method == "GET" and declared.shape is not None and declared.shape.version and declared.listing is None:
            found["304"] = {"description": "Not modified (If-None-Match)."}
        by_status: dict[int, list[type[PlatformError]]] = {}
        for kind in _errors(declared, self.method, "{" in self.path):
            by_status.setdefault(status_of(kind), []).append(kind)
        for status, kinds in sorted(by_status.items()):
            codes = sorted({kind.code for kind in kinds})
            found[str(status)] = {
                "description": "; ".join(dict.fromkeys(f"`{kind.code}`: {kind.title}" for kind in kinds)),
                "content": {
                    "application/problem+json": {"schema": PROBLEM, "example": _problem_example(kinds[0], status)}
                },
                "x-codes": codes,
            }
        return found


def _tidy(schema: Any) -> Any:
    """A mapped serializer without what the library writes twice."""
    if isinstance(schema, list):
        return [_tidy(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: _tidy(part) for name, part in schema.items()}
    if isinstance(found.get("type"), list):
        found["type"] = list(dict.fromkeys(found["type"]))
    return found


def _operation_id(path: str, method: str) -> str:
    words = [part.strip("{}").replace("-", "_") for part in path.strip("/").split("/") if part]
    return "_".join([method.lower(), *words])


def _tag(path: str) -> str:
    parts = [part for part in path.strip("/").split("/") if part and not part.startswith("{")]
    return parts[1].replace("-", " ").capitalize() if len(parts) > 1 else parts[0]


def _description(declared: Operation, family: str, method: str) -> str:
    lines = [declared.description] if declared.description else []
    if declared.scope:
        lines.append(f"Scope: `{declared.scope}`.")
    lines.append(f"Rate family: `{declared.policy or family}`.")
    if method != "GET" and not declared.public:
        lines.append("Accepts `Idempotency-Key`.")
    return "\n\n".join(lines)


def _path_parameters(path: str) -> Iterator[Schema]:
    for part in path.split("/"):
        if part.startswith("{"):
            name = part.strip("{}")
            schema: Schema = (
                {"type": "string", "format": "uuid"}
                if name in ("id", "pk") or name.endswith("_id")
                else {"type": "string"}
            )
            yield {"name": name, "in": "path", "required": True, "schema": schema}


def _headers(declared: Operation, method: str) -> Iterator[Schema]:
    if declared.public:
        return
    if declared.tenant != "none":
        yield _header("X-Tenant-Id", "The tenant to act in; may be left out by a subject of a single tenant.", "uuid")
        yield _header("X-Membership-Id", "The membership meant, checked against the subject's own.", "uuid")
    if method != "GET":
        yield _header("Idempotency-Key", "1 to 255 printable ASCII characters; repeats get the first answer.")
    if method in ("PUT", "PATCH", "DELETE"):
        yield _header("If-Match", "The ETag read; another version answers 409 version_conflict.")
    if method == "GET" and declared.listing is None and declared.shape is not None:
        yield _header("If-None-Match", "An ETag; the same version answers 304.")


def _header(name: str, text: str, form: str = "") -> Schema:
    schema: Schema = {"type": "string"} | ({"format": form} if form else {})
    return {"name": name, "in": "header", "description": text, "schema": schema}


def _query(declared: Operation, family: str) -> Iterator[Schema]:
    yield from declared.parameters
    shape = declared.listing.shape if declared.listing else declared.shape
    if shape is not None and declared.status != 204:
        yield _parameter("fields", "Comma list of members; the id is always there.")
        if shape.includes:
            names = ", ".join(member.name for member in shape.includes)
            yield _parameter("include", f"Comma list of: {names}.")
    if declared.listing is not None:
        yield from _list_parameters(declared.listing, family)
    if declared.items is not None:
        yield from _paging_parameters(family)


def _list_parameters(listing: Listing, family: str) -> Iterator[Schema]:
    yield _parameter(
        "sort",
        f"Comma list of {', '.join(sorted(listing.sorts))}; `-` for descending. Default `{listing.default_sort}`.",
    )
    yield from _paging_parameters(family)
    for name, declared in (listing.filters.base_filters if listing.filters else {}).items():
        yield _parameter(name, str(declared.extra.get("help_text") or ""), _filter_schema(declared))


def _paging_parameters(family: str) -> Iterator[Schema]:
    if family in ("supplier", "webhooks"):
        yield _parameter("page", "From 1.", {"type": "integer", "minimum": 1, "default": 1})
    if family != "supplier":
        yield _parameter("cursor", "The `next_cursor` of the page before.")
    most, default = (100, 20) if family == "supplier" else (200, 50)
    yield _parameter("limit", f"Above {most} answers {most}.", {"type": "integer", "minimum": 1, "default": default})


def _filter_schema(declared: Any) -> Schema:
    kind = type(declared).__name__
    if kind == "UUIDFilter":
        return {"type": "string", "format": "uuid"}
    if kind == "BooleanFilter":
        return {"type": "boolean"}
    if kind.startswith(("IsoDateTime", "DateTime")):
        return {"type": "string", "format": "date-time"}
    if kind.startswith("Date"):
        return {"type": "string", "format": "date"}
    if kind == "NumberFilter":
        return {"type": "number"}
    if kind == "ChoiceFilter":
        return {"type": "string", "enum": [value for value, _ in declared.extra["choices"]]}
    return {"type": "string"}


def _parameter(name: str, text: str, schema: Schema | None = None) -> Schema:
    return {"name": name, "in": "query", "description": text, "schema": schema or {"type": "string"}}


def _security(declared: Operation) -> list[Schema]:
    if declared.public:
        return []
    scopes = [declared.scope] if declared.scope else list(declared.any_scope)
    both: list[Schema] = [{"bearer": scopes}, {"oauth": [scope.replace(":", ".") for scope in scopes]}]
    return both if declared.user_only else [*both, {"apiKey": scopes}]


def _success(declared: Operation, family: str) -> Schema:
    if declared.status == 204:
        return {"description": "Done; no body.", "headers": _answer_headers(declared)}
    if declared.listing is not None:
        schema = _list_schema(declared.listing.shape.schema(), family)
    elif declared.items is not None:
        schema = _list_schema(declared.items, family)
    else:
        data = declared.answer or (declared.shape.schema() if declared.shape else {"type": "object"})
        schema = _one_schema(data, family)
    if declared.answer is not None and declared.public:
        schema = declared.answer
    return {
        "description": declared.summary,
        "headers": _answer_headers(declared),
        "content": {"application/json": {"schema": schema}},
    }


def _one_schema(data: Schema, family: str) -> Schema:
    members: Schema = {"data": data}
    if family == "supplier":
        members = {"success": {"type": "boolean", "const": True}, **members}
    return {"type": "object", "required": list(members), "properties": members}


def _list_schema(item: Schema, family: str) -> Schema:
    items: Schema = {"type": "array", "items": item}
    integer: Schema = {"type": "integer"}
    paged = _one_schema(
        {
            "type": "object",
            "required": ["items", "page", "limit", "total"],
            "properties": {"items": items, "page": integer, "limit": integer, "total": integer},
        },
        "supplier",
    )
    members: Schema = {
        "data": items,
        "next_cursor": {"type": ["string", "null"]},
        "has_more": {"type": "boolean"},
        "limit": integer,
    }
    cursor: Schema = {"type": "object", "required": list(members), "properties": members}
    return {"supplier": paged, "webhooks": {"oneOf": [paged, cursor]}}.get(family, cursor)


def _answer_headers(declared: Operation) -> Schema:
    names = ["X-Request-Id", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy"]
    if declared.shape is not None and declared.shape.version:
        names.append("ETag")
    return {name: {"schema": {"type": "string"}} for name in names}


def _errors(declared: Operation, method: str, has_target: bool) -> Iterator[type[PlatformError]]:
    yield Malformed
    if not declared.public:
        yield from (Unauthenticated, InsufficientScope, InvalidTenantHeader)
    if has_target:
        yield NotFound
    if method != "GET":
        yield from (Busy, Conflict, VersionConflict, TooLarge, UnsupportedMediaType)
        if not declared.public:
            yield from (idempotency.InProgress, idempotency.KeyReused)
    yield from (RateLimited, Unavailable)
    yield from declared.errors


def _problem_example(kind: type[PlatformError], status: int) -> Schema:
    return {
        "type": f"/problems/{kind.code}",
        "title": kind.title,
        "status": status,
        "detail": kind.title,
        "instance": "/v1/…",
        "code": kind.code,
        "success": False,
        "request_id": "01890a5d-ac96-774b-bcce-b302099a8057",
        "errors": [],
    }


def only_the_api(endpoints: list[Any]) -> list[Any]:
    """Keep what stands on `ApiViewSet`, except where an interface describes itself in its own form."""
    return [entry for entry in endpoints if _is_documented(getattr(entry[3], "cls", object))]


def _is_documented(view: type) -> bool:
    return issubclass(view, ApiViewSet) and view.documented


def complete(result: Schema, **_: Any) -> Schema:
    """Add what all operations share: the problem document and the ways to authenticate."""
    components = result.setdefault("components", {})
    components.setdefault("schemas", {})["Problem"] = PROBLEM_SCHEMA
    components["securitySchemes"] = {
        "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
        "apiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
        "oauth": {
            "type": "oauth2",
            "flows": {
                "authorizationCode": {
                    "authorizationUrl": "/oauth/authorize",
                    "tokenUrl": "/oauth/token",
                    "scopes": _scopes(result),
                },
                "clientCredentials": {"tokenUrl": "/oauth/token", "scopes": _scopes(result)},
            },
        },
    }
    return result


def _scopes(result: Schema) -> dict[str, str]:
    found: set[str] = set()
    for item in result.get("paths", {}).values():
        for operation in item.values():
            for requirement in operation.get("security", []) if isinstance(operation, dict) else []:
                found.update(requirement.get("oauth", []))
    return {scope: scope for scope in sorted(found)}
