"""Routes of viewsets: no trailing slash, ids are UUIDs, so that words never meet `{id}`; and how a route is found."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.urls import ResolverMatch, URLPattern, URLResolver, get_resolver, path
from django.urls.resolvers import RoutePattern
from rest_framework.routers import DynamicRoute, Route, SimpleRouter


class Router(SimpleRouter):
    """DRF's router with the platform's settings: no trailing slash, `-` for `_` in the address of an `@action`.

    Only declared operations have routes; PUT is `update`, PATCH `partial_update`, DELETE `destroy`. A viewset with
    `singleton` has one resource at its address, without an id. A prefix may hold ids of resources above:
    `webhooks/<uuid:pk>/deliveries`.
    """

    def __init__(self) -> None:
        super().__init__(trailing_slash=False, use_regex_path=False)

    def get_routes(self, viewset: Any) -> list[Route]:
        """DRF's routes; those of a singleton stand at the prefix itself.

        :raises ImproperlyConfigured: the viewset declares no operations, so it would have no route.
        """
        if not viewset.operations:
            raise ImproperlyConfigured(f"{viewset.__name__}.operations is empty, so nobody could call it.")
        return [_SINGLETON] if viewset.singleton else super().get_routes(viewset)

    def get_method_map(self, viewset: Any, method_map: Any) -> dict[str, str]:
        """The methods whose actions are declared; the standard ones stand on the base of every viewset."""
        return {method: action for method, action in method_map.items() if action in viewset.operations}

    def _get_dynamic_route(self, route: DynamicRoute, action: Any) -> Route:
        found: Route = super()._get_dynamic_route(route, action)
        written = action.url_path if action.url_path != action.__name__ else action.url_path.replace("_", "-")
        return found._replace(url=route.url.replace("{url_path}", written))


_SINGLETON = Route(
    url=r"{prefix}{trailing_slash}",
    mapping={"get": "retrieve", "put": "update", "patch": "partial_update", "delete": "destroy"},
    name="{basename}",
    detail=True,
    initkwargs={},
)


class Directory(URLResolver):
    """Finds a route by the first two segments of the path and the number of all, where Django would try one after another.

    With some 200 routes that would cost more than the rest of the way in. What is not found so is tried as ever.
    """

    def __init__(self, patterns: list[URLPattern | URLResolver]) -> None:
        super().__init__(RoutePattern(""), patterns)

    def resolve(self, path: str) -> ResolverMatch:
        """Return the match.

        :raises Resolver404: there is no such route.
        """
        return self.at_hand(path) or super().resolve(path)

    def at_hand(self, path: str) -> ResolverMatch | None:
        """The match on the path's shelf, if it stands there."""
        for pattern in self._shelves.get((_head(path), path.count("/")), ()):
            if match := pattern.resolve(path):
                return match
        return None

    @cached_property
    def _shelves(self) -> dict[tuple[str, int], list[URLPattern]]:
        shelves: dict[tuple[str, int], list[URLPattern]] = {}
        for route, pattern in _routes(self.url_patterns, ""):
            if "<" not in _head(route) and "<path:" not in route:
                whole = path(route, pattern.callback, pattern.default_args, pattern.name)
                shelves.setdefault((_head(route), route.count("/")), []).append(whole)
        return shelves


def find(path: str) -> ResolverMatch | None:
    """The route of an address where a directory knows it; None leaves the search to Django."""
    for pattern in get_resolver().url_patterns:
        if isinstance(pattern, Directory) and (match := pattern.at_hand(path[1:])):
            return match
    return None


def _head(route: str) -> str:
    return "/".join(route.split("/", 2)[:2])


def _routes(patterns: Iterable[Any], before: str) -> Iterator[tuple[str, URLPattern]]:
    """Every plain route with its whole address; namespaces and regular expressions are left to Django."""
    for pattern in patterns:
        if not isinstance(pattern.pattern, RoutePattern):
            continue
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield route, pattern
        elif not (pattern.namespace or pattern.app_name or pattern.default_kwargs):
            yield from _routes(pattern.url_patterns, route)
