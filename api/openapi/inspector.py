"""One operation of the document, read from `ApiViewSet.operations`."""

from dataclasses import replace
from typing import Any

from drf_spectacular.drainage import get_override, has_override
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import is_list_serializer, is_patched_serializer
from rest_framework.serializers import BaseSerializer, Serializer

from api.families import FAMILIES, CredentialKind
from api.operations import Operation
from api.transport import MULTIPART
from api.views import ApiViewSet

from . import (
    answer_fields,  # noqa: F401  # drf-spectacular finds its classes
    naming,
)
from .answers import answer_form, not_modified, success
from .components import Components, Schema
from .examples import always_there
from .parameters import parameters
from .refusals import Situation, refusal_responses

_VERSION: Schema = {
    "type": "integer",
    "description": "The version that the client has read; an alternative to If-Match.",
}


class Inspector(AutoSchema):
    """drf-spectacular's inspector for the platform's viewsets; serializers become components by its own registry."""

    view: ApiViewSet  # type: ignore[override]  # the library's declaration is wider

    def get_operation(self, path: str, path_regex: str, path_prefix: str, method: str, registry: Any) -> Schema | None:
        """Build the operation object; None leaves out views that declare no operation."""
        self.registry, self.path, self.method = registry, path, method.upper()
        view = self.view
        if not isinstance(view, ApiViewSet) or view.action not in view.operations:
            return None
        declared = view.operations[view.action]
        components = Components(registry)
        situation = Situation(declared, self.method, path, etag=_has_etag(declared, self.method), family=view.family)
        found: Schema = {
            "operationId": self._operation_id(declared),
            "tags": [naming.tag(view, path)],
            "summary": declared.summary,
            "description": _description(declared, view.family),
            "security": _security(declared, view.family),
            "x-rate-family": declared.policy or view.family,
            "x-idempotent": self.method != "GET",
        }
        if declared.scope:
            found["x-required-scope"] = declared.scope
        if listed := parameters(situation, view, components):
            found["parameters"] = listed
        if declared.body is not None:
            content = {"application/json": self._body(declared.body, declared)}
            if declared.multipart is not None:
                content[MULTIPART] = self._body(declared.multipart, declared)
            found["requestBody"] = {"required": True, "content": content}
        found["responses"] = {
            str(status): success(replace(declared, status=status), self, components)
            for status in sorted({declared.status, *declared.further_statuses, *([201] if declared.upsert else [])})
        }
        if situation.etag:
            found["responses"]["304"] = not_modified(components)
        found["responses"] |= refusal_responses(situation, components)
        return found

    def _operation_id(self, declared: Operation) -> str:
        view = self.view
        listed = declared.listing is not None or declared.items is not None
        return naming.operation_id(view, view.action, self._noun(declared), listed=listed, reads=self.method == "GET")

    def _noun(self, declared: Operation) -> str:
        """Return the component's name of what the operation answers, or else of what its viewset answers elsewhere."""
        for one in (declared, *self.view.operations.values()):
            if form := answer_form(one):
                return self._get_serializer_name(form(), "response")
        return ""

    def answer_reference(self, form: type[BaseSerializer[Any]]) -> tuple[str, Schema]:
        """Return the name of an answer's component and the reference to it."""
        serializer: Any = form()
        component = self.resolve_serializer(serializer, "response")
        return component.name, component.ref

    # -- bodies ------------------------------------------------------------------------------------------------------

    def _body(self, kind: type[Serializer[Any]], declared: Operation) -> Schema:
        serializer: Serializer[Any] = kind(partial=declared.partial)
        component = self.resolve_serializer(serializer, "request")
        if "version" not in serializer.fields and self.method in ("PUT", "PATCH"):
            component.schema["properties"].setdefault("version", _VERSION)
        media: Schema = {"schema": component.ref}
        if example := declared.example or getattr(getattr(kind, "Meta", None), "example", None):
            media["example"] = example
        return media

    def _map_serializer(self, serializer: Any, direction: Any, bypass_extensions: bool = False) -> Schema:
        schema: Schema = _tidy(super()._map_serializer(serializer, direction, bypass_extensions))
        if direction == "request" and schema.get("type") == "object":
            schema["additionalProperties"] = False
        return schema if direction == "request" else _as_answer(schema, serializer)

    def _get_serializer_name(self, serializer: Any, direction: Any, bypass_extensions: bool = False) -> str:
        if is_list_serializer(serializer):
            return self._get_serializer_name(serializer.child, direction, bypass_extensions)
        given = type(serializer).__name__
        if has_override(serializer, "component_name"):
            given = str(get_override(serializer, "component_name"))
        if direction == "request":
            return naming.request_name(given, partial=is_patched_serializer(serializer, direction))
        return naming.answer_name(given)


def _as_answer(schema: Schema, serializer: Any) -> Schema:
    """Adapt an answer's schema: members that are always there are required, enums may grow, nothing is read-only."""
    meta = getattr(serializer, "Meta", None)
    sometimes = {*getattr(meta, "includes", ()), *getattr(meta, "revealed", ())}
    fields = getattr(serializer, "fields", {})
    required = [name for name in schema.get("properties", {}) if name not in sometimes and always_there(fields[name])]
    opened: Schema = _opened(schema)
    return (
        opened | {"required": required} if required else {key: one for key, one in opened.items() if key != "required"}
    )


# Bounds of a column's type say nothing about an answer.
_OF_BODIES = ("readOnly", "default", "minimum", "maximum")


def _opened(schema: Any) -> Any:
    """A schema of an answer: lists of values may grow."""
    if isinstance(schema, list):
        return [_opened(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: _opened(part) for name, part in schema.items() if name not in _OF_BODIES}
    if list(found) == ["allOf"] and len(found["allOf"]) == 1:  # what was beside the reference is gone
        return found["allOf"][0]
    if isinstance(values := found.pop("enum", None), list):
        found["x-extensible-enum"] = [value for value in values if value not in (None, "")]
    return found


def _has_etag(declared: Operation, method: str) -> bool:
    return method == "GET" and declared.listing is None and declared.shape is not None and bool(declared.shape.version)


def _tidy(schema: Any) -> Any:
    """Remove repeated types, and an empty default that the field itself would refuse."""
    if isinstance(schema, list):
        return [_tidy(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: _tidy(part) for name, part in schema.items() if name != "x-spec-enum-id"}
    if found.get("default") == "" and found.get("minLength"):
        del found["default"]
    if isinstance(found.get("type"), list):
        found["type"] = list(dict.fromkeys(found["type"]))
    return found


def _description(declared: Operation, family: str) -> str:
    supplier = f" for the buyer, `{declared.supplier_scope}` for the supplier" if declared.supplier_scope else ""
    wanted = [declared.scope] if declared.scope else [*declared.any_scope]
    scope = f"Scope: `{'` or `'.join(wanted)}`{supplier}. " if wanted else ""
    terms = f"{scope}Rate family: `{declared.policy or family}`."
    return f"{declared.description}\n\n{terms}" if declared.description else terms


def _security(declared: Operation, family: str) -> list[Schema]:
    if declared.public:
        return []
    scopes = [declared.scope] if declared.scope else list(declared.any_scope)
    # One of several schemes is enough, all scopes of one are wanted.
    either = [{"oauth": [scope.replace(":", ".")]} for scope in scopes] or [{"oauth": []}]
    both: list[Schema] = [{"bearer": []}, *either]
    takes_key = CredentialKind.API_KEY in FAMILIES[family].styles or bool(declared.supplier_scope)
    return [*both, {"apiKey": []}] if takes_key and not declared.user_only else both
