"""A history as a Bundle, written around the bytes of the versions. Source: R4 http.html#history, bundle.html."""

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urlencode

import orjson
from django.conf import settings

from core.ids import uuid7_text

from .history import Entry
from .ids import new_urn
from .outcomes import Issue, outcome
from .resources import Json
from .store.models import Method

BASE_PATH = "/fhir/R4"


def bundle(
    entries: Iterable[Entry], *, total: int | None, links: Sequence[tuple[str, str]], issues: Sequence[Issue] = ()
) -> bytes:
    """A Bundle of type history; `total` None is left out. What there is to say comes last, as the outcome of the question."""
    head = {
        "resourceType": "Bundle",
        "id": uuid7_text(),
        "type": "history",
        **({} if total is None else {"total": total}),
        "link": [{"relation": relation, "url": url} for relation, url in links],
    }
    parts = list(map(_entry, entries))
    if issues:
        parts.append(orjson.dumps(_told(issues, links[0][1])))
    shown = b",".join(parts)
    opened = orjson.dumps(head)[:-1]
    return b'%b,"entry":[%b]}' % (opened, shown) if shown else opened + b"}"


def _entry(entry: Entry) -> bytes:
    address = f"{entry.type}/{entry.fhir_id}"
    method = Method(entry.method)
    rest = {
        "request": {"method": method.name, "url": entry.type if method is Method.POST else address},
        "response": {"status": _status(entry), "etag": f'W/"{entry.version}"', "lastModified": entry.moment},
    }
    head = orjson.dumps({"fullUrl": f"{settings.FHIR_BASE_URL}/{address}"})[:-1]
    body = b',"resource":' + entry.body if entry.body is not None else b""
    return head + body + b"," + orjson.dumps(rest)[1:]


def _told(issues: Sequence[Issue], url: str) -> Json:
    """An entry that is no version: a history's entries have a request and a response. Source: R4 bundle.html, bdl-3, bdl-4."""
    told = {"status": "200", "outcome": outcome(issues)}
    return {"fullUrl": new_urn(), "request": {"method": "GET", "url": url}, "response": told}


def _status(entry: Entry) -> str:
    if entry.body is None:
        return "204"
    return "201" if entry.version == 1 else "200"


def link(path: str, parameters: Mapping[str, str]) -> str:
    """The absolute address of a history with these parameters; `path` is that of its request."""
    query = urlencode(parameters, safe=":/")
    address = settings.FHIR_BASE_URL + path.removeprefix(BASE_PATH)
    return f"{address}?{query}" if query else address
