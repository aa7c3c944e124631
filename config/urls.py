"""The root of all routes: one include for each app."""

from django.conf import settings
from django.contrib import admin
from django.urls import include, path

from api.routing import Directory

from .development import mail_page

urlpatterns = [
    Directory(
        [
            path("", include("api.urls")),
            path("", include("organizations.urls")),
            path("v1/", include("suppliers.urls")),
            path("v1/", include("prescriptions.urls")),
            path("v1/", include("appointments.urls")),
            path("v1/", include("webhooks.urls")),
            path("v1/", include("procurement.urls")),
            path("fhir/R4", include("fhir_api.urls")),
            path("admin/", admin.site.urls),
            *([] if settings.PRODUCTION else [path("dev/mail", mail_page, name="development-mail")]),
        ]
    )
]
