"""Addresses of the FHIR interface, below `/fhir/R4`; words that begin with `_` stand before ids."""

from typing import Any

from django.urls import URLPattern, path

from .views.bundles import BundleViewSet
from .views.everything import EverythingViewSet
from .views.exports import ExportFileViewSet, ExportJobViewSet, ExportViewSet
from .views.histories import HistoryViewSet
from .views.instances import InstanceViewSet, VersionViewSet
from .views.metadata import MetadataViewSet
from .views.searches import SearchViewSet
from .views.types import TypeViewSet
from .views.validating import ValidateViewSet

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
    path("/_export/<uuid:job_id>", ExportJobViewSet.as_view({"get": "retrieve", "delete": "destroy"})),
    path("/_export/<uuid:job_id>/<str:name>", ExportFileViewSet.as_view({"get": "download"})),
    path("/$validate", ValidateViewSet.as_view({"post": "validate"})),
    path("/<str:type_name>/$validate", ValidateViewSet.as_view({"post": "validate"})),
    path("/<str:type_name>/<str:fhir_id>/$validate", ValidateViewSet.as_view({"post": "validate"})),
    path("/Patient/$everything", EverythingViewSet.as_view(_EVERYTHING)),
    path("/<str:type_name>/<str:fhir_id>/$everything", EverythingViewSet.as_view(_EVERYTHING)),
    path("/<str:type_name>/<str:fhir_id>", InstanceViewSet.as_view(_INSTANCE)),
    path("/<str:type_name>", TypeViewSet.as_view(_TYPE)),
    path("/<str:type_name>/<str:fhir_id>/_history", HistoryViewSet.as_view({"get": "instance"})),
    path("/<str:type_name>/<str:fhir_id>/_history/<str:version>", VersionViewSet.as_view({"get": "retrieve"})),
]
