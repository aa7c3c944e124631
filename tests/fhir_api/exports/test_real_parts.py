"""An export through the real front and a real worker of Celery: rung, carried out, fetched packed."""

import gzip
import json
import time
import urllib.error
import urllib.request

import pytest
from celery import current_app

from fhir_api.exports.actions import CARRY_ON
from tests import factories
from tests.fhir_api.clients import BASE, patient, prescriber


@pytest.mark.long
def test_export_through_real_front_and_real_worker(live_server_url, celery_worker):
    client = prescriber(factories.provision("provider"))
    made = [client.made(patient())["id"] for _ in range(3)]

    def asked(path, **headers):
        named = {**client.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        try:
            return urllib.request.urlopen(urllib.request.Request(live_server_url + path, headers=named), timeout=20)
        except urllib.error.HTTPError as error:
            return error

    begun = asked(f"{BASE}/$export?_type=Patient", Prefer="respond-async")
    assert begun.status == 202
    status = BASE + begun.headers["Content-Location"].partition(BASE)[2]
    end = time.monotonic() + 60
    while (answer := asked(status)).status == 202 and time.monotonic() < end:
        assert answer.headers["X-Progress"]
        current_app.send_task(CARRY_ON)  # as beat does
        time.sleep(1)
    assert answer.status == 200
    (listed,) = json.load(answer)["output"]
    file = asked(BASE + listed["url"].partition(BASE)[2], Accept_Encoding="gzip")
    assert (file.headers["Content-Encoding"], file.headers["Content-Type"]) == ("gzip", "application/fhir+ndjson")
    lines = gzip.decompress(file.read()).splitlines()
    assert sorted(json.loads(line)["id"] for line in lines) == sorted(made)
