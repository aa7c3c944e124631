"""The signed snapshot as owner and pharmacy read it, each from what its own tenant keeps."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

import jwt

from core.canonical import sha256_hex
from core.errors import NotFound
from core.pipeline import Call, Rows, Statement
from organizations import public as organizations
from prescriptions.lifecycle.sealing import unseal
from prescriptions.lifecycle.targets import WITHIN
from prescriptions.states import LIVE

from .snapshots import kid_of


class _Kept(NamedTuple):
    """A sealed JWS, its schema, and whose prescription it is."""

    jws: str
    schema: str
    patient_id: str


_OWN: Final = Statement.of(
    "SELECT s.jws, s.schema, t.patient_id FROM prescriptions_prescription t JOIN prescriptions_snapshot s"
    " ON s.tenant_id = t.tenant_id AND s.prescription_id = t.id"
    f" WHERE t.tenant_id = $1 AND t.id = $2 AND s.tenant_id = $1 AND {WITHIN.sql}",
    row=_Kept,
)
_RECEIVED: Final = Statement.of(
    "SELECT s.jws, s.schema, t.patient_id FROM prescriptions_receivedprescription t"
    " JOIN prescriptions_receivedsnapshot s ON s.tenant_id = t.tenant_id AND s.id = t.id"
    " WHERE t.tenant_id = $1 AND t.id = $2 AND s.tenant_id = $1"
    f" AND t.route_state IN ({', '.join(repr(str(state)) for state in LIVE)})",
    row=_Kept,
)
_EXISTS: Final = Statement.of(
    f"SELECT 1 FROM prescriptions_prescription t WHERE t.tenant_id = $1 AND t.id = $2 AND {WITHIN.sql}"
)


def exists_call(tenant_id: UUID, prescription_id: UUID) -> Call:
    """Return the call that finds a prescription of the tenant within the places that are bound."""
    return Call(_EXISTS, [str(tenant_id), str(prescription_id)])


def snapshot_calls(tenant_id: UUID, prescription_id: UUID) -> list[Call]:
    """Return the calls that read the snapshot as either side keeps it; `shown_snapshot` reads their rows."""
    keys = [str(tenant_id), str(prescription_id)]
    return [Call(_OWN, keys), Call(_RECEIVED, keys), organizations.tenant_key_call(tenant_id)]


def shown_snapshot(tenant_id: UUID, prescription_id: UUID, found: Sequence[Rows]) -> tuple[dict[str, Any], str]:
    """Return the snapshot as it is answered, and the patient's id.

    :raises NotFound: the tenant keeps no snapshot of such a prescription, or no longer holds it.
    """
    own, received, key = found
    kept = next(iter([*own.of(_Kept), *received.of(_Kept)]), None)
    if kept is None:
        raise NotFound("No such prescription, or it is not signed.")
    organizations.keep_tenant_key(tenant_id, key)
    jws = unseal(tenant_id, prescription_id, kept.jws)
    text = jwt.PyJWS().decode_complete(jws, options={"verify_signature": False})["payload"]
    shown = {"jws": jws, "digest": sha256_hex(text), "kid": kid_of(jws), "schema": kept.schema, "text": text.decode()}
    return shown, kept.patient_id
