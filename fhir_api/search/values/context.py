"""What the meaning of a value depends on besides itself."""

from dataclasses import dataclass, field
from datetime import datetime

from fhir_api.smart import UNNARROWED, Access
from fhir_api.value_sets.queries import Members


@dataclass(frozen=True, slots=True)
class Context:
    """When the search is asked, for `ap`; what it may see, for hierarchies; the tenant's own value sets that it names.

    `until` is where a feed ends, see `core.watermark`.
    """

    at: datetime
    access: Access = UNNARROWED
    value_sets: Members = field(default_factory=dict)
    until: datetime | None = None
