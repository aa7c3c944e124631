"""`[base]/[type]`: create, and the conditional interactions. Source: R4 http.html#create, #cond-update, #cdelete."""

from django.http import HttpRequest, HttpResponse

from fhir_api import bodies
from fhir_api.intentions import Write
from fhir_api.store.models import Method

from .base import check_type, writing
from .searches import SearchViewSet


class TypeViewSet(SearchViewSet):
    """All resources of one type."""

    operations = {
        **SearchViewSet.operations,
        "create": writing("Create a resource, if none matches If-None-Exist"),
        "update": writing("Replace the resource that matches, or create it"),
        "partial_update": writing("Patch the resource that matches"),
        "destroy": writing("Delete the resource that matches, or with `_count` several"),
    }

    def create(self, request: HttpRequest, type_name: str) -> HttpResponse:
        """Create; an empty If-None-Exist is as none."""

        def make() -> Write:
            check_type(type_name)
            resource = bodies.resource_of(request, type_name)
            criteria = bodies.none_exist_of(request)
            return Write(Method.POST, type_name, criteria=criteria, resource=resource)

        return self.change(make)

    def update(self, request: HttpRequest, type_name: str) -> HttpResponse:
        """Conditional update."""

        def make() -> Write:
            check_type(type_name)
            criteria = bodies.criteria_of(request)
            resource = bodies.resource_of(request, type_name)
            return bodies.conditioned(request, Write(Method.PUT, type_name, criteria=criteria, resource=resource))

        return self.change(make)

    def partial_update(self, request: HttpRequest, type_name: str) -> HttpResponse:
        """Conditional patch."""

        def make() -> Write:
            check_type(type_name)
            criteria = bodies.criteria_of(request)
            patch = bodies.patch_of(request)
            return bodies.conditioned(request, Write(Method.PATCH, type_name, criteria=criteria, patch=patch))

        return self.change(make)

    def destroy(self, request: HttpRequest, type_name: str) -> HttpResponse:
        """Conditional delete: of one, or with `_count` of so many at most."""

        def make() -> Write:
            check_type(type_name)
            criteria = bodies.criteria_of(request)
            return bodies.conditioned(request, Write(Method.DELETE, type_name, criteria=criteria))

        return self.change(make)
