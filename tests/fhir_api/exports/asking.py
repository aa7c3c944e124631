"""What the tests of exports share: asking for one, carrying it out, fetching what it gave."""

import json
import time

from core.db import tenant_context
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
        worker.carry_on(seconds=0.5)


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
    "begun",
    "carry_out",
    "exported",
    "fetched",
    "jobs",
    "kept",
    "kick_off",
    "manifest",
    "settling",
    "states",
]
