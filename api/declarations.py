"""What a viewset declares, checked and completed when its module is imported.

A class attribute of DRF that the platform would ignore is refused, with the name of the place that decides instead.
Otherwise somebody could rely on a permission, a throttle or a queryset that is never consulted.
"""

from dataclasses import replace
from inspect import Parameter, signature
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from rest_framework.serializers import BaseSerializer, Serializer

from .listing import Listing
from .operations import READS, Operation
from .representations import Representation, shape_of

STANDARD = ("list", "create", "retrieve", "update", "partial_update", "destroy")

_OPERATIONS = "each operation's scope, kind, feature and step-up decide (api/permissions.py)"
_READS = "the representation names its model and `where` (api/representations.py), `restriction` narrows the rows"
_ANSWERS = "answers are JSON in the family's envelope (api/envelopes.py)"
_FILTERS = "`filterset_class`, `ordering_fields` and `ordering` are the filters and sorts (api/listing.py)"
_ELSEWHERE = {
    "authentication_classes": "the authenticator named in settings proves every credential (api/authentication.py)",
    "permission_classes": _OPERATIONS,
    "get_permissions": _OPERATIONS,
    "check_permissions": _OPERATIONS,
    "check_object_permissions": "an operation's `find` refuses what the caller may not have",
    "throttle_classes": "the family and an operation's `policy` decide (api/ratelimits.py)",
    "throttle_scope": "the family and an operation's `policy` decide (api/ratelimits.py)",
    "get_throttles": "the family and an operation's `policy` decide (api/ratelimits.py)",
    "filter_backends": _FILTERS,
    "filter_queryset": _FILTERS,
    "search_fields": "a filter of `filterset_class` searches",
    "pagination_class": "the family decides (api/list_responses.py)",
    "paginate_queryset": "the family decides (api/list_responses.py)",
    "parser_classes": "bodies are strict JSON (api/body.py)",
    "renderer_classes": _ANSWERS,
    "content_negotiation_class": _ANSWERS,
    "metadata_class": "the OpenAPI document describes operations",
    "versioning_class": "the address holds the version",
    "queryset": _READS,
    "get_queryset": _READS,
    "get_object": "an operation's `find` returns the locked target",
    "get_serializer": "`serializer_class` and an operation's `answer` and `body` are the forms",
    "get_serializer_class": "`serializer_class` and an operation's `answer` and `body` are the forms",
    "perform_create": "an operation's `run` names the action",
    "perform_update": "an operation's `run` names the action",
    "perform_destroy": "an operation's `run` names the action",
}


def check_attributes(view: type, names: Any) -> None:
    """Refuse attributes of DRF that would be ignored.

    :raises ImproperlyConfigured: with the place that decides instead.
    """
    for name in names:
        if name in _ELSEWHERE:
            raise ImproperlyConfigured(f"{view.__name__}.{name} would have no effect: {_ELSEWHERE[name]}.")


def completed(view: Any) -> tuple[Listing | None, dict[str, Operation]]:
    """The viewset's own list, and its operations with what they take from the class.

    :raises ImproperlyConfigured: a form is none of ours, an operation has no method or a method no operation, or an
        action does not take what its operation gives it.
    """
    listing = _listing(view)
    _check_methods(view)
    return listing, {name: _completed(view, name, one, listing) for name, one in view.operations.items()}


def _listing(view: Any) -> Listing | None:
    kind = view.serializer_class
    if kind is None:
        return None
    if not (isinstance(kind, type) and issubclass(kind, Representation)):
        raise ImproperlyConfigured(f"{view.__name__}.serializer_class is the answer's form, a Representation.")
    return Listing.of(
        kind,
        filterset_class=view.filterset_class,
        ordering_fields=view.ordering_fields,
        ordering=view.ordering,
        count=view.count_sql,
    )


def _check_methods(view: Any) -> None:
    for name in view.operations:
        if not callable(getattr(view, name, None)):
            raise ImproperlyConfigured(f"{view.__name__} declares the operation {name} but has no such method.")
    for name, method in vars(view).items():
        if (name in STANDARD or hasattr(method, "mapping")) and callable(method) and name not in view.operations:
            raise ImproperlyConfigured(f"{view.__name__}.{name} has no operation, so nobody could call it.")


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
    if declared.listing is None and name == "list" and declared.items is None and declared.answer is None:
        changes["listing"] = listing
    if declared.shape is None and changes.get("listing") is None and declared.listing is None and name != "list":
        changes["shape"] = shape_of(declared.answer or view.serializer_class) if changes["status"] != 204 else None
    found = replace(declared, **changes)
    _check_forms(view, name, found)
    _check_action(view, name, found)
    return found


def _is_read(view: Any, name: str) -> bool:
    mapping = getattr(getattr(view, name, None), "mapping", {})
    return name in READS or set(mapping) == {"get"}


def _check_forms(view: Any, name: str, found: Operation) -> None:
    if found.body is not None and not (isinstance(found.body, type) and issubclass(found.body, Serializer)):
        raise ImproperlyConfigured(f"{view.__name__}.{name}: body is a serializer.")
    if (
        found.answer is not None
        and not isinstance(found.answer, dict)
        and not (isinstance(found.answer, type) and issubclass(found.answer, BaseSerializer))
    ):
        raise ImproperlyConfigured(f"{view.__name__}.{name}: answer is a serializer.")


def _check_action(view: Any, name: str, found: Operation) -> None:
    """Compare the action's parameters with what the operation passes; the target is named after its kind."""
    if found.run is None:
        return
    wanted = found.arguments()
    given = [
        one.name for one in signature(found.run).parameters.values() if one.kind is Parameter.POSITIONAL_OR_KEYWORD
    ]
    usual = [("target" if "target" in wanted and position == 1 else one) for position, one in enumerate(given)]
    if usual[: len(wanted)] != wanted:
        raise ImproperlyConfigured(
            f"{view.__name__}.{name}: {found.run.__name__} takes ({', '.join(given)}), not ({', '.join(wanted)})."
        )
