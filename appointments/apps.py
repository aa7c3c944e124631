"""Appointments as a Django app."""

from django.apps import AppConfig


class AppointmentsConfig(AppConfig):
    """Appointments, schedules and free times."""

    name = "appointments"
    verbose_name = "Appointments"

    def ready(self) -> None:
        """Register the event types of this app."""
        from . import events  # noqa: F401  # registers the event types
