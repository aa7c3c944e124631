"""The menu's names, for titles and paths of pages."""

from typing import Any

from django import template
from django.utils.text import capfirst

from config.admin_site import titles

register = template.Library()


@register.filter
def named(part: dict[str, Any]) -> str:
    """Return the menu's name of a part of a page's path, or its own where the menu does not lead there."""
    return titles().get(str(part.get("link"))) or capfirst(part["title"])
