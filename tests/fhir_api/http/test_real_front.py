"""An independent client over the real front: HL7's own library creates, reads, changes and deletes."""

import http.client

import pytest
import requests
from fhirclient.models.humanname import HumanName
from fhirclient.models.patient import Patient
from fhirclient.server import FHIRServer

from tests import factories


@pytest.fixture(scope="module")
def token():
    tenant = factories.provision("provider")
    person, _ = factories.member(tenant, ["prescriber"])
    return factories.bearer(person, tenant=tenant)


@pytest.fixture
def server(live_server_url, token):
    found = FHIRServer(None, base_uri=f"{live_server_url}/fhir/R4/")
    found.session.headers["Authorization"] = f"Bearer {token}"
    return found


def test_library_of_hl7_lives_with_the_server(server):
    patient = Patient({"gender": "female"})
    patient.name = [HumanName({"family": "Muster", "given": ["Eva"]})]
    made = patient.create(server)
    found = Patient.read(made["id"], server)
    assert (found.name[0].family, found.meta.versionId) == ("Muster", "1")
    found.gender = "other"
    found.update(server)
    assert Patient.read(found.id, server).meta.versionId == "2"
    found.delete(server)
    with pytest.raises(requests.HTTPError) as refused:
        Patient.read(found.id, server)
    assert refused.value.response.status_code == 410


def test_head_304_and_refusals_on_the_wire(live_server_url, token, server):
    made = Patient({"gender": "male"}).create(server)
    line = http.client.HTTPConnection("127.0.0.1", int(live_server_url.rpartition(":")[2]), timeout=20)

    def ask(method, path, **headers):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        line.request(method, f"/fhir/R4{path}", headers={"Authorization": f"Bearer {token}", **named})
        answer = line.getresponse()
        return answer.status, answer.headers, answer.read()

    status, headers, body = ask("GET", f"/Patient/{made['id']}")
    assert (status, headers["Content-Type"]) == (200, "application/fhir+json; charset=utf-8")
    assert ask("HEAD", f"/Patient/{made['id']}")[::2] == (200, b"")
    assert ask("GET", f"/Patient/{made['id']}", If_None_Match=headers["ETag"])[::2] == (304, b"")
    assert ask("GET", f"/Patient/{made['id']}")[2] == body
    line.request("POST", "/fhir/R4/Patient", body=b"x" * (1_048_576 + 1), headers={"Authorization": f"Bearer {token}"})
    refused = line.getresponse()
    assert (refused.status, b'"resourceType":"OperationOutcome"' in refused.read()) == (413, True)
