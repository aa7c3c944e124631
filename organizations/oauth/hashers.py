"""The hasher of client secrets: of 128 random characters, one SHA-256 is as safe as a slow hash, and 100 times faster."""

import hashlib
import hmac
from typing import Any

from django.contrib.auth.hashers import BasePasswordHasher


class ClientSecretHasher(BasePasswordHasher):
    """SHA-256 of a generated secret. It is not for passwords, which can be guessed."""

    algorithm = "sha256_client_secret"

    def salt(self) -> str:
        """Return no salt: two secrets of 128 random characters are never equal."""
        return ""

    def encode(self, password: str, salt: str = "") -> str:
        """Return the digest in the format of Django's hashers."""
        return f"{self.algorithm}$${hashlib.sha256(password.encode()).hexdigest()}"

    def verify(self, password: str, encoded: str) -> bool:
        """Compare in constant time."""
        return hmac.compare_digest(self.encode(password), encoded)

    def safe_summary(self, encoded: str) -> Any:
        """Show nothing of the digest."""
        return {"algorithm": self.algorithm}

    def must_update(self, encoded: str) -> bool:
        """Return false: a stored digest never has to be renewed."""
        return False

    def harden_runtime(self, password: str, encoded: str) -> None:
        """Do nothing: the digest takes the same time for every secret."""
