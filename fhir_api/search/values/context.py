"""What the meaning of a value depends on besides itself."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Context:
    """When the search is asked, for `ap`."""

    at: datetime
