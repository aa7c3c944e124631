#!/usr/bin/env python
"""Django's command line; without DATABASE_URL it starts or joins the embedded servers of this checkout."""

import os
import sys


def main() -> None:
    """Run one management command."""
    if not os.environ.get("DATABASE_URL"):
        try:
            from devtools.attachment import join_servers
        except ModuleNotFoundError:  # the image has no tools of developers
            sys.exit("Set DATABASE_URL (see .env.example); there are no embedded servers here.")
        join_servers(sys.argv[1:])
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        if str(error).startswith("Set the "):  # a variable that lacks, in the words of django-environ
            sys.exit(f"error: {error} (see .env.example).")
        raise


if __name__ == "__main__":
    main()
