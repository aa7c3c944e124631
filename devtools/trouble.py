"""The expected errors of the tools."""


class Trouble(Exception):
    """An expected error; its message is one sentence, which `./dev` prints before it exits with 1."""
