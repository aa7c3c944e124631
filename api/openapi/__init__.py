"""The OpenAPI 3.1 document, derived from the operations: one component for each representation, refusal, header and parameter."""

from .document import complete, only_the_api
from .inspector import Inspector

__all__ = ["Inspector", "complete", "only_the_api"]
