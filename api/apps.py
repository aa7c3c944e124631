"""What every endpoint shares, as a Django app."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "api"
    verbose_name = "API"

    def ready(self) -> None:
        from core import pipeline

        from . import metrics

        pipeline.observers[:] = [metrics.observe_pipeline]
