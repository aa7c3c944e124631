"""`_summary` and `_elements` of a read: how much of the resource is answered. Source: R4 http.html#parameters, search.html#summary."""

from collections.abc import Callable

from django.http import HttpRequest

from .search.control import Control, apply
from .search.refusals import wrong_value
from .search.subsets import subset

Part = Callable[[bytes], bytes] | None

_NAMES = ("_summary", "_elements")


def part_of(request: HttpRequest, type_name: str) -> Part:
    """What makes the wanted part of a resource's bytes; None where the whole is wanted.

    :raises InvalidSearch: `_summary` is none of R4's, or counts, which is for searches.
    """
    query = request.META.get("QUERY_STRING", "")
    if not any(name in query for name in _NAMES):
        return None
    control = Control()
    for name in _NAMES:
        for value in filter(None, request.GET.getlist(name)):
            apply(control, (type_name,), name, value)
    if control.only_total:
        raise wrong_value("_summary", "true, text, data or false of a read")
    return (lambda body: subset(body, control)) if control.subsets else None
