"""What the comparison of the live database with the declarations reports."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """One difference between the database and the declarations: the table or role, and what is wrong with it."""

    where: str
    what: str

    def as_json(self) -> dict[str, str]:
        """Return the fault as a JSON object."""
        return asdict(self)
