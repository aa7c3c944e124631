"""What is answered to a batch or transaction: a Bundle with an outcome for each entry, in the order of the request."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import orjson

from api.errors import refusal_of, status_of
from fhir_api.answers import location
from fhir_api.http.refusals import issues_of
from fhir_api.intentions import ReferenceNotFound, Written
from fhir_api.outcomes import INFORMATION, InvalidResource, Issue, outcome
from fhir_api.resources import Json, instant

_ENTRY: Final = re.compile(r"Bundle\.entry\[([0-9]+)\]")


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one entry; `resource` is its bytes."""

    status: int
    location: str = ""
    etag: str = ""
    last_modified: str = ""
    resource: bytes | None = None
    outcome: Json | None = None

    def json(self) -> Json:
        """The entry of the answer's Bundle."""
        response: Json = {"status": f"{self.status} {HTTPStatus(self.status).phrase}"}
        for name, value in (
            ("location", self.location),
            ("etag", self.etag),
            ("lastModified", self.last_modified),
            ("outcome", self.outcome),
        ):
            if value:
                response[name] = value
        found: Json = {"response": response}
        if self.resource is not None:
            found["resource"] = orjson.Fragment(self.resource)
        return found


def of_write(written: Written, wanted: str) -> Answer:
    """The answer to a write; `wanted` is what `Prefer: return` asks for: minimal, representation or OperationOutcome."""
    version = written.version
    told = None
    if wanted == "OperationOutcome":
        text = "Carried out." if written.changed else "Nothing had to be changed."
        told = outcome([Issue("informational", text, severity=INFORMATION), *written.warnings])
    if version is None:
        return Answer(written.status, outcome=told)
    return Answer(
        status=written.status,
        location=location(version) if version.body is not None else "",
        etag=version.etag,
        last_modified=instant(version.last_updated),
        resource=version.body if wanted == "representation" else None,
        outcome=told,
    )


def of_refusal(error: Exception) -> Answer:
    """The answer to an entry of a batch that was refused."""
    refusal = refusal_of(error)
    return Answer(status_of(refusal), etag=refusal.headers.get("ETag", ""), outcome=outcome(issues_of(refusal)))


def told_of(error: Exception) -> dict[int, list[Issue]]:
    """What a refusal of several tells of those that would be refused alone, too, by their numbers.

    Their content breaks rules, or they refer to nobody. None where not all it tells is of entries.
    """
    told = defaultdict[int, list[Issue]](list)
    for issue in issues_of(error) if isinstance(error, InvalidResource | ReferenceNotFound) else ():
        match = _ENTRY.match(issue.expression)
        if match is None:
            return {}
        told[int(match[1])].append(issue)
    return told


def bundle(kind: str, answers: Iterable[Answer]) -> bytes:
    """The Bundle that is answered."""
    found: dict[str, Any] = {"resourceType": "Bundle", "type": f"{kind}-response"}
    if entries := [answer.json() for answer in answers]:
        found["entry"] = entries
    return orjson.dumps(found)
