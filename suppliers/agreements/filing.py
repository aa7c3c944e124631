"""Files of an agreement, such as its signed text: the author's own, and those that the version before has from either side.

Each is bound to the version that names it first, so that it stays as long as that, and the other party may read it from the
proposal on. Source: contract, supply-price.md 5 and supply.md 4 "Files".
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from core.db import needs_transaction
from core.pipeline import Call, run
from suppliers.files.handing_over import Handed, check_files, files_calls, rebinding_calls, received_calls
from suppliers.files.states import ResourceType

from .models import AgreementDraft, PriceAgreement

_MEMBER: Final = "file_ids"


@needs_transaction
def take_files(draft: AgreementDraft, data: Mapping[str, Any], at: datetime) -> tuple[list[str], list[Call]]:
    """Put the files that a body names into a draft; return what changed, and what binds them. The author is bound.

    :raises InvalidFields: a file is neither the author's nor the draft's, is not ready, or is private; names each.
    """
    if _MEMBER not in data:
        return [], []
    ids, held = data[_MEMBER], {UUID(one["id"]): one for one in draft.files}
    known = _own(draft, ids, held)
    changed = draft.assign({"files": [known[key].as_received() if key in known else held[key] for key in ids]})
    named = {_MEMBER: [key for key in ids if key in known]}
    bound = rebinding_calls(draft.tenant_id, named, ResourceType.AGREEMENT.value, draft.id, at)
    return changed, bound if changed else []


@needs_transaction
def hand_over(draft: AgreementDraft, row: PriceAgreement, at: datetime) -> list[Call]:
    """Return the statements by which the other party may read the author's files, for a trip bound to the buyer.

    The author is bound now.

    :raises InvalidFields: a file is not ready any more; names each.
    """
    ids = [UUID(one["id"]) for one in draft.files]
    buyer, supplier = row.tenant_id, row.supplier_tenant_id
    own = [one.as_received() for one in _own(draft, ids, ids).values()]
    reader = supplier if draft.tenant_id == buyer else buyer
    return received_calls(reader, draft.tenant_id, own, at, bound_id=buyer)


def _own(draft: AgreementDraft, ids: Sequence[UUID], held: Collection[UUID]) -> Mapping[UUID, Handed]:
    """Return those of the files that are the author's own."""
    named = {_MEMBER: ids}
    reading = files_calls(draft.tenant_id, named)
    return check_files(named, run(reading) if reading else [], held=held)
