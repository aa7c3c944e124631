"""The entries of a batch or transaction, read and checked one by one. Source: R4 bundle.html, http.html#transaction."""

import re
from base64 import b64decode
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from django.conf import settings

from core.errors import PlatformError
from fhir_api import preconditions
from fhir_api.conditions import criterion
from fhir_api.ids import check_id
from fhir_api.intentions import IdMismatch, Write
from fhir_api.patching import Kind, Patch, kind_of
from fhir_api.reading import WrongType, read_document
from fhir_api.resources import Json
from fhir_api.resources.types import NUMBERS
from fhir_api.store.models import Method

from .forms import check_bundle, check_entry
from .refusals import InvalidBundle, InvalidEntry, TooManyEntries, UnsupportedEntry

MOST_ENTRIES: Final = 5_000
READS: Final = ("GET", "HEAD")
# Operations that a POST asks for and that change nothing.
ASKING: Final = frozenset({"$validate", "$everything", "$lastn", "$meta", "$expand", "$validate-code"})
_ORDER: Final = {Method.DELETE: 0, Method.POST: 1, Method.PUT: 2, Method.PATCH: 2}
_TYPE: Final = re.compile(r"[A-Z][A-Za-z]{1,63}")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: its number, what its request says, its resource. `path` is the request's URL below the base."""

    number: int
    method: str
    path: str
    full_url: str
    resource: Json | None
    request: Json

    @property
    def place(self) -> str:
        """How refusals name the entry."""
        return f"Bundle.entry[{self.number}]"

    @property
    def reads(self) -> bool:
        """Whether nothing is changed: the view of the URL answers then."""
        operation = self.path.partition("?")[0].rpartition("/")[2]
        return self.method in READS or (self.method == "POST" and operation in ASKING)


def read_type(bundle: Json) -> str:
    """The type of the Bundle.

    :raises InvalidBundle: neither batch nor transaction.
    :raises InvalidEntry: it has a member that it cannot have, or one of another form.
    """
    kind = bundle.get("type")
    if kind not in ("batch", "transaction"):
        raise InvalidBundle("The type is batch or transaction.", expression="Bundle.type", issue_type="value")
    check_bundle(bundle)
    return str(kind)


def listed(bundle: Json) -> list[Any]:
    """The entries as they were sent.

    :raises InvalidBundle: they are no list.
    :raises TooManyEntries: there are more than `MOST_ENTRIES`.
    """
    found = bundle.get("entry", [])
    if not isinstance(found, list):
        raise InvalidBundle("`entry` is not a list.", expression="Bundle.entry", issue_type="structure")
    if len(found) > MOST_ENTRIES:
        raise TooManyEntries(
            f"There are {len(found)} entries; {MOST_ENTRIES} are allowed.",
            expression="Bundle.entry",
            issue_type="too-long",
        )
    return found


def read_entry(sent: Any, number: int) -> Entry:
    """Read one entry.

    :raises InvalidEntry: it is not of its form.
    """
    place = f"Bundle.entry[{number}]"
    if not isinstance(sent, dict):
        raise _invalid("An entry is an object.", place)
    check_entry(sent, place)
    request = sent["request"]
    method = request.get("method")
    if method not in (*READS, "POST", "PUT", "PATCH", "DELETE"):
        raise _invalid("The method is GET, HEAD, POST, PUT, PATCH or DELETE.", f"{place}.request.method", "value")
    path = _path(request.get("url", ""), place)
    return Entry(number, method, path, sent.get("fullUrl", ""), sent.get("resource"), request)


def _invalid(text: str, place: str, issue_type: str = "structure") -> InvalidEntry:
    return InvalidEntry(text, expression=place, issue_type=issue_type)


def _path(url: str, place: str) -> str:
    """The URL below the base; an absolute one must be of this server."""
    path = url.removeprefix(f"{settings.FHIR_BASE_URL}/") if ":" in url else url
    path = path.removeprefix("/")
    if not path or "://" in path.partition("?")[0]:
        raise _invalid("The url is relative to this server's base.", f"{place}.request.url", "value")
    return path


