"""What `manage.py check` says about the settings of files."""

from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks


def check_settings(**_: object) -> list[checks.CheckMessage]:
    """Hold the addresses of the scanner and of the contents against the forms that they can have."""
    found: list[checks.CheckMessage] = []
    scanner = urlsplit(settings.CLAMAV_URL)
    is_named = (scanner.scheme == "tcp" and scanner.hostname) or (scanner.scheme == "unix" and scanner.path)
    if settings.CLAMAV_URL and not is_named:
        found.append(checks.Error("CLAMAV_URL must be tcp://host:port or unix:///path.", id="suppliers.E001"))
    files = urlsplit(settings.FILES_BASE_URL)
    if settings.FILES_BASE_URL and not (files.scheme in ("https", "http") and files.hostname):
        found.append(checks.Error("FILES_BASE_URL must be an address, https://files.example.org.", id="suppliers.E002"))
    return found
