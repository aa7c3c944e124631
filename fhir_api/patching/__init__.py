"""Patches of resources: JSON Patch (RFC 6902), JSON merge patch (RFC 7396) and FHIRPath Patch (R4 fhirpatch.html)."""

from .meta import SETS, MetaChange
from .patches import Kind, Patch, apply_patch, kind_of
from .refusals import PatchRefused

__all__ = ["SETS", "Kind", "MetaChange", "Patch", "PatchRefused", "apply_patch", "kind_of"]
