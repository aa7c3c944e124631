"""A clinic with two patients, and tokens that are bound to one of them."""

from tests import factories
from tests.fhir_api.clients import Fhir, observation, patient

EVERYTHING = "patient/*.cruds"


class Clinic:
    """Ours and theirs: two patients of one tenant, seen by the same nurse, with a record each."""

    def __init__(self):
        self.tenant = factories.provision("provider")
        self.person, _ = factories.member(self.tenant, ["prescriber"])
        self.doctor = Fhir(factories.bearer(self.person), self.tenant)
        self.canary = f"canary{factories.suffix()}"
        self.nurse = self.doctor.made({"resourceType": "Practitioner", "name": [{"family": "Nurse"}]})
        self.ours = self.record("ours")
        self.theirs = self.record(self.canary)
        self.moved = self.twice(self.theirs, self.ours)  # was theirs, is ours
        self.left = self.twice(self.ours, self.theirs)  # was ours, is theirs
        self.gone = self.doctor.made(self.seen(self.ours, "gone"))
        self.their_gone = self.doctor.made(self.seen(self.theirs, self.canary))
        for one in (self.gone, self.their_gone):
            assert self.doctor.delete(f"/Observation/{one['id']}").status_code == 204
        child = self.doctor.made(patient())
        self.both = self.doctor.made(self.seen(child, "both", performer=[{"reference": f"Patient/{self.ours['id']}"}]))
        self.api = self.bound(EVERYTHING)

    def record(self, word):
        identifier = [{"system": f"urn:{word}", "value": word}]
        made = self.doctor.made(
            patient(
                name=[{"family": word}],
                identifier=identifier,
                generalPractitioner=[{"reference": f"Practitioner/{self.nurse['id']}"}],
            )
        )
        made = self.doctor.put(f"/Patient/{made['id']}", {**made, "active": True}).json()
        made["seen"] = [self.doctor.made(self.seen(made, word, identifier=identifier)) for _ in range(3)]
        return made

    def seen(self, whose, word, **more):
        nurse = {"performer": [{"reference": f"Practitioner/{self.nurse['id']}"}]}
        return observation(f"Patient/{whose['id']}", note=[{"text": word}], **{**nurse, **more})

    def twice(self, first, second):
        word = self.canary if first is self.theirs else "ours"
        made = self.doctor.made(self.seen(first, word))
        word = self.canary if second is self.theirs else "ours"
        changed = self.doctor.put(f"/Observation/{made['id']}", {**self.seen(second, word), "id": made["id"]})
        assert changed.status_code == 200, changed.content
        return changed.json()

    def bound(self, scopes, whose=None):
        of = (whose or self.ours)["id"]
        return Fhir(factories.bearer(self.person, scopes=scopes, tenant=self.tenant, patient=of))

    def their_ids(self):
        ones = (self.theirs, *self.theirs["seen"], self.left, self.their_gone)
        return [one["id"] for one in ones]


def status(api, path, method="GET", body=None, **more):
    return api.call(method, path, body, **more).status_code


def questions(whose, word):
    """Everything that can be asked about somebody's record."""
    patient_id, token = whose["id"], f"urn:{word}|{word}"
    yield from (
        f"/Patient/{patient_id}{end}" for end in ("", "/_history", "/_history/1", "/_history/2", "/$everything")
    )
    for member in ("Observation", "Patient", "*"):
        yield f"/Patient/{patient_id}/{member}?_include=*&_revinclude=*&_count=200&_total=accurate"
        yield f"/Patient/{patient_id}/{member}?_summary=count"
    for one in whose["seen"]:
        yield from (f"/Observation/{one['id']}{end}" for end in ("", "/_history", "/_history/1"))
    for search in (
        f"/Patient?_id={patient_id}",
        f"/Patient?family={word}",
        f"/Patient?identifier={token}",
        f"/Patient?identifier:not=urn:x|x&family={word}",
        f"/Patient?_has:Observation:patient:identifier={token}",
        f"/Patient?_has:Observation:subject:_id={whose['seen'][0]['id']}",
        f"/Observation?identifier={token}",
        f"/Observation?patient={patient_id}",
        f"/Observation?subject={patient_id}",
        f"/Observation?subject:Patient={patient_id}",
        f"/Observation?_id={whose['seen'][0]['id']}",
        f"/Observation?patient.family={word}",
        f"/Observation?patient.identifier={token}",
        f"/Observation?patient._has:Observation:patient:identifier={token}",
        f"/Observation?performer:Practitioner._has:Patient:general-practitioner:family={word}",
        f"/Practitioner?_has:Observation:performer:patient.family={word}",
        f"/Practitioner?_has:Patient:general-practitioner:family={word}",
    ):
        yield f"{search}&_include=*&_revinclude=*&_count=200&_total=accurate&_sort=-_lastUpdated"
        yield f"{search}&_summary=count"
