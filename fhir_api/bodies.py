"""What a request sends: resources, patches, criteria and preconditions, in the words of the store."""

from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest

from core.errors import Malformed

from . import negotiation, preconditions
from .conditions import criteria_only
from .ids import check_id
from .intentions import IdMismatch, Write
from .patching import Kind, Patch, kind_of
from .reading import read_body, read_document
from .resources import Json


class CriteriaRequired(Malformed):
    """A conditional interaction without criteria would concern every resource of the type."""

    code = "criteria_required"
    title = "Criteria are required."


def resource_of(request: HttpRequest, type_name: str, *, fhir_id: str = "") -> Json:
    """The resource in the body.

    :raises IdMismatch: the URL names an id and the body has none or another one.
    :raises UnsupportedMediaType: the body is announced as something else.
    """
    negotiation.check_content_type(request)
    resource = read_body(request.body, type_name)
    sent = resource.get("id")
    if fhir_id and sent != fhir_id:
        raise IdMismatch("The body's id is that of the URL.", expression=f"{type_name}.id", issue_type="value")
    return resource


def patch_of(request: HttpRequest) -> Patch:
    """The patch in the body; a FHIRPath Patch comes as a Parameters resource.

    Under the plain name of JSON (so sent by fhirpy) the body itself tells: a list is a JSON Patch, Parameters a FHIRPath
    Patch, any other object a merge patch.

    :raises UnsupportedMediaType: the body is announced as no patch.
    """
    media = negotiation.check_content_type(request, (*Kind, "application/json"))
    kind = kind_of(media) or _kind_told(read_document(request.body))
    if kind is Kind.FHIRPATH:
        return Patch(kind, read_body(request.body, "Parameters"))
    return Patch(kind, read_document(request.body))


def criteria_of(request: HttpRequest) -> str:
    """The criteria of a conditional interaction, from the query.

    :raises CriteriaRequired: there are none.
    """
    criteria = _query(request)
    if not criteria:
        raise CriteriaRequired("The query names no criteria.", issue_type="required")
    return criteria


def none_exist_of(request: HttpRequest) -> str:
    """The criteria of a conditional create: If-None-Exist, or the query as fhirpy and Aidbox write it; "" for none."""
    return request.META.get("HTTP_IF_NONE_EXIST", "").strip() or _query(request)


def _query(request: HttpRequest) -> str:
    pairs = criteria_only([(name, value) for name, values in request.GET.lists() for value in values])
    return urlencode(pairs) if any(value for _, value in pairs) else ""


def _kind_told(document: Any) -> Kind:
    if isinstance(document, list):
        return Kind.JSON
    is_parameters = isinstance(document, dict) and document.get("resourceType") == "Parameters"
    return Kind.FHIRPATH if is_parameters else Kind.MERGE


def conditioned(request: HttpRequest, write: Write) -> Write:
    """The write with the request's preconditions.

    :raises InvalidPrecondition: they are malformed.
    """
    found = preconditions.read(request)
    if not (found.if_match or found.must_exist or found.create_only):
        return write
    return replace(write, if_match=found.if_match, must_exist=found.must_exist, create_only=found.create_only)


__all__ = ["CriteriaRequired", "check_id", "conditioned", "criteria_of", "none_exist_of", "patch_of", "resource_of"]
