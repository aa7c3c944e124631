"""What a viewset declares, checked and completed when its module is imported.

A class attribute of DRF that the platform would ignore is refused, with the name of the place that decides instead.
Otherwise somebody could rely on a permission, a throttle or a queryset that is never consulted.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from inspect import Parameter, signature
from typing import Any, NoReturn

from django.core.exceptions import ImproperlyConfigured
from rest_framework.serializers import BaseSerializer, Serializer

from .batches import is_batch
from .filters import Filters
from .listing import Listing
from .operations import READS, Operation
from .representations import Representation, shape_of

STANDARD = ("list", "create", "retrieve", "update", "partial_update", "destroy")

_OPERATIONS = "each operation's scope, kind, feature and step-up decide (api/permissions.py)"
_READS = "the representation names its model and `where` (api/representations.py), `restriction` narrows the rows"
_ANSWERS = "answers are JSON in the family's envelope (api/envelopes.py)"
_THROTTLES = "the family and an operation's `policy` decide (api/ratelimits.py)"
_CREDENTIALS = "the authenticator named in settings proves every credential (api/authentication.py)"
_PAGES = "the family decides (api/list_responses.py)"
_BODIES = "bodies are strict JSON (api/body.py)"
_FORMS = "`serializer_class` and an operation's `answer` and `body` are the forms"
_ERRORS = "refusals are answered in one place (api/errors.py)"
_STEPS = "`dispatch` of ApiViewSet is the way in (api/views.py)"
_FILTERS = "`filterset_class`, `ordering_fields` and `ordering` are the filters and sorts (api/listing.py)"
_ELSEWHERE = {
    "authentication_classes": _CREDENTIALS,
    "get_authenticators": _CREDENTIALS,
    "get_authenticate_header": _CREDENTIALS,
    "perform_authentication": _CREDENTIALS,
    "permission_classes": _OPERATIONS,
    "get_permissions": _OPERATIONS,
    "check_permissions": _OPERATIONS,
    "permission_denied": _OPERATIONS,
    "check_object_permissions": "an operation's `find` refuses what the caller may not have",
    "throttle_classes": _THROTTLES,
    "throttle_scope": _THROTTLES,
    "get_throttles": _THROTTLES,
    "check_throttles": _THROTTLES,
    "throttled": _THROTTLES,
    "filter_backends": _FILTERS,
    "filterset_fields": _FILTERS,
    "filter_queryset": _FILTERS,
    "search_fields": "a filter of `filterset_class` searches",
    "pagination_class": _PAGES,
    "paginator": _PAGES,
    "paginate_queryset": _PAGES,
    "get_paginated_response": _PAGES,
    "parser_classes": _BODIES,
    "get_parsers": _BODIES,
    "get_parser_context": _BODIES,
    "renderer_classes": _ANSWERS,
    "get_renderers": _ANSWERS,
    "get_renderer_context": _ANSWERS,
    "content_negotiation_class": _ANSWERS,
    "get_content_negotiator": _ANSWERS,
    "perform_content_negotiation": _ANSWERS,
    "default_response_headers": _ANSWERS,
    "finalize_response": _ANSWERS,
    "get_success_headers": "the write names the Location (api/writes.py)",
    "metadata_class": "the OpenAPI document describes operations",
    "options": "the OpenAPI document describes operations",
    "schema": "`documented` and the operations are the document (api/openapi.py)",
    "versioning_class": "the address holds the version",
    "determine_version": "the address holds the version",
    "queryset": _READS,
    "get_queryset": _READS,
    "get_object": "an operation's `find` returns the locked target",
    "lookup_field": "`lookup_url_kwarg` names the id in the path, `Meta.key` of the representation its column",
    "lookup_value_regex": "`lookup_value_converter` says what an id in the path is",
    "get_serializer": _FORMS,
    "get_serializer_class": _FORMS,
    "get_serializer_context": _FORMS,
    "perform_create": "an operation's `run` names the action",
    "perform_update": "an operation's `run` names the action",
    "perform_destroy": "an operation's `run` names the action",
    "http_method_names": "the operations name the methods that there are",
    "http_method_not_allowed": _ERRORS,
    "handle_exception": _ERRORS,
    "raise_uncaught_exception": _ERRORS,
    "get_exception_handler": _ERRORS,
    "get_exception_handler_context": _ERRORS,
    "initial": _STEPS,
    "initialize_request": _STEPS,
    "setup": _STEPS,
    "settings": "settings of DRF decide nothing here; the settings of the platform are in config/settings.py",
}


def check_attributes(view: type, names: Iterable[str]) -> None:
    """Refuse attributes of DRF that would be ignored.

    :raises ImproperlyConfigured: with the place that decides instead.
    """
    for name in sorted(names):
        if name in _ELSEWHERE:
            raise ImproperlyConfigured(f"{view.__name__}.{name} would have no effect: {_ELSEWHERE[name]}.")


def check_options(view: type, base: type, names: Iterable[str]) -> None:
    """Refuse options of `as_view` and `@action` that come too late: the class was completed without them.

    :raises ImproperlyConfigured: DRF's attributes with the place that decides, the platform's own with what to do.
    """
    given = list(names)
    check_attributes(view, given)
    for name in given:
        if name in base.__annotations__:
            raise ImproperlyConfigured(
                f"{view.__name__}.{name} is read when the class is made: declare it in the class or its operations."
            )


def completed(view: Any, base: type) -> tuple[Listing | None, dict[str, Operation]]:
    """The viewset's own list, and its operations with what they take from the class; `base` is ApiViewSet.

    :raises ImproperlyConfigured: a form is none of ours, an operation has no method or a method no operation, or an
        action does not take what its operation gives it.
    """
    listing = _listing(view)
    _check_methods(view, base)
    if view.scope_prefix and view.scope_prefix[-1] not in ":.":
        _refuse(view, "scope_prefix", f"{view.scope_prefix!r} ends neither in a colon nor in a dot, as scopes do")
    found = {name: _completed(view, name, one, listing) for name, one in view.declared.items()}
    for name, operation in found.items():
        _check_forms(view, name, operation)
        _check_action(view, name, operation)
        if name in STANDARD and getattr(view, name) is getattr(base, name):
            _check_standard(view, name, operation)
    return listing, found


def _refuse(view: Any, name: str, reason: str) -> NoReturn:
    raise ImproperlyConfigured(f"{view.__name__}.{name}: {reason}.")


def _listing(view: Any) -> Listing | None:
    kind, filters = view.serializer_class, view.filterset_class
    if kind is None:
        return None
    if not (isinstance(kind, type) and issubclass(kind, Representation)):
        _refuse(view, "serializer_class", "it is the answer's form, a Representation (api/representations.py)")
    if filters is not None and not (isinstance(filters, type) and issubclass(filters, Filters)):
        _refuse(view, "filterset_class", "it is a subclass of Filters (api/filters.py)")
    try:
        return Listing.of(
            kind,
            filterset_class=filters,
            ordering_fields=view.ordering_fields,
            ordering=view.ordering,
            count=view.count_sql,
            days=view.day_counts,
            restriction=view.restriction,
        )
    except ImproperlyConfigured as error:
        raise ImproperlyConfigured(f"{view.__name__}.ordering_fields: {error}") from error


def _check_methods(view: Any, base: type) -> None:
    for name in view.declared:
        own = name in STANDARD or not hasattr(base, name)
        if not (own and callable(getattr(view, name, None))):
            _refuse(view, name, "the operation has no such method, neither a standard one nor an @action")
    for name, method in _actions(view, base):
        check_options(view, base, getattr(method, "kwargs", {}))
        if name not in view.declared:
            _refuse(view, name, "the method has no operation, so nobody could call it (api/operations.py)")


def _actions(view: Any, base: type) -> Iterator[tuple[str, Any]]:
    """The standard methods and @actions that the view, or what it inherits from above the base, defines."""
    names = {name for kind in view.__mro__ if kind not in base.__mro__ for name in vars(kind)}
    for name in sorted(names):
        method = getattr(view, name)
        if callable(method) and (name in STANDARD or hasattr(method, "mapping")):
            yield name, method


def _completed(view: Any, name: str, declared: Operation, listing: Listing | None) -> Operation:
    changes: dict[str, Any] = {
        "kind": view.tenant_kind if declared.kind is None else declared.kind,
        "feature": view.feature if declared.feature is None else declared.feature,
        "status": declared.status or {"create": 201, "destroy": 204}.get(name, 200),
        "partial": declared.partial or (name == "partial_update" and declared.body is not None),
    }
    if declared.scope is None:
        if not view.scope_prefix and not (declared.any_scope or declared.public):
            raise ImproperlyConfigured(f"{view.__name__}.{name} names no scope, and its viewset no scope_prefix.")
        verb = "read" if _is_read(view, name) else "write"
        changes["scope"] = "" if declared.any_scope or declared.public else f"{view.scope_prefix}{verb}"
    if declared.answer is None and is_batch(declared.body):
        declared = replace(declared, answer=declared.body.answer())
    if declared.listing is None and name == "list" and declared.items is None and declared.answer is None:
        changes["listing"] = listing
    if declared.shape is None and changes.get("listing") is None and declared.listing is None and name != "list":
        changes["shape"] = shape_of(declared.answer or view.serializer_class) if changes["status"] != 204 else None
    return replace(declared, **changes)


def _is_read(view: Any, name: str) -> bool:
    mapping = getattr(getattr(view, name, None), "mapping", {})
    return name in READS or set(mapping) == {"get"}


def _check_forms(view: Any, name: str, found: Operation) -> None:
    if found.body is not None and not (isinstance(found.body, type) and issubclass(found.body, Serializer)):
        raise ImproperlyConfigured(f"{view.__name__}.{name}: body is a serializer.")
    if found.answer is not None and not (isinstance(found.answer, type) and issubclass(found.answer, BaseSerializer)):
        raise ImproperlyConfigured(f"{view.__name__}.{name}: answer is a serializer.")
    if found.upsert and not found.find:
        _refuse(view, name, "an upsert has a `find`, which returns None where nothing stands under the code")


def _check_action(view: Any, name: str, found: Operation) -> None:
    """Compare the action's parameters with what the operation passes; the target is named after its kind."""
    if found.run is None:
        return
    wanted = found.arguments()
    given = [
        one.name for one in signature(found.run).parameters.values() if one.kind is Parameter.POSITIONAL_OR_KEYWORD
    ]
    named = len(given) > 1 and given[1] not in ("data", "at")
    usual = [("target" if named and found.find and position == 1 else one) for position, one in enumerate(given)]
    if usual[: len(wanted)] != wanted:
        raise ImproperlyConfigured(
            f"{view.__name__}.{name}: {found.run.__name__} takes ({', '.join(given)}), not ({', '.join(wanted)})."
        )


def _check_standard(view: Any, name: str, found: Operation) -> None:
    """What the base's own method needs of its operation."""
    if name in READS:
        if (found.listing or found.shape) is None:
            _refuse(view, name, "there is neither a serializer_class nor an answer of its own to read")
        return
    if found.run is None:
        _refuse(view, name, "the operation names no action to `run`, and the viewset has no method of its own")
    parameters = list(signature(found.run).parameters.values())[len(found.arguments()) :]
    demanded = [
        one.name
        for one in parameters
        if one.default is Parameter.empty
        and one.name not in ("reading", view.lookup_url_kwarg if found.upsert else "")
        and one.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    ]
    if demanded:
        _refuse(view, name, f"nobody gives {found.run.__name__} its {', '.join(demanded)}; pass it to `write`")
