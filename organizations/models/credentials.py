"""Signing keys, sign-in sessions, refresh tokens, second factors, and the links and mails of sign-in."""

from typing import ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from core.clock import now
from core.ids import uuid7
from core.row_security import LOCAL, REFERENCE


class SigningKey(models.Model):
    """A key that signs for one purpose: tokens, snapshots of prescriptions, or checkpoints of audit histories.

    The active key of a purpose signs; it alone has a private half. A replaced key for tokens is retiring, and still verifies,
    until `verifies_until`. A replaced key of another purpose is retired at once; its public half verifies for good, and a
    trigger holds its row. `compromised_at` is the instant from which nothing that the key signed is trusted by its signature.

    Personal data: none.
    """

    class Status(models.TextChoices):
        ACTIVE = "active"
        RETIRING = "retiring"
        RETIRED = "retired"

    class Purpose(models.TextChoices):
        TOKEN = "token"  # noqa: S105  # a purpose
        SNAPSHOT = "snapshot"
        CHECKPOINT = "checkpoint"

    kid = models.CharField(primary_key=True, max_length=64, editable=False)
    purpose = models.CharField(max_length=10, choices=Purpose, default=Purpose.TOKEN, db_default=Purpose.TOKEN.value)
    algorithm = models.CharField(max_length=10, default="RS256")
    status = models.CharField(max_length=10, choices=Status)
    public_pem = models.TextField()
    sealed_pem = models.BinaryField(null=True)
    created_at = models.DateTimeField(default=now, db_default=Now(), editable=False)
    retired_at = models.DateTimeField(null=True)
    compromised_at = models.DateTimeField(null=True)
    verifies_until = models.DateTimeField(null=True)

    security: ClassVar = REFERENCE

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["purpose"], condition=models.Q(status="active"), name="organizations_one_active_key_a_purpose"
            ),
            models.CheckConstraint(
                condition=models.Q(status__in=["active", "retiring", "retired"]),
                name="organizations_signing_key_status_known",
            ),
            models.CheckConstraint(
                condition=models.Q(purpose="token", algorithm="RS256")
                | models.Q(purpose__in=["snapshot", "checkpoint"], algorithm="ES256"),
                name="organizations_signing_key_algorithm_fits",
            ),
            models.CheckConstraint(
                condition=models.Q(status="active") | models.Q(sealed_pem__isnull=True),
                name="organizations_signing_key_private_while_active",
            ),
            models.CheckConstraint(
                condition=models.Q(compromised_at__isnull=True) | models.Q(status="retired"),
                name="organizations_signing_key_compromised_retired",
            ),
        ]

    def __str__(self) -> str:
        return self.kid


class SignInSession(models.Model):
    """One sign-in of a person through a client; its id is the `sid` of all tokens of the session.

    `scopes` is null if the session is not narrowed (first-party sign-in). `bound_tenant_id` and `patient` limit its
    tokens to one tenant, and to one patient of that tenant's clinical record.

    Personal data: when and through which client a person signed in; the id of a patient.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    client_id = models.CharField(max_length=255)
    scopes = ArrayField(models.CharField(max_length=100), null=True)
    acr = models.CharField(max_length=20)
    amr = ArrayField(models.CharField(max_length=20), default=list)
    authenticated_at = models.DateTimeField()
    bound_tenant_id = models.UUIDField(null=True)
    patient = models.CharField(max_length=64, blank=True, default="", db_default="")
    created_at = models.DateTimeField(default=now, db_default=Now(), editable=False)
    last_used_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    end_reason = models.CharField(max_length=40, blank=True, default="")

    security: ClassVar = LOCAL

    class Meta:
        indexes = [
            models.Index(fields=["user"], condition=models.Q(ended_at__isnull=True), name="organizations_session_open"),
            models.Index(fields=["expires_at"], name="organizations_session_expiry"),
        ]

    def __str__(self) -> str:
        return str(self.id)


class RefreshToken(models.Model):
    """One refresh token of a session, stored as its digest. A used token keeps its sealed successor for a few seconds.

    Personal data: none.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    digest = models.CharField(max_length=64, unique=True)
    session = models.ForeignKey(SignInSession, on_delete=models.CASCADE, related_name="refresh_tokens")
    created_at = models.DateTimeField(default=now, db_default=Now(), editable=False)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    sealed_answer = models.BinaryField(null=True)

    security: ClassVar = LOCAL

    def __str__(self) -> str:
        return str(self.id)


