"""Why a patch is refused. Texts name places of the document and the resource, never values."""

from core.errors import Malformed, Unprocessable
from fhir_api.access.records import Revealing


class PatchRefused(Revealing):
    """What all refusals of patches have in common."""


class InvalidPatch(PatchRefused, Malformed):
    """The document is not a patch of its kind (400)."""

    code = "invalid_patch"
    title = "The patch document is malformed."


class InvalidPatchPath(PatchRefused, Malformed):
    """A path cannot be read, or uses FHIRPath beyond what patches need (400)."""

    code = "invalid_patch_path"
    title = "A path of the patch cannot be read."


class PatchTargetMissing(PatchRefused, Unprocessable):
    """The resource has nothing at the path (422)."""

    code = "patch_target_missing"
    title = "The patch names a place that the resource does not have."


class PatchTargetAmbiguous(PatchRefused, Unprocessable):
    """The path leads to several elements where one is meant (422)."""

    code = "patch_target_ambiguous"
    title = "The patch's path leads to more than one element."


class PatchTargetExists(PatchRefused, Unprocessable):
    """An element that does not repeat is there already (422)."""

    code = "patch_target_exists"
    title = "The element that the patch adds is there already."


class PatchTestFailed(PatchRefused, Unprocessable):
    """A `test` operation found another value; nothing was changed (422)."""

    code = "patch_test_failed"
    title = "A test of the patch failed."


class PatchWrongType(PatchRefused, Unprocessable):
    """The value is of another type than the element (422)."""

    code = "patch_wrong_type"
    title = "The value is not of the element's type."


class PatchProtected(PatchRefused, Unprocessable):
    """`resourceType`, `id`, `meta.versionId` and `meta.lastUpdated` are the server's (422)."""

    code = "patch_protected_element"
    title = "A patch may not change this element."


class PatchTooCostly(PatchRefused, Unprocessable):
    """The patch has too many operations, or makes the resource too large or too deep (422)."""

    code = "patch_too_costly"
    title = "The patch asks for more than the platform does at once."
