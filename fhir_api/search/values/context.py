"""What the meaning of a value depends on besides itself."""

from dataclasses import dataclass
from datetime import datetime

from fhir_api.smart import UNNARROWED, Access


@dataclass(frozen=True, slots=True)
class Context:
    """When the search is asked, for `ap`, and what it may see, for hierarchies."""

    at: datetime
    access: Access = UNNARROWED
