"""The searchset: a Bundle written around the bytes of the resources. Source: R4 bundle.html, search.html#return."""

from collections.abc import Iterable, Sequence
from urllib.parse import urlencode

import orjson
from django.conf import settings

from core.ids import uuid7_text
from fhir_api.ids import new_urn
from fhir_api.outcomes import Issue, outcome

from .parse import Pair

MATCH, INCLUDE = b"match", b"include"
Entry = tuple[str, str, bytes, bytes]  # type, id, body, mode


def bundle(
    entries: Iterable[Entry], *, total: int | None, links: Sequence[Pair], issues: Sequence[Issue] = ()
) -> bytes:
    """A Bundle of type searchset; matches come first, then what is included, then what there is to say."""
    head = {
        "resourceType": "Bundle",
        "id": uuid7_text(),
        "type": "searchset",
        **({} if total is None else {"total": total}),
        "link": [{"relation": relation, "url": url} for relation, url in links],
    }
    parts = [_entry(entry) for entry in entries]
    if issues:
        told = {"fullUrl": new_urn(), "resource": outcome(issues), "search": {"mode": "outcome"}}
        parts.append(orjson.dumps(told))
    opened = orjson.dumps(head)[:-1]
    return b'%b,"entry":[%b]}' % (opened, b",".join(parts)) if parts else opened + b"}"


def address(type_name: str, pairs: Sequence[Pair]) -> str:
    """The absolute address of a search."""
    base = f"{settings.FHIR_BASE_URL}/{type_name}".rstrip("/")
    return f"{base}?{urlencode(pairs, safe=':/,$*')}" if pairs else base


def _entry(entry: Entry) -> bytes:
    type_name, fhir_id, body, mode = entry
    head = orjson.dumps(f"{settings.FHIR_BASE_URL}/{type_name}/{fhir_id}")
    return b'{"fullUrl":%b,"resource":%b,"search":{"mode":"%b"}}' % (head, body, mode)
