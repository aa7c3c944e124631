"""Every address of the platform is guarded, and says by what."""

from collections.abc import Iterator

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from api.views import ApiViewSet

# "dev/" is not there in production (tests/config/test_mails.py).
OPEN = ("health/", "v1/openapi.json", "docs", "problems", "oauth/", ".well-known/", "admin/", "static/", "dev/")


def walk(patterns: list, prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from walk(pattern.url_patterns, prefix + str(pattern.pattern))
        else:
            yield prefix + str(pattern.pattern), pattern


ROUTES = [(path, pattern) for path, pattern in walk(get_resolver().url_patterns) if not path.startswith(OPEN)]
VIEWS = sorted(
    {pattern.callback.cls for _, pattern in ROUTES if hasattr(pattern.callback, "cls")}, key=lambda cls: cls.__name__
)


@pytest.mark.parametrize(("path", "pattern"), ROUTES, ids=[path for path, _ in ROUTES])
def test_route_stands_on_the_base_and_declares_its_operations(path, pattern):
    view = pattern.callback.cls
    assert issubclass(view, ApiViewSet)
    assert set(pattern.callback.actions.values()) <= set(view.operations)


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.__name__)
def test_operation_of_tenant_data_names_a_scope_or_says_why_not(view):
    for operation in view.operations.values():
        assert (
            operation.scope
            or operation.any_scope
            or operation.public
            or operation.tenant in ("optional", "none")
            or operation.description
        ), operation.summary


def test_there_are_routes():
    assert len(ROUTES) > 30
