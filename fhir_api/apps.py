"""The app of the clinical record."""

from django.apps import AppConfig
from django.core import checks


class FhirApiConfig(AppConfig):
    """A document store with FHIR R4's own faces."""

    name = "fhir_api"
    verbose_name = "Clinical record (FHIR)"

    def ready(self) -> None:
        """Register the kinds of facts and what `manage.py check` asks, and answer refusals in FHIR's form."""
        from api import errors, url_areas

        from . import events  # noqa: F401  # events register themselves
        from .access.upkeep import check_settings
        from .exports import events as _  # noqa: F401
        from .exports.upkeep import check_settings as check_exports
        from .http.refusals import respond
        from .projections.projecting import subscribe

        checks.register(check_settings)
        checks.register(check_exports)
        subscribe()
        errors.render_refusals(url_areas.FHIR, respond)
