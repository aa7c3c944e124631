"""What the tests of exports share: asking for one, carrying it out, fetching what it gave."""

import json
import time
from urllib.parse import quote

from core.db import tenant_context
from core.rounds import until
from fhir_api.exports import settling, states, worker
from fhir_api.exports.models import ExportFile, ExportJob, ExportPart
from tests.fhir_api.clients import BASE

ASYNC = "respond-async"


def kick_off(client, path="/$export", **headers):
    return client.get(path, **{"Prefer": ASYNC, **headers})


def begun(client, path="/$export", **headers):
    """The path of the status of a new export."""
    answer = kick_off(client, path, **headers)
    assert answer.status_code == 202, answer.content
    return answer.headers["Content-Location"].partition(BASE)[2]


def carry_out(client, status, seconds=20):
    """Carry exports on, as the task does, until one has ended; return the last answer of its status."""
    end = time.monotonic() + seconds
    while True:
        answer = client.get(status)
        if answer.status_code != 202 or time.monotonic() > end:
            return answer
        worker.carry_on(go_on=until(0.5))


def manifest(client, path="/$export", **headers):
    answer = carry_out(client, begun(client, path, **headers))
    assert answer.status_code == 200, answer.content
    return answer.json()


def fetched(client, listed):
    """The lines of files of a manifest, in order."""
    lines = []
    for one in listed:
        answer = client.get(one["url"].partition(BASE)[2])
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/fhir+ndjson"), answer.content
        found = [json.loads(line) for line in answer.content.splitlines()]
        assert len(found) == one["count"]
        lines += found
    return lines


def exported(client, path="/$export", **headers):
    """The resources that an export gives, by type and id, each once."""
    found = fetched(client, manifest(client, path, **headers)["output"])
    named = {(one["resourceType"], one["id"]): one for one in found}
    assert len(named) == len(found), "a resource twice"
    return named


def by_post(client, path, *parameters, **headers):
    """Kick an export off with Parameters."""
    body = {"resourceType": "Parameters", "parameter": list(parameters)}
    return client.post(path, body, **{"Prefer": ASYNC, **headers})


def about(*patients):
    """The parameters `patient`."""
    return [{"name": "patient", "valueReference": {"reference": f"Patient/{one}"}} for one in patients]


def resources_of(client, kicked_off):
    """The resources of an export that was kicked off, by type and id, each once."""
    assert kicked_off.status_code == 202, kicked_off.content
    done = carry_out(client, kicked_off.headers["Content-Location"].partition(BASE)[2])
    assert done.status_code == 200, done.content
    found = fetched(client, done.json()["output"])
    named = {(one["resourceType"], one["id"]): one for one in found}
    assert len(named) == len(found), "a resource twice"
    return named


def filtered(*queries):
    """The parameter `_typeFilter`, each query encoded as the address of a search is."""
    return "_typeFilter=" + ",".join(quote(query, safe="") for query in queries)


def searched(client, query):
    """The resources that a search finds, by type and id, page after page."""
    found, path = {}, f"/{query}{'&' if '?' in query else '?'}_count=200"
    while path:
        answer = client.get(path)
        assert answer.status_code == 200, answer.content
        page = answer.json()
        for entry in page.get("entry", ()):
            resource = entry["resource"]
            found[resource["resourceType"], resource["id"]] = resource
        path = next((link["url"].partition(BASE)[2] for link in page["link"] if link["relation"] == "next"), "")
    return found


def jobs(tenant):
    with tenant_context(tenant.id):
        return list(ExportJob.objects.filter(tenant_id=tenant.id).order_by("created_at", "id"))


def kept(tenant):
    """How many files and parts a tenant has."""
    with tenant_context(tenant.id):
        return (
            ExportFile.objects.filter(tenant_id=tenant.id).count(),
            ExportPart.objects.filter(tenant_id=tenant.id).count(),
        )


__all__ = [
    "ASYNC",
    "about",
    "begun",
    "by_post",
    "carry_out",
    "exported",
    "fetched",
    "filtered",
    "jobs",
    "kept",
    "kick_off",
    "manifest",
    "resources_of",
    "searched",
    "settling",
    "states",
]
