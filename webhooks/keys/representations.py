"""Live signing keys as clients read them; the value is never among the members."""

from django.core.validators import RegexValidator

from api.representations import BlankAsNull, Representation
from webhooks.models import Secret


class WebhookSecretOut(Representation):
    """A signing key that is in use, without its value."""

    public_key = BlankAsNull(
        allow_null=True,
        validators=[RegexValidator("^whpk_")],
        help_text="The key that receivers verify with; null for `hmac`.",
    )

    class Meta:
        model = Secret
        version = None
        where = Secret.VALIDITY.holds_now("t")
        fields = ("id", "kind", "public_key", "created_at", "expires_at", "last_used_at")
        extra_kwargs = {
            "expires_at": {"help_text": "The end of its overlap; null for the current one."},
            "last_used_at": {"help_text": "When it last signed, to the minute or coarser."},
        }
        example = {"expires_at": None}
