"""The look-up of a route by its first segments finds what Django's own resolver finds."""

from uuid import UUID

import pytest
from django.urls import Resolver404, URLResolver, get_resolver, resolve, reverse
from django.urls.resolvers import RoutePattern

from api.routing import Directory

IDENTITY = UUID("01890a5d-ac96-774b-bcce-b302099a8057")
PATHS = [
    "/health/live",
    "/v1/products",
    f"/v1/products/{IDENTITY}",
    f"/v1/organizations/{IDENTITY}/children",
    f"/v1/tenants/{IDENTITY}/configuration",
    "/v1/auth/token",
    "/oauth/token",
    "/.well-known/oauth-authorization-server",
    "/admin/",
    "/admin/login/",
    "/v1/production-onboarding/rate-limits",
]
UNKNOWN = [
    "/",
    "/v1",
    "/v1/",
    "/v1/products/",
    "/v1/products/x",
    f"/v1/products/{IDENTITY}/x",
    "/v2/products",
    "//v1/products",
]


def directory() -> Directory:
    (found,) = get_resolver().url_patterns
    assert isinstance(found, Directory)
    return found


@pytest.mark.parametrize("address", PATHS)
def test_route_is_the_one_that_django_finds(address):
    walked = URLResolver(RoutePattern(""), directory().url_patterns).resolve(address[1:])
    found = resolve(address)
    assert (found.func, found.kwargs, found.route) == (walked.func, walked.kwargs, walked.route)


@pytest.mark.parametrize("address", UNKNOWN)
def test_unknown_address_has_no_route(address):
    with pytest.raises(Resolver404):
        resolve(address)


def test_products_are_found_without_walking():
    grouped = directory()._by_head
    found = {key: [str(one.pattern) for one in routes] for key, routes in grouped.items() if key[0] == "v1/products"}
    assert found == {("v1/products", 1): ["v1/products"], ("v1/products", 2): ["v1/products/<uuid:pk>"]}


def test_names_still_lead_to_addresses():
    assert reverse("product-detail", kwargs={"pk": IDENTITY}) == f"/v1/products/{IDENTITY}"
