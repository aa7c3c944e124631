"""Targets that are looked up in the same trip as the proof of a write, so that finding them costs none of their own."""

from abc import ABC, abstractmethod
from typing import Any
from uuid import UUID

from .actor import Actor
from .pipeline import Call, Rows


class Located(ABC):
    """What an `Operation` may have as `find`: `locate` travels with the proof, and the call gets its rows.

    The rows are those of a caller who is proved but not yet authorized, so only the call refuses.
    """

    __slots__ = ()

    @abstractmethod
    def locate(self, tenant_id: UUID, *path: Any) -> Call:
        """Return the statement that looks the target up in the caller's tenant."""

    @abstractmethod
    def __call__(self, actor: Actor, *path: Any, located: Rows) -> Any:
        """Return the locked target.

        :raises NotFound: the statement found nothing.
        """
