"""How client secrets are stored. They are 128 random characters, so one SHA-256 is as good as a slow hash, 100 times faster."""

import hashlib
import hmac
from typing import Any

from django.contrib.auth.hashers import BasePasswordHasher


class ClientSecretHasher(BasePasswordHasher):
    """SHA-256 of a machine-made secret. Never for passwords: people's secrets can be guessed."""

    algorithm = "sha256_client_secret"

    def salt(self) -> str:
        """No salt: two secrets of 128 random characters are never equal."""
        return ""

    def encode(self, password: str, salt: str = "") -> str:
        """Write the digest in the form of Django's hashers."""
        return f"{self.algorithm}$${hashlib.sha256(password.encode()).hexdigest()}"

    def verify(self, password: str, encoded: str) -> bool:
        """Compare in constant time."""
        return hmac.compare_digest(self.encode(password), encoded)

    def safe_summary(self, encoded: str) -> Any:
        """Show nothing of the digest."""
        return {"algorithm": self.algorithm}

    def must_update(self, encoded: str) -> bool:
        """Nothing to strengthen."""
        return False

    def harden_runtime(self, password: str, encoded: str) -> None:
        """Nothing to even out: the digest takes the same time for every secret."""
