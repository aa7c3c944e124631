"""Every POST that names in Location where its resource is read names an address that reads it. Source: contract, conventions."""

from uuid import uuid4

import pytest
from django.test import RequestFactory
from django.urls import Resolver404, resolve
from django.urls.converters import get_converters

from tests.architecture.test_routes import ROUTES

POSTS = [(path, pattern) for path, pattern in ROUTES if "post" in pattern.callback.actions]
NAMED = "1f0c2d6e-7a4b-4c3d-9e8f-0123456789ab"


def address(path, pattern):
    """An address that the route answers."""
    found = path
    for name, converter in pattern.pattern.converters.items():
        kind = next(key for key, one in get_converters().items() if one is converter)
        value = NAMED if kind in ("uuid", "slug", "str") else "Patient"
        found = found.replace(f"<{kind}:{name}>", value)
    return "/" + found


def reader_of(location):
    """The action that a GET of an address runs; "" where there is none."""
    try:
        return resolve(location).func.actions.get("get", "")
    except Resolver404:
        return ""


@pytest.mark.parametrize(("path", "pattern"), POSTS, ids=[path for path, _ in POSTS])
def test_location_of_a_post_leads_to_a_read(path, pattern):
    view = pattern.callback.cls(**pattern.callback.initkwargs)
    view.action = pattern.callback.actions["post"]
    view.operation = view.operations[view.action]
    view.request = RequestFactory().post(address(path, pattern))
    view.kwargs = dict.fromkeys(pattern.pattern.converters, NAMED)
    location = view.location(uuid4(), view.operation.status)
    if location:
        assert reader_of(location) == "retrieve", location


def test_location_is_named_where_the_created_can_be_read():
    named = set()
    for path, pattern in POSTS:
        view = pattern.callback.cls(**pattern.callback.initkwargs)
        view.action = pattern.callback.actions["post"]
        if view.action != "create" or view.operations["create"].status != 201 or path.startswith("fhir/"):
            continue  # FHIR names the version that was made, whoever answers
        view.operation = view.operations["create"]
        view.request = RequestFactory().post(address(path, pattern))
        view.kwargs = dict.fromkeys(pattern.pattern.converters, NAMED)
        location = view.location(NAMED, 201)
        if reader_of(f"{address(path, pattern)}/{NAMED}") == "retrieve":
            assert location, path
        named.add((path, bool(location)))
    assert ("v1/memberships", False) in named
    assert ("v1/locations", True) in named
