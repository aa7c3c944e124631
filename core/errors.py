"""Roots of every anticipated refusal. An app subclasses them beside the function that raises.

`code` is the stable machine name clients may switch on; `api/errors.py` maps the class to a status.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class FieldError:
    """One fault of one field; `field` in dotted form ("items.0.qty"), "" for the body as a whole."""

    field: str
    code: str
    message: str

    @property
    def pointer(self) -> str:
        """The field as JSON Pointer. Source: RFC 6901."""
        if not self.field:
            return ""
        return "/" + "/".join(part.replace("~", "~0").replace("/", "~1") for part in self.field.split("."))


class PlatformError(Exception):
    """An anticipated refusal: the caller can act on it and no code needs a change.

    `extra` holds members of the problem document ("allowed", "current_version"), `headers` those of the answer. A class
    declares the members of `extra` for the OpenAPI document, each with an example value: `extensions` are always there,
    `optional_extensions` sometimes.
    """

    code: ClassVar[str] = "error"
    title: ClassVar[str] = "The request was refused."
    extensions: ClassVar[Mapping[str, Any]] = {}
    optional_extensions: ClassVar[Mapping[str, Any]] = {}

    def __init__(
        self,
        detail: str = "",
        *,
        errors: Sequence[FieldError] = (),
        headers: dict[str, str] | None = None,
        **extra: Any,
    ) -> None:
        super().__init__(detail or self.title)
        self.detail = detail or self.title
        self.errors = tuple(errors)
        self.headers = headers or {}
        self.extra = extra


class Malformed(PlatformError):
    """The request cannot be read, or a field is not of its form (400)."""

    code = "invalid_request"
    title = "The request is malformed."


class Unauthenticated(PlatformError):
    """No valid credential (401)."""

    code = "not_authenticated"
    title = "A valid credential is required."


class Forbidden(PlatformError):
    """Known, but not allowed here (403)."""

    code = "forbidden"
    title = "This is not permitted."


class NotFound(PlatformError):
    """Absent, or of somebody else: the two look alike on purpose (404)."""

    code = "not_found"
    title = "No such resource."


class Gone(PlatformError):
    """It was here and was deleted (410)."""

    code = "gone"
    title = "The resource was deleted."


class Conflict(PlatformError):
    """Lifecycle, uniqueness or version (409)."""

    code = "conflict"
    title = "The request conflicts with the current state."


class Busy(Conflict):
    """Another request holds the rows; trying again helps."""

    code = "concurrent_update"
    title = "Another request is changing the same data; try again."


class PreconditionFailed(PlatformError):
    """FHIR's If-Match (412)."""

    code = "precondition_failed"
    title = "The precondition does not hold."


class Unprocessable(PlatformError):
    """Well formed, but impossible in the domain (422)."""

    code = "unprocessable"
    title = "The request cannot be processed."


class TooLarge(PlatformError):
    """A bound of the platform is exceeded (413)."""

    code = "body_too_large"
    title = "The request is too large."


class TooMany(PlatformError):
    """Rate limit (429)."""

    code = "rate_limited"
    title = "Too many requests."


class Unavailable(PlatformError):
    """A dependency is away; trying again helps (503)."""

    code = "unavailable"
    title = "A dependency is unavailable; try again."


class InvalidFields(Malformed):
    """One or more fields are not of their form; `errors` names each."""

    code = "validation_error"
    title = "Some fields are invalid."


class VersionConflict(Conflict):
    """The row changed since the caller read it. `current_version` says where it stands."""

    code = "version_conflict"
    title = "The resource was changed since it was read."
    extensions = {"current_version": 7}


class InvalidTransition(Conflict):
    """The lifecycle does not allow this action now: `from`, `action`, `allowed`."""

    code = "invalid_transition"
    title = "The current state does not allow this action."
    extensions = {"from": "archived", "action": "replace", "allowed": ["restore"]}

    def __init__(self, detail: str = "", *, state: str, action: str, allowed: Sequence[str] = ()) -> None:
        super().__init__(detail, action=action, allowed=list(allowed))
        self.extra = {"from": state, **self.extra}


class Duplicate(Conflict):
    """A unique value is taken."""

    code = "duplicate"
    title = "A resource with this value exists."
    optional_extensions = {"field": "slug", "constraint": "organizations_tenant_slug"}


class QuotaExceeded(Forbidden):
    """An entitlement is used up; waiting does not help unless the period ends."""

    code = "quota_exceeded"
    title = "The tenant's quota is used up."
    extensions = {"quota": "api_keys", "limit": 20}
    optional_extensions = {"used": 20, "resets_at": ("2026-02-01T00:00:00.000Z", None)}
