"""The Django app of the API; connects database metrics and the log of uncaught errors."""

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
