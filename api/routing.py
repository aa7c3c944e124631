"""Routes of viewsets, and the look-up of a route. Ids are UUIDs, so `/webhooks/meta` is never taken for an id."""

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
    `singleton` has one resource at its address, without an id. A prefix may contain ids of parent resources:
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
        """Return the methods whose actions are declared; every viewset inherits the standard actions."""
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
    """A resolver that looks a route up by the path's first two segments, the number of its segments and the last one.

    Django tries one route after another; with some 200 routes that costs more than the other steps before the view. A
    path that the look-up does not find is left to Django.
    """

    def __init__(self, patterns: list[URLPattern | URLResolver]) -> None:
        super().__init__(RoutePattern(""), patterns)

    def resolve(self, path: str) -> ResolverMatch:
        """Return the match of a path.

        :raises Resolver404: there is no such route.
        """
        return self.at_hand(path) or super().resolve(path)

    def at_hand(self, path: str) -> ResolverMatch | None:
        """Return the match among the routes with the same first segments and length, or None."""
        kin = self._by_head.get((_head(path), path.count("/")))
        if kin is None:
            return None
        for pattern in kin.by_tail.get(_tail(path), kin.open):
            if match := pattern.resolve(path):
                return match
        return None

    @cached_property
    def _by_head(self) -> dict[tuple[str, int], "_Kin"]:
        grouped: dict[tuple[str, int], _Kin] = {}
        for route, pattern in _routes(self.url_patterns, ""):
            if "<" not in _head(route) and "<path:" not in route:
                whole = path(route, pattern.callback, pattern.default_args, pattern.name)
                grouped.setdefault((_head(route), route.count("/")), _Kin()).add(_tail(route), whole)
        return grouped


class _Kin:
    """Routes with the same first segments and length, in their order: by their last word, and those that end in a value."""

    def __init__(self) -> None:
        self.by_tail: dict[str, list[URLPattern]] = {}
        self.open: list[URLPattern] = []

    def add(self, tail: str, pattern: URLPattern) -> None:
        """Take a further route; one that ends in a value may match whatever the last word is."""
        if "<" not in tail:
            self.by_tail.setdefault(tail, self.open.copy()).append(pattern)
            return
        self.open.append(pattern)
        for found in self.by_tail.values():
            found.append(pattern)


def find(path: str) -> ResolverMatch | None:
    """Return the match of an address that a directory knows; None leaves the search to Django."""
    for pattern in get_resolver().url_patterns:
        if isinstance(pattern, Directory) and (match := pattern.at_hand(path[1:])):
            return match
    return None


def _head(route: str) -> str:
    return "/".join(route.split("/", 2)[:2])


def _tail(route: str) -> str:
    return route.rpartition("/")[2]


def _routes(patterns: Iterable[Any], before: str) -> Iterator[tuple[str, URLPattern]]:
    """Yield every plain route with its whole address; namespaces and regular expressions are left to Django."""
    for pattern in patterns:
        if not isinstance(pattern.pattern, RoutePattern):
            continue
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield route, pattern
        elif not (pattern.namespace or pattern.app_name or pattern.default_kwargs):
            yield from _routes(pattern.url_patterns, route)
