"""Which resources an app of the platform keeps, so that nobody writes them through FHIR. Source: contract, "Who owns what"."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final
from uuid import UUID

from core.errors import Conflict

from .store import Name

Owner = Callable[[UUID, Collection[str]], Mapping[str, str]]
_owners: Final[dict[str, list[Owner]]] = {}


class ProjectedResource(Conflict):
    """The resource is made from the platform's own data and is changed there."""

    code = "projected_resource"
    title = "The resource is kept elsewhere."


def own(type_name: str, owner: Owner) -> None:
    """Register who keeps resources of a type; to be called while the apps are made ready.

    `owner(tenant_id, ids)` runs in the transaction of a write, with the tenant bound. It returns, of the ids, those that
    the caller keeps, each with its REST address.
    """
    owners = _owners.setdefault(type_name, [])
    if owner not in owners:
        owners.append(owner)


def refuse(tenant_id: UUID, names: Iterable[tuple[Name, str]]) -> None:
    """Refuse to write what an app keeps. Each name comes with its place in the request.

    :raises ProjectedResource: one of the names is kept by an app; the refusal says where to change it.
    """
    wanted: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for (type_name, fhir_id), place in names:
        if type_name in _owners:
            wanted[type_name][fhir_id] = place
    for type_name, owner in ((name, owner) for name, owners in _owners.items() for owner in owners if name in wanted):
        places = wanted[type_name]
        for fhir_id, address in owner(tenant_id, places).items():
            raise ProjectedResource(
                f"This {type_name} is made from {address}: change it there.",
                expression=places[fhir_id],
                issue_type="business-rule",
            )
