"""Addresses of the FHIR interface, below `/fhir/R4`; words that begin with `_` stand before ids."""

from typing import Any

from django.urls import URLPattern, path

from .views.histories import HistoryViewSet
from .views.instances import InstanceViewSet, VersionViewSet
from .views.metadata import MetadataViewSet
from .views.types import TypeViewSet

_INSTANCE: dict[str, Any] = {"get": "retrieve", "put": "update", "patch": "partial_update", "delete": "destroy"}
_TYPE: dict[str, Any] = {"post": "create", "put": "update", "patch": "partial_update", "delete": "destroy"}

urlpatterns: list[URLPattern] = [
    path("/metadata", MetadataViewSet.as_view({"get": "capabilities"})),
    path("/.well-known/smart-configuration", MetadataViewSet.as_view({"get": "smart"})),
    path("/_history", HistoryViewSet.as_view({"get": "system"})),
    path("/<str:type_name>/_history", HistoryViewSet.as_view({"get": "kind"})),
    path("/<str:type_name>/<str:fhir_id>", InstanceViewSet.as_view(_INSTANCE)),
    path("/<str:type_name>", TypeViewSet.as_view(_TYPE)),
    path("/<str:type_name>/<str:fhir_id>/_history", HistoryViewSet.as_view({"get": "instance"})),
    path("/<str:type_name>/<str:fhir_id>/_history/<str:version>", VersionViewSet.as_view({"get": "retrieve"})),
]
