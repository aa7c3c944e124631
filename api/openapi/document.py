"""Parts of the document besides operations: the introduction, the security schemes, the schemas of problems."""

from pathlib import Path
from typing import Any

from api.views import ApiViewSet

from .components import Schema
from .problems import FIELD_PROBLEM, PROBLEM

_ORDER = ("openapi", "info", "servers", "tags", "paths", "webhooks", "components")
_INTRODUCTION = Path(__file__).with_name("introduction.md")


def only_the_api(endpoints: list[Any]) -> list[Any]:
    """Keep the documented views of `ApiViewSet`; FHIR describes itself in its CapabilityStatement."""
    return [entry for entry in endpoints if _is_documented(getattr(entry[3], "cls", object))]


def _is_documented(view: type) -> bool:
    return issubclass(view, ApiViewSet) and view.documented


def complete(result: Schema, **_: Any) -> Schema:
    """Add what all operations share, and put the document in the order of reading; runs after the other hooks."""
    result["info"]["description"] = _INTRODUCTION.read_text()
    components = result.setdefault("components", {})
    components.setdefault("schemas", {}).update(Problem=PROBLEM, FieldProblem=FIELD_PROBLEM)
    components.setdefault("securitySchemes", {}).update(_security_schemes(_scopes(result)))
    result["components"] = {kind: dict(sorted(parts.items())) for kind, parts in sorted(components.items())}
    return {name: result[name] for name in _ORDER if name in result}


def _security_schemes(scopes: dict[str, str]) -> Schema:
    token = {"tokenUrl": "/oauth/token", "scopes": scopes}
    return {
        "bearer": {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "JWT",
            "description": "An access token from `POST /v1/auth/token` or from OAuth.",
        },
        "apiKey": {
            "type": "apiKey",
            "in": "header",
            "name": "X-API-Key",
            "description": "A key from `POST /v1/api-keys`, for systems.",
        },
        "oauth": {
            "type": "oauth2",
            "description": "OAuth 2.0 for third-party applications; the authorization code flow requires PKCE (S256).",
            "flows": {
                "authorizationCode": {"authorizationUrl": "/oauth/authorize", "refreshUrl": "/oauth/token", **token},
                "clientCredentials": token,
            },
        },
    }


def _scopes(result: Schema) -> dict[str, str]:
    found: set[str] = set()
    for item in result.get("paths", {}).values():
        for operation in item.values():
            for requirement in operation.get("security", []) if isinstance(operation, dict) else []:
                found.update(requirement.get("oauth", []))
    return {scope: _scope_text(scope) for scope in sorted(found)}


def _scope_text(scope: str) -> str:
    resource, _, verb = scope.partition(".")
    return f"{verb.capitalize()} {resource.replace('_', ' ')}." if verb else scope
