"""People with passwords, for the tests of sign-in and of the authorization server."""

from dataclasses import dataclass
from typing import Any

from organizations.models import User
from tests.factories import Api, suffix

PASSWORD = "correct horse battery staple 42"


@dataclass
class Person:
    """Somebody who can sign in."""

    user: User
    password: str = PASSWORD

    @property
    def email(self) -> str:
        """The address."""
        return self.user.email

    def sign_in(self, **more: Any) -> Any:
        """Post the credentials and return the response."""
        return Api().post("/v1/auth/token", json={"email": self.email, "password": self.password, **more})


def new_person(**fields: Any) -> Person:
    """Make somebody."""
    return Person(User.objects.create_user(f"person-{suffix()}@example.org", PASSWORD, name="Anna Berg", **fields))
