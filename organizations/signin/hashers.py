"""The hasher of people's passwords."""

from django.contrib.auth.hashers import Argon2PasswordHasher


class PersonPasswordHasher(Argon2PasswordHasher):
    """Argon2id with 19 MiB, two passes and one lane. Source: OWASP Password Storage Cheat Sheet.

    With Django's default of 100 MiB on eight lanes, a few dozen simultaneous sign-ins would exhaust the memory.
    """

    memory_cost = 19_456
    time_cost = 2
    parallelism = 1
