"""A tenant's policies in one statement, which can share a trip to the database with others."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from core.pipeline import Call, Rows, Statement
from organizations import configuration_schema

from .tree import ORGANIZATIONS

SECTION = "policies"


class _Layers(NamedTuple):
    """The policies and locks of every organization above, the root's first, and the tenant's own policies; JSON."""

    above: bytes
    own: bytes


# Every layer from the root of the tree down, the tenant's own last.
_UP = ORGANIZATIONS.up("n.id = (SELECT organization_id FROM organizations_tenant WHERE id = $1)")
_LAYERS = Statement.of(
    f"""
SELECT coalesce((SELECT json_agg(json_build_array(c.policies, c.locked) ORDER BY up.step DESC)
                   FROM {_UP} up JOIN organizations_organizationconfiguration c ON c.organization_id = up.id), '[]') AS above,
       coalesce((SELECT c.policies FROM organizations_tenantconfiguration c WHERE c.tenant_id = $1), '{{}}') AS own
""",
    row=_Layers,
)


def policies_call(tenant_id: UUID) -> Call:
    """Return the call that reads the policies of the bound tenant; `policies_of` reads its rows.

    Whoever acts on another tenant's document binds the owner and reads the owner's policies so.
    """
    return Call(_LAYERS, [str(tenant_id)])


def policies_of(rows: Rows) -> Mapping[str, Any]:
    """Return the policies in effect, as `configuration.effective` does for all sections."""
    (layers,) = rows.of(_Layers)
    return _resolve(layers.above, layers.own)


@lru_cache(maxsize=1024)
def _resolve(above: bytes, own: bytes) -> Mapping[str, Any]:
    """Apply the layers to the defaults; cached by their bytes, since policies seldom change between two requests."""
    values, locked = configuration_schema.defaults()[SECTION], set[str]()
    layers = [*orjson.loads(above), (orjson.loads(own), ())]
    for policies, locks in layers:
        values.update({key: value for key, value in policies.items() if _may_set(key, values, locked)})
        locked.update(locks)
    return MappingProxyType(values)


def _may_set(key: str, values: Mapping[str, Any], locked: set[str]) -> bool:
    return key in values and f"{SECTION}.{key}" not in locked
