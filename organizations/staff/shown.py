"""Columns that several pages share: states as coloured labels, JSON in readable lines, bars."""

import json
from typing import Any

from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString

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


def words(values: Any) -> str:
    """A list of words in one line."""
    return ", ".join(str(value) for value in values) or "–"


def json_lines(value: Any) -> SafeString:
    """JSON, indented."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return format_html('<pre style="white-space: pre-wrap; overflow-wrap: anywhere">{}</pre>', text)


def bars(quotas: list[dict[str, Any]]) -> SafeString:
    """Quotas with how much of each is used."""
    return render_to_string("staff/usage.html", {"bars": [_bar(quota) for quota in quotas]})


def _bar(quota: dict[str, Any]) -> dict[str, Any]:
    limit = quota["limit"]
    percent = 0 if limit is None else 100 if limit == 0 else min(100, quota["used"] * 100 // limit)
    warned = limit is not None and percent >= quota["warn_at"] * 100
    color = "bg-red-600" if percent >= 100 and warned else "bg-orange-500" if warned else "bg-primary-600"
    return {**quota, "percent": percent, "color": color}
