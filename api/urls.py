"""Routes that belong to no app: the API document and its pages, health probes, problem types."""

from django.urls import path

from . import docs, health, problem_pages

urlpatterns = [
    path("v1/openapi.json", docs.openapi, name="openapi"),
    path("docs", docs.swagger, name="docs"),
    path("docs/openapi.json", docs.openapi_for_reading, name="openapi-for-reading"),
    path("docs/redoc.js", docs.redoc_script, name="redoc-script"),
    path("docs/redoc", docs.redoc, name="redoc"),
    path("health/live", health.live, name="health-live"),
    path("health/ready", health.ready, name="health-ready"),
    path("problems", problem_pages.problem_list, name="problems"),
    path("problems/<str:code>", problem_pages.problem_page, name="problem"),
]
