"""Users and service accounts."""

from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models.functions import Lower, Now

from core.clock import now
from core.ids import uuid7
from core.row_security import REFERENCE


class StaffRole(models.TextChoices):
    """Roles of the platform's staff in the admin."""

    SUPPORT = "support"
    SUPPLY = "supply"
    FINANCE = "finance"
    SECURITY = "security"
    ADMINISTRATOR = "administrator"


class UserManager(BaseUserManager["User"]):
    """Creates users; e-mail addresses are stored in lower case."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Create an active user, who cannot sign in until a password is set."""
        user = self.model(email=email.strip().lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Create an administrator of the platform."""
        staff = {"is_staff": True, "is_superuser": True, "staff_role": StaffRole.ADMINISTRATOR}
        return self.create_user(email, password, **(staff | fields))

    def get_by_natural_key(self, username: str | None) -> "User":
        """Find a user by e-mail address, without regard to case."""
        return self.get(email=(username or "").strip().lower())


class User(AbstractBaseUser, PermissionsMixin):
    """A person who can sign in: a member of tenants, a member of the platform's staff, or both.

    Personal data: e-mail address and name of the person.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    email = models.EmailField(max_length=254, unique=True)
    name = models.CharField(max_length=200, blank=True, default="")
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    staff_role = models.CharField(max_length=20, choices=StaffRole, blank=True, default="")
    created_at = models.DateTimeField(default=now, db_default=Now(), editable=False)
    last_sign_in_at = models.DateTimeField(null=True, blank=True)
    password_changed_at = models.DateTimeField(null=True, blank=True)

    last_login = None

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects: ClassVar[UserManager] = UserManager()

    security: ClassVar = REFERENCE

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(email=Lower("email")), name="organizations_user_email_lower"),
            models.CheckConstraint(
                condition=models.Q(staff_role__in=["", *StaffRole.values]), name="organizations_user_staff_role_known"
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)

    def get_short_name(self) -> str:
        """Return the name under which the admin greets the person."""
        return self.name or self.email


class ServiceAccount(models.Model):
    """A machine that acts through an API key or an OAuth client. `tenant` created it; null for the platform's own.

    Personal data: none.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=200)
    partner = models.CharField(max_length=200)
    tenant = models.ForeignKey(
        "organizations.Tenant", null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=now, db_default=Now(), editable=False)

    security: ClassVar = REFERENCE

    def __str__(self) -> str:
        return self.name
