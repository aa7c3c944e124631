"""What goes wrong in the tools: one sentence for the person at the terminal."""


class Trouble(Exception):
    """One plain sentence; `./dev` prints it and exits 1."""
