"""The broken resources sent over HTTP: each is refused, with the same issue, and nothing is stored."""

import orjson
import pytest

from fhir_api.resources import written
from tests.fhir_api.clients import prescriber

from .test_refused import CASES

# What the reader of bodies refuses before: JSON that stands for no value of the platform (400).
UNREADABLE = {"19 decimal out of range", "19 text with a control character"}
# What JSON in UTF-8 from this platform's writer cannot say.
UNWRITABLE = {"19 integer of 40 digits", "19 text with half a character"}


@pytest.fixture(scope="module")
def doctor():
    return prescriber()


def test_broken_resource_is_422_with_the_same_issue_and_is_not_stored(doctor):
    told, wanted = {}, {}
    for name, (resource, expression, code) in CASES.items():
        if name.startswith("17") or name in UNWRITABLE:
            continue
        answer = doctor.post(f"/{resource['resourceType']}", written(resource))
        outcome = orjson.loads(answer.content)
        assert outcome["resourceType"] == "OperationOutcome"
        (issue,) = outcome["issue"]
        told[name] = (answer.status_code, issue.get("expression"), issue["code"])
        wanted[name] = (422, [expression] if expression else None, code)

    assert {name: told.pop(name)[0] for name in UNREADABLE} == dict.fromkeys(UNREADABLE, 400)
    assert told == {name: one for name, one in wanted.items() if name not in UNREADABLE}
    for kind in {resource["resourceType"] for name, (resource, _, _) in CASES.items() if name[:2] != "17"}:
        assert doctor.get(f"/{kind}?_summary=count").json()["total"] == 0
