"""What every endpoint shares, as a Django app."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "api"
    verbose_name = "API"

    def ready(self) -> None:
        from django.core.signals import got_request_exception

        from core import pipeline

        from . import logs, metrics

        pipeline.observers[:] = [metrics.observe_pipeline]
        got_request_exception.connect(logs.log_uncaught, dispatch_uid="api.logs")