class DeniedToken(models.Model):
    """A token id (`jti`) or session id (`sid`) that is refused until every token with this id has expired.

    Also, as `assertion:` and a digest, the id of an assertion with which a client has authenticated.

    Personal data: none.
    """

    value = models.TextField(primary_key=True)
    expires_at = models.DateTimeField()

    security: ClassVar = REFERENCE

    class Meta:
        indexes = [models.Index(fields=["expires_at"], name="organizations_denied_expiry")]

    def __str__(self) -> str:
        return self.value


class TotpDevice(models.Model):
    """The second factor of a person. A new secret is pending until a code confirms it; codes up to `last_step` are used.

    Personal data: that a person has a second factor.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE, related_name="totp_device"
    )
    sealed_secret = models.BinaryField(null=True)
    sealed_pending = models.BinaryField(null=True)
    created_at = models.DateTimeField(default=now, db_default=Now(), editable=False)
    confirmed_at = models.DateTimeField(null=True)
    last_step = models.BigIntegerField(default=0)

    security: ClassVar = LOCAL

    def __str__(self) -> str:
        return str(self.user_id)


class SignInFailure(models.Model):
    """Consecutive failed sign-ins of one account, existing or not, from one network.

    `subject` holds keyed digests of the account and of the network.

    Personal data: none readable; the digests stand for an e-mail address and a network address.
    """

    subject = models.CharField(primary_key=True, max_length=255)
    failures = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField()
    locked_until = models.DateTimeField(null=True)

    security: ClassVar = LOCAL

    class Meta:
        indexes = [models.Index(fields=["last_at"], name="organizations_failure_last")]

    def __str__(self) -> str:
        return self.subject


class Invitation(models.Model):
    """A link by which an invited person accepts a membership, stored as its digest; it works once.

    Personal data: none; refers to a membership.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    digest = models.CharField(max_length=64, unique=True)
    membership = models.ForeignKey("organizations.Membership", on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(default=now, db_default=Now(), editable=False)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)

    security: ClassVar = LOCAL

    def __str__(self) -> str:
        return str(self.id)


class PasswordReset(models.Model):
    """A link by which a person sets a new password, stored as its digest; it works once.

    Personal data: that a person asked for a new password.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    digest = models.CharField(max_length=64, unique=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(default=now, db_default=Now(), editable=False)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    security: ClassVar = LOCAL

    def __str__(self) -> str:
        return str(self.id)


class OutgoingMail(models.Model):
    """A mail in the queue. Address and content are sealed, and deleted once the mail is sent.

    Personal data: e-mail address, sealed, until the mail is sent.
    """

    class Kind(models.TextChoices):
        INVITATION = "invitation"
        PASSWORD_RESET = "password_reset"  # noqa: S105  # a kind of mail
        PASSWORD_CHANGED = "password_changed"  # noqa: S105  # a kind of mail
        NOTICE = "notice"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    kind = models.CharField(max_length=20, choices=Kind)
    sealed_content = models.BinaryField(null=True)
    created_at = models.DateTimeField(default=now, db_default=Now(), editable=False)
    due_at = models.DateTimeField(db_default=Now())
    attempts = models.PositiveSmallIntegerField(default=0)
    sent_at = models.DateTimeField(null=True)
    last_error = models.CharField(max_length=100, blank=True, default="")

    security: ClassVar = LOCAL

    class Meta:
        indexes = [
            models.Index(fields=["due_at"], condition=models.Q(sent_at__isnull=True), name="organizations_mail_due")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"
