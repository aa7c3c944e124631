"""Columns shared by several pages: coloured labels of states, indented JSON, bars of quotas."""

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django.template.defaultfilters import filesizeformat
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString

from organizations.plans import STORAGE_BYTES

Method = TypeVar("Method", bound=Callable[..., Any])

STATUS_COLOURS = {
    "active": "success",
    "succeeded": "success",
    "suspended": "warning",
    "rotating": "warning",
    "offboarding": "warning",
    "provisioning": "info",
    "invited": "info",
    "queued": "info",
    "running": "info",
    "closed": "danger",
    "revoked": "danger",
    "expired": "danger",
    "failed": "danger",
}


def column(
    *, description: str, ordering: str = "", label: bool | Mapping[str, str] = False, boolean: bool = False
) -> Callable[[Method], Method]:
    """Declare a method as a column: its heading, its sort field, and whether it is shown as a label or a tick."""
    attributes: dict[str, Any] = {"short_description": description}
    attributes |= {"admin_order_field": ordering} if ordering else {}
    attributes |= {"label": label} if label else {}
    attributes |= {"boolean": True} if boolean else {}

    def decorate(method: Method) -> Method:
        for name, value in attributes.items():
            setattr(method, name, value)
        return method

    return decorate


def words(values: Any) -> str:
    """Return the values in one line, separated by commas; a dash if there are none."""
    return ", ".join(str(value) for value in values) or "–"


def json_lines(value: Any) -> SafeString:
    """Return a value as indented JSON."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return format_html('<pre style="white-space: pre-wrap; overflow-wrap: anywhere">{}</pre>', text)


def bars(quotas: list[dict[str, Any]]) -> SafeString:
    """Return a bar for each quota that shows how much of it is used."""
    return render_to_string("staff/usage.html", {"bars": [_bar(quota) for quota in quotas]})


def _bar(quota: dict[str, Any]) -> dict[str, Any]:
    limit = quota["limit"]
    percent = 0 if limit is None else 100 if limit == 0 else min(100, quota["used"] * 100 // limit)
    warned = limit is not None and percent >= quota["warn_at"] * 100
    color = "bg-red-600" if percent >= 100 and warned else "bg-orange-500" if warned else "bg-primary-600"
    write = filesizeformat if quota["key"] == STORAGE_BYTES else _grouped
    amount = f"{write(quota['used'])} of {'unlimited' if limit is None else write(limit)}"
    return {**quota, "amount": amount, "percent": percent, "color": color}


def _grouped(number: int) -> str:
    return f"{number:,}"
