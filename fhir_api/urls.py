"""Addresses of the FHIR interface, below `/fhir/R4`; words that begin with `_` stand before ids."""

from typing import Any

from django.urls import URLPattern, path, register_converter
from django.urls.converters import StringConverter

from .definitions.facts import COMPARTMENTS
from .views.bundles import BundleViewSet
from .views.compartments import CompartmentViewSet
from .views.everything import EverythingViewSet
from .views.exports import ExportFileViewSet, ExportJobViewSet, ExportViewSet
from .views.histories import HistoryViewSet
from .views.instances import InstanceViewSet, VersionViewSet
from .views.latest import LatestViewSet
from .views.meta import MetaViewSet
from .views.metadata import MetadataViewSet
from .views.searches import SearchViewSet
from .views.types import TypeViewSet
from .views.validating import ValidateViewSet
from .views.value_sets import ValueSetViewSet


class _Compartment(StringConverter):
    """The type that a compartment is named after."""

    regex = "|".join(COMPARTMENTS)


class _Member(StringConverter):
    """A type, or `*` for all; neither `_history` nor an operation."""

    regex = r"[A-Z][A-Za-z]*|\*"


register_converter(_Compartment, "compartment")
register_converter(_Member, "member")

_INSTANCE: dict[str, Any] = {"get": "retrieve", "put": "update", "patch": "partial_update", "delete": "destroy"}
_TYPE: dict[str, Any] = {
    "get": "search",
    "post": "create",
    "put": "update",
    "patch": "partial_update",
    "delete": "destroy",
}
_SYSTEM: dict[str, Any] = {"get": "search_all", "post": "process"}
_EVERYTHING: dict[str, Any] = {"get": "everything", "post": "everything"}
_META: dict[str, Any] = {"get": "meta", "post": "meta"}
_IN_COMPARTMENT: dict[str, Any] = {"get": "search_in"}
_FORM_IN_COMPARTMENT: dict[str, Any] = {"get": "search_in", "post": "search_in"}
_COMPARTMENT = "/<compartment:kind>/<str:fhir_id>/<member:type_name>"

urlpatterns: list[URLPattern] = [
    path("", BundleViewSet.as_view(_SYSTEM)),
    path("/", BundleViewSet.as_view(_SYSTEM)),
    path("/metadata", MetadataViewSet.as_view({"get": "capabilities"})),
    path("/.well-known/smart-configuration", MetadataViewSet.as_view({"get": "smart"})),
    path("/_search", SearchViewSet.as_view({"get": "search_all", "post": "search_all"})),
    path("/<str:type_name>/_search", SearchViewSet.as_view({"get": "search", "post": "search"})),
    path("/_history", HistoryViewSet.as_view({"get": "system"})),
    path("/<str:type_name>/_history", HistoryViewSet.as_view({"get": "kind"})),
    path("/$export", ExportViewSet.as_view({"get": "system", "post": "system"})),
    path("/Patient/$export", ExportViewSet.as_view({"get": "patients", "post": "patients"})),
    path("/Group/<str:fhir_id>/$export", ExportViewSet.as_view({"get": "group", "post": "group"})),
    path("/_export/<uuid:job_id>", ExportJobViewSet.as_view({"get": "retrieve", "delete": "destroy"})),
    path("/_export/<uuid:job_id>/<str:name>", ExportFileViewSet.as_view({"get": "download"})),
    path("/$validate", ValidateViewSet.as_view({"post": "validate"})),
    path("/<str:type_name>/$validate", ValidateViewSet.as_view({"post": "validate"})),
    path("/<str:type_name>/<str:fhir_id>/$validate", ValidateViewSet.as_view({"post": "validate"})),
    path("/$meta", MetaViewSet.as_view(_META)),
    path("/<str:type_name>/$meta", MetaViewSet.as_view(_META)),
    path("/<str:type_name>/<str:fhir_id>/$meta", MetaViewSet.as_view({"get": "meta_of", "post": "meta_of"})),
    path("/<str:type_name>/<str:fhir_id>/$meta-add", MetaViewSet.as_view({"post": "meta_add"})),
    path("/<str:type_name>/<str:fhir_id>/$meta-delete", MetaViewSet.as_view({"post": "meta_delete"})),
    path("/ValueSet/$expand", ValueSetViewSet.as_view({"get": "expand", "post": "expand"})),
    path("/ValueSet/$validate-code", ValueSetViewSet.as_view({"get": "validate_code", "post": "validate_code"})),
    path("/Patient/$everything", EverythingViewSet.as_view(_EVERYTHING)),
    path("/Observation/$lastn", LatestViewSet.as_view({"get": "lastn", "post": "lastn"})),
    path("/<str:type_name>/<str:fhir_id>/$everything", EverythingViewSet.as_view(_EVERYTHING)),
    path("/<str:type_name>/<str:fhir_id>", InstanceViewSet.as_view(_INSTANCE)),
    path("/<str:type_name>", TypeViewSet.as_view(_TYPE)),
    path(_COMPARTMENT, CompartmentViewSet.as_view(_IN_COMPARTMENT)),
    path(f"{_COMPARTMENT}/_search", CompartmentViewSet.as_view(_FORM_IN_COMPARTMENT)),
    path("/<str:type_name>/<str:fhir_id>/_history", HistoryViewSet.as_view({"get": "instance"})),
    path("/<str:type_name>/<str:fhir_id>/_history/<str:version>", VersionViewSet.as_view({"get": "retrieve"})),
]
