"""`$meta`, `$meta-add` and `$meta-delete`: profiles, security labels and tags. Source: R4 resource-operations.html."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from api.writing import Command
from core.pipeline import Call
from fhir_api import answers, bodies, labels, negotiation, smart
from fhir_api.access.records import Access
from fhir_api.intentions import Write
from fhir_api.patching import SETS, MetaChange, Patch
from fhir_api.reading import read_body, read_stored
from fhir_api.resources import Json, written
from fhir_api.store import reads
from fhir_api.store.models import Method

from .base import FhirViewSet, check_type, reading, writing
from .instances import check_name
from .parameters import InvalidParameters, parts

_SERVERS = frozenset({"versionId", "lastUpdated"})  # who sends the Meta that he read sends these too


class MetaViewSet(FhirViewSet):
    """The labels that are used, by the system, a type or a resource, and their change."""

    operations = {
        "meta": reading("Read which profiles, security labels and tags are used"),
        "meta_of": reading("Read the meta of a resource"),
        "meta_add": writing("Add profiles, security labels and tags to a resource"),
        "meta_delete": writing("Take profiles, security labels and tags from a resource"),
    }

    def meta(self, request: HttpRequest, type_name: str = "") -> HttpResponse:
        """Answer each label once that stands on a resource which the caller may search."""

        def calls(tenant_id: UUID, access: smart.Access) -> list[Call]:
            types = (check_type(type_name),) if type_name else access.types(smart.SEARCH)
            return labels.used_calls(tenant_id, types, access)

        actor, rows = self.read_within(calls)
        if type_name:
            self.access.demand(type_name, smart.SEARCH)
        whose = (self.access.patient,) if self.access.patient else ()
        self.note(actor, Access("meta", type_name, patients=whose))
        return answers.of_resource(request, _parameters(labels.read_used(rows)))

    def meta_of(self, request: HttpRequest, type_name: str, fhir_id: str) -> HttpResponse:
        """Answer the meta of a resource."""

        def call(tenant_id: UUID) -> Call:
            check_name(type_name, fhir_id)
            return reads.current_call(tenant_id, type_name, fhir_id)

        return self.version(call, Access("meta", type_name, fhir_id), part=_meta_of)

    def meta_add(self, request: HttpRequest, type_name: str, fhir_id: str) -> HttpResponse:
        """Add labels; those that are there stay as they are."""
        return self._changed(MetaChange.ADD, type_name, fhir_id)

    def meta_delete(self, request: HttpRequest, type_name: str, fhir_id: str) -> HttpResponse:
        """Take labels away; those that are not there stay so."""
        return self._changed(MetaChange.DELETE, type_name, fhir_id)

    def _changed(self, change: MetaChange, type_name: str, fhir_id: str) -> HttpResponse:
        def work(command: Command) -> HttpResponse:
            check_name(type_name, fhir_id)
            patch = Patch(change, _given(self.request))
            write = bodies.conditioned(self.request, Write(Method.PATCH, type_name, fhir_id, patch=patch))
            version = self.carried_out(command, write).version
            assert version is not None
            headers = answers.headers_of(version)
            minimal = negotiation.preferred_return(self.request) == "minimal"
            if version.body is None or minimal or not self.reads(type_name):
                return answers.respond(b"", headers=headers)
            return answers.of_bytes(self.request, _meta_of(version.body), headers)

        return self.write(work)


def _given(request: HttpRequest) -> Json:
    """The Meta in the Parameters of the body.

    :raises InvalidParameters: there is none, or it has something else than profiles, security labels and tags.
    """
    negotiation.check_content_type(request)
    sent = parts(read_body(request.body, "Parameters").get("parameter", []))
    found: list[Any] = [one.get("valueMeta") for one in sent if one.get("name") == "meta"]
    if len(found) != 1 or not isinstance(found[0], dict):
        text = "The parameter meta holds one Meta, and there is one of it."
        raise InvalidParameters(text, issue_type="required", expression="Parameters.parameter")
    if others := sorted(found[0].keys() - {*SETS, *_SERVERS}):
        text = f"Only {', '.join(SETS)} can be added or deleted, not {', '.join(others)[:80]}."
        raise InvalidParameters(text, issue_type="value", expression="Parameters.parameter")
    return {name: value for name, value in found[0].items() if name in SETS}


def _meta_of(body: bytes) -> bytes:
    return written(_parameters(read_stored(body)["meta"]))


def _parameters(meta: Json) -> Json:
    """The answer; where no label is used there is nothing to return, since an element is never empty."""
    found: Json = {"resourceType": "Parameters"}
    return {**found, "parameter": [{"name": "return", "valueMeta": meta}]} if meta else found
