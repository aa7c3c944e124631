"""The look-up of a route by its first segments finds what Django's own resolver finds."""

from uuid import UUID

import pytest
from django.urls import Resolver404, URLResolver, get_resolver, path, resolve, reverse
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
    "/fhir/R4/Patient/_search",
    "/fhir/R4/Patient/a-1",
    "/fhir/R4/Patient/a-1/_history/2",
    "/fhir/R4/Patient/a-1/Observation",
    "/fhir/R4/Patient/a-1/$everything",
    "/fhir/R4/Observation/$lastn",
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
    words, values = (directory()._by_head["v1/products", count] for count in (1, 2))
    assert [str(one.pattern) for one in words.by_tail["products"]] == ["v1/products"]
    assert [str(one.pattern) for one in values.open] == ["v1/products/<uuid:pk>"]


def test_route_that_ends_in_a_word_keeps_its_place_among_those_that_end_in_a_value():
    def view(request: object) -> None: ...

    routes = ["a/b/x", "a/b/<uuid:pk>", "a/b/y", "a/b/<str:name>", "a/b/z"]
    made = Directory([path(route, view, name=route) for route in routes])
    found = {tail: made.resolve(f"a/b/{tail}").url_name for tail in ("x", "y", "z", "other", str(IDENTITY))}
    assert found == {
        "x": "a/b/x",
        "y": "a/b/y",
        "z": "a/b/<str:name>",
        "other": "a/b/<str:name>",
        str(IDENTITY): "a/b/<uuid:pk>",
    }


def test_names_still_lead_to_addresses():
    assert reverse("product-detail", kwargs={"pk": IDENTITY}) == f"/v1/products/{IDENTITY}"