def write_of(entry: Entry) -> Write:
    """The entry as a write.

    :raises InvalidEntry, UnsupportedEntry: its request names nothing that can be written.
    :raises IdMismatch: the resource has another id than its URL.
    """
    try:
        return _write(entry)
    except PlatformError as refusal:
        refusal.extra.setdefault("expression", entry.place)
        raise


def _write(entry: Entry) -> Write:
    type_name, fhir_id, criteria = _target(entry)
    request, method = entry.request, Method[entry.method]
    if method is Method.POST:
        criteria = request.get("ifNoneExist", "").strip()
    demanded = preconditions.stated(request.get("ifMatch"), request.get("ifNoneMatch"))
    return Write(
        method=method,
        type=type_name,
        fhir_id=fhir_id,
        criteria=criteria,
        resource=_resource(entry, type_name, fhir_id) if method in (Method.POST, Method.PUT) else None,
        patch=_patch(entry) if method is Method.PATCH else None,
        if_match=demanded.if_match,
        create_only=demanded.create_only,
        place=entry.place,
        must_exist=demanded.must_exist,
    )


def _target(entry: Entry) -> tuple[str, str, str]:
    """Type, id and criteria; which of them there are depends on the method."""
    path, asked, query = entry.path.partition("?")
    type_name, *rest = path.split("/")
    place = f"{entry.place}.request.url"
    if type_name not in NUMBERS:
        if _TYPE.fullmatch(type_name):
            text = f"{type_name} is not one of the types that are kept here: {', '.join(NUMBERS)}."
            raise UnsupportedEntry(text, expression=place, issue_type="not-supported")
        raise _invalid("The url begins with a type.", place, "value")
    if any(part.startswith(("$", "_")) for part in rest):
        raise UnsupportedEntry("A Bundle holds no such operation.", expression=place, issue_type="not-supported")
    single = entry.method == "POST"
    if len(rest) > 1 or (single and (rest or asked)) or (rest and asked) or not (single or rest or query):
        raise _invalid("The url names no resource that the method can concern.", place, "value")
    fhir_id = check_id(unquote(rest[0])) if rest else ""
    return type_name, fhir_id, query


def _resource(entry: Entry, type_name: str, fhir_id: str) -> Json:
    resource, place = entry.resource, f"{entry.place}.resource"
    if resource is None:
        raise _invalid(f"A {entry.method} has a resource.", place, "required")
    if resource.get("resourceType") != type_name:
        raise WrongType(f"A {type_name} is expected.", expression=f"{place}.resourceType", issue_type="value")
    if fhir_id and resource.get("id") != fhir_id:
        raise IdMismatch("The resource's id is that of the url.", expression=f"{place}.id", issue_type="value")
    return resource


def _patch(entry: Entry) -> Patch:
    """The patch: a Parameters resource, or a Binary that holds the document. Source: R4 http.html#patch."""
    resource, place = entry.resource or {}, f"{entry.place}.resource"
    if resource.get("resourceType") == "Parameters":
        return Patch(Kind.FHIRPATH, resource)
    if resource.get("resourceType") != "Binary":
        raise _invalid("A patch is a Parameters resource, or a Binary with a patch document.", place, "value")
    media = resource.get("contentType")
    kind = kind_of(media.partition(";")[0].strip().lower()) if isinstance(media, str) else None
    if kind is None:
        raise UnsupportedEntry("The Binary is of no type of patches.", expression=f"{place}.contentType")
    try:
        raw = b64decode(resource.get("data", ""), validate=True)
    except (ValueError, TypeError):
        raise _invalid("The Binary's data are not Base64.", f"{place}.data", "value") from None
    return Patch(kind, read_document(raw))


def order(write: Write) -> int:
    """The place of a write among the others of a transaction. Source: R4 http.html#trules."""
    return _ORDER[write.method]


def identity(write: Write) -> tuple[str, str]:
    """What a write concerns, as far as its request tells: two of one transaction that name the same are refused.

    :raises InvalidSearch: its criteria are of another type.
    """
    if write.criteria:
        kind, query = criterion(write)
        return kind, f"?{query}"
    return write.type, write.fhir_id
