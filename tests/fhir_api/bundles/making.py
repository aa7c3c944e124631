"""Bundles for tests, and reading their answers."""

from typing import Any
from uuid import uuid4

from core.db import tenant_context
from fhir_api.models import Resource

Json = dict[str, Any]


def entry(method: str, url: str, resource: Json | None = None, full_url: str = "", **request: str) -> Json:
    """One entry."""
    found: Json = {"request": {"method": method, "url": url, **request}}
    if resource is not None:
        found["resource"] = resource
    if full_url:
        found["fullUrl"] = full_url
    return found


def bundle(kind: str, *entries: Json) -> Json:
    """A Bundle."""
    return {"resourceType": "Bundle", "type": kind, "entry": list(entries)}


def transaction(*entries: Json) -> Json:
    """A transaction."""
    return bundle("transaction", *entries)


def batch(*entries: Json) -> Json:
    """A batch."""
    return bundle("batch", *entries)


def urn() -> str:
    """A placeholder."""
    return f"urn:uuid:{uuid4()}"


def responses(answer: Any) -> list[Json]:
    """The outcomes of the entries, of an answer that is 200."""
    assert answer.status_code == 200, answer.content
    found: list[Json] = [one["response"] for one in answer.json().get("entry", [])]
    return found


def statuses(answer: Any) -> list[int]:
    """Their statuses."""
    return [int(one["status"][:3]) for one in responses(answer)]


def located(response: Json) -> str:
    """`Type/id` of a response's location."""
    parts: list[str] = response["location"].split("/")
    return "/".join(parts[parts.index("R4") + 1 :][:2])


def refused(answer: Any) -> tuple[int, str, str]:
    """Status, code and expression of a refusal."""
    issue = answer.json()["issue"][0]
    return answer.status_code, issue["details"]["coding"][0]["code"], issue.get("expression", [""])[0]


def history(api: Any) -> list[tuple[int, str, int]]:
    """All current versions of the tenant's resources, as the tables have them, deleted ones too."""
    with tenant_context(api.tenant.id):
        return sorted(Resource.objects.values_list("type", "fhir_id", "version"))
