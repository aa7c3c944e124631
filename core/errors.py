"""Base classes of every anticipated refusal. An app subclasses them beside the function that raises.

`code` is the stable name that clients may rely on; `api/errors.py` maps the class to a status.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class FieldError:
    """One error of one field; `field` is dotted ("items.0.qty"), and "" for the body as a whole.

    `details` are further members of the error in the answer.
    """

    field: str
    code: str
    message: str
    details: Mapping[str, Any] = dataclass_field(default_factory=dict, compare=False)

    @property
    def pointer(self) -> str:
        """The field as a JSON Pointer. Source: RFC 6901."""
        if not self.field:
            return ""
        return "/" + "/".join(part.replace("~", "~0").replace("/", "~1") for part in self.field.split("."))


class PlatformError(Exception):
    """An anticipated refusal, which the caller can act on; it is not a bug.

    `extra` holds further members of the problem document ("allowed", "current_version"); `headers` are sent with the
    answer. A class declares the members of `extra` for the OpenAPI document, each with an example value: `extensions`
    are always present, `optional_extensions` only sometimes.
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
    """The request cannot be read, or a field does not have the required form (400)."""

    code = "invalid_request"
    title = "The request is malformed."


class Unauthenticated(PlatformError):
    """The request carries no valid credential (401)."""

    code = "not_authenticated"
    title = "A valid credential is required."


class Forbidden(PlatformError):
    """The caller is known but may not do this (403)."""

    code = "forbidden"
    title = "This is not permitted."


class NotFound(PlatformError):
    """The resource does not exist, or the caller may not see it; the answer does not say which (404)."""

    code = "not_found"
    title = "No such resource."


class Gone(PlatformError):
    """The resource existed and was deleted (410)."""

    code = "gone"
    title = "The resource was deleted."


class Conflict(PlatformError):
    """The request conflicts with the lifecycle, with a unique value or with the version (409)."""

    code = "conflict"
    title = "The request conflicts with the current state."


class Busy(Conflict):
    """Another request holds locks on the rows; trying again helps (409)."""

    code = "concurrent_update"
    title = "Another request is changing the same data; try again."


class PreconditionFailed(PlatformError):
    """If-Match of a FHIR interaction does not hold (412)."""

    code = "precondition_failed"
    title = "The precondition does not hold."


class Unprocessable(PlatformError):
    """The request is well formed, but breaks a rule of the domain (422)."""

    code = "unprocessable"
    title = "The request cannot be processed."


class TooLarge(PlatformError):
    """The request exceeds a size limit of the platform (413)."""

    code = "body_too_large"
    title = "The request is too large."


class TooMany(PlatformError):
    """The rate limit is exceeded (429)."""

    code = "rate_limited"
    title = "Too many requests."


class Unavailable(PlatformError):
    """A dependency does not answer; trying again helps (503)."""

    code = "unavailable"
    title = "A dependency is unavailable; try again."


class InvalidFields(Malformed):
    """One or more fields are invalid; `errors` names each."""

    code = "validation_error"
    title = "Some fields are invalid."


class VersionConflict(Conflict):
    """The row has changed since the caller read it; `current_version` is its version now, null where there is none."""

    code = "version_conflict"
    title = "The resource was changed since it was read."
    extensions = {"current_version": (7, None)}


class InvalidTransition(Conflict):
    """The row's state does not allow the action; `allowed` lists the actions that it does allow."""

    code = "invalid_transition"
    title = "The current state does not allow this action."
    extensions = {"from": "archived", "action": "replace", "allowed": ["restore"]}

    def __init__(self, detail: str = "", *, state: str, action: str, allowed: Sequence[str] = ()) -> None:
        super().__init__(detail, action=action, allowed=list(allowed))
        self.extra = {"from": state, **self.extra}


class Duplicate(Conflict):
    """Another resource has the same unique value."""

    code = "duplicate"
    title = "A resource with this value exists."
    optional_extensions = {"field": "slug", "constraint": "organizations_tenant_slug"}


class FieldLocked(Conflict):
    """What others rely on stays: units once stock has moved, a category's code, a currency; `fields` names what differs."""

    code = "field_locked"
    title = "The field cannot change any more."
    extensions = {"fields": ["base_unit"]}


class QuotaExceeded(Forbidden):
    """A quota of the tenant is used up; waiting helps only where the quota is per period."""

    code = "quota_exceeded"
    title = "The tenant's quota is used up."
    extensions = {"quota": "api_keys", "limit": 20}
    optional_extensions = {"used": 20, "resets_at": ("2026-02-01T00:00:00.000Z", None)}
