"""How people's passwords are stored."""

from django.contrib.auth.hashers import Argon2PasswordHasher


class PersonPasswordHasher(Argon2PasswordHasher):
    """Argon2id with 19 MiB, two passes and one lane. Source: OWASP Password Storage Cheat Sheet.

    Django's own 100 MiB on eight lanes would let a few dozen sign-ins at once take the memory of the whole service.
    """

    memory_cost = 19_456
    time_cost = 2
    parallelism = 1
