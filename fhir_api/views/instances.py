"""`[base]/[type]/[id]`: read, update, patch and delete one resource; vread. Source: R4 http.html."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse

from core.errors import NotFound
from core.pipeline import Call
from fhir_api import bodies
from fhir_api.access.records import Access
from fhir_api.ids import check_id
from fhir_api.intentions import Write
from fhir_api.store import NoSuchResource, reads
from fhir_api.store.models import Method

from .base import FhirViewSet, check_type, reading, writing


class UnknownOperation(NotFound):
    """There is no such operation here."""

    code = "unknown_operation"
    title = "There is no such operation."


def check_name(type_name: str, fhir_id: str) -> None:
    """Refuse what names no resource of this server.

    :raises UnknownType, UnknownOperation, InvalidId: the type, an operation in place of the id, the id.
    """
    check_type(type_name)
    if fhir_id.startswith("$"):
        raise UnknownOperation(issue_type="not-supported")
    check_id(fhir_id)


class InstanceViewSet(FhirViewSet):
    """One resource."""

    operations = {
        "retrieve": reading("Read a resource"),
        "update": writing("Replace a resource, or create it under this id"),
        "partial_update": writing("Patch a resource"),
        "destroy": writing("Delete a resource"),
    }

    def retrieve(self, request: HttpRequest, type_name: str, fhir_id: str) -> HttpResponse:
        """Read; HEAD and conditional read too."""

        def call(tenant_id: UUID) -> Call:
            check_name(type_name, fhir_id)
            return reads.current_call(tenant_id, type_name, fhir_id)

        return self.version(call, Access("read", type_name, fhir_id))

    def update(self, request: HttpRequest, type_name: str, fhir_id: str) -> HttpResponse:
        """Update, or create under the client's id."""

        def make() -> Write:
            check_name(type_name, fhir_id)
            resource = bodies.resource_of(request, type_name, fhir_id=fhir_id)
            return bodies.conditioned(request, Write(Method.PUT, type_name, fhir_id, resource=resource))

        return self.change(make)

    def partial_update(self, request: HttpRequest, type_name: str, fhir_id: str) -> HttpResponse:
        """Patch."""

        def make() -> Write:
            check_name(type_name, fhir_id)
            return bodies.conditioned(request, Write(Method.PATCH, type_name, fhir_id, patch=bodies.patch_of(request)))

        return self.change(make)

    def destroy(self, request: HttpRequest, type_name: str, fhir_id: str) -> HttpResponse:
        """Delete; what is not there stays so."""

        def make() -> Write:
            check_name(type_name, fhir_id)
            return bodies.conditioned(request, Write(Method.DELETE, type_name, fhir_id))

        return self.change(make)


class VersionViewSet(FhirViewSet):
    """One version of a resource."""

    operations = {"retrieve": reading("Read a version of a resource")}

    def retrieve(self, request: HttpRequest, type_name: str, fhir_id: str, version: str) -> HttpResponse:
        """Vread."""

        def call(tenant_id: UUID) -> Call:
            check_name(type_name, fhir_id)
            number = reads.number_of(version)
            if not number:
                raise NoSuchResource("There is no such version.")
            return reads.numbered_call(tenant_id, type_name, fhir_id, number)

        return self.version(call, Access("vread", type_name, fhir_id))
