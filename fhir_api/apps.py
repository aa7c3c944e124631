"""The app of the clinical record."""

from django.apps import AppConfig


class FhirApiConfig(AppConfig):
    """A document store with FHIR R4's own faces."""

    name = "fhir_api"
    verbose_name = "Clinical record (FHIR)"

    def ready(self) -> None:
        """Register the kinds of facts."""
        from . import events  # noqa: F401  # they register themselves
