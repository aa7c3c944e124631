"""Addresses that belong to no domain: the document and its pages, health, problem types."""

from django.urls import path

from . import docs, health

urlpatterns = [
    path("v1/openapi.json", docs.openapi, name="openapi"),
    path("docs", docs.swagger, name="docs"),
    path("docs/redoc", docs.redoc, name="redoc"),
    path("health/live", health.live, name="health-live"),
    path("health/ready", health.ready, name="health-ready"),
]
