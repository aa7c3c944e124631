"""Signatures by a prescriber's own key, beside the platform's seal. Source: contract, prescriptions.md "Own key"."""

from collections.abc import Sequence
from datetime import datetime

from core.errors import Unprocessable


class ExternalSignatureUntrusted(Unprocessable):
    """The certificate leads to no root that the tenant trusts, is not valid now, or is another prescriber's."""

    code = "external_signature_untrusted"
    title = "The certificate of the signature is not trusted here."


class ExternalSignatureMismatch(Unprocessable):
    """The signature is not one over the prescription as it is now."""

    code = "external_signature_mismatch"
    title = "The signature is over another content."


def demand_external(jws: str, text: str, roots: Sequence[str], licence: str | None, at: datetime) -> None:
    """Check a detached JWS with its certificates over the canonical text of the content."""
    raise ExternalSignatureUntrusted
