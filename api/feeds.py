"""Lists by which a client may follow the changes: they end at the oldest write that is open. Source: decision 118."""

from dataclasses import replace
from uuid import UUID

from core import watermark
from core.conditions import Condition
from core.pipeline import Call

from .listing import Query

_SINCE, _SORT = "updated_since", "updated_at"
_BOUND = Condition(f't."{_SORT}" < {watermark.END}')


def is_feed(query: Query) -> bool:
    """Tell whether a client may follow the changes by this list: by `updated_since`, or sorted by `updated_at`."""
    return query.order.keys[0][0].column == _SORT or any(name == _SINCE for name, _ in query.conditions)


def bounded(query: Query) -> Query:
    """The query, without the rows behind the end of the feed if it is one."""
    return replace(query, extra=(*query.extra, _BOUND)) if is_feed(query) else query


def with_end(query: Query, tenant_id: UUID | None, call: Call) -> list[Call]:
    """The statement of a list; that of a feed behind the one that tells where it ends."""
    return [watermark.settle_call(tenant_id), call] if tenant_id and is_feed(query) else [call]
