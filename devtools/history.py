"""Rules over the commits: the form of their subjects, and a floor of coverage that only rises.

    python -m devtools.history subjects          every commit after the first that is held to the form
    python -m devtools.history floor             the floor against the highest one of the history
    python -m devtools.history message FILE      the message of a commit that is being made (hook commit-msg)

A checkout without git, or a shallow one, is judged by the commits it has. Standard library only.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from .places import ROOT

SUBJECT_LENGTH = 72
# The last commit before subjects were held to their form.
_BASE = "8b8e80b92041d8ca7ad310ff45405a8fc6323b16"
_SUBJECT = re.compile(r"[a-z][a-z0-9_./-]*(, [a-z0-9_./-]+)*: [A-Z].*\.")
_EXEMPT = re.compile(r"Merge |(fixup|squash|amend)! ")  # the latter are folded into others before they are merged
_SETTINGS = "pyproject.toml"


def subject_fault(subject: str) -> str:
    """Return what is wrong with the subject of a commit; empty when nothing is."""
    if len(subject) > SUBJECT_LENGTH:
        return f"{len(subject)} characters, at most {SUBJECT_LENGTH} are allowed"
    return "" if _SUBJECT.fullmatch(subject) else 'not of the form "area: Sentence in the imperative."'


def floor_of(settings: str) -> float:
    """Return the floor of coverage that a `pyproject.toml` sets; 0 when it sets none."""
    try:
        tools = tomllib.loads(settings).get("tool", {})
    except tomllib.TOMLDecodeError:  # a commit in the middle of a merge may have been broken
        return 0
    return float(tools.get("coverage", {}).get("report", {}).get("fail_under", 0))


def subject_faults(folder: Path = ROOT, base: str = _BASE) -> Iterator[str]:
    """Describe each commit after the base, merges aside, whose subject is not of the form."""
    since = [f"^{base}"] if _git(folder, "cat-file", "-e", f"{base}^{{commit}}") is not None else []
    log = _git(folder, "log", "--no-merges", "--format=%h %s", "HEAD", *since) or ""
    for line in log.splitlines():
        commit, _, subject = line.partition(" ")
        if not subject.startswith("Merge ") and (fault := subject_fault(subject)):
            yield f"{commit} {subject}\n    {fault}"


def floor_faults(folder: Path = ROOT) -> Iterator[str]:
    """Say that the floor is lower than in an earlier commit, whichever that was."""
    now = floor_of((folder / _SETTINGS).read_text())
    commits = (_git(folder, "log", "--format=%H", "-G", "fail_under", "HEAD", "--", _SETTINGS) or "").split()
    for commit in commits:
        earlier = floor_of(_git(folder, "show", f"{commit}:{_SETTINGS}") or "")
        if earlier > now:
            yield f"fail_under is {now:g}; it was {earlier:g} in {commit[:10]}. Test what is not covered instead."
            return


def message_faults(message: str) -> Iterator[str]:
    """Describe what is wrong with the message of a commit that is being made."""
    lines = [line for line in message.splitlines() if not line.startswith("#")]
    subject = next((line for line in lines if line.strip()), "")
    if not _EXEMPT.match(subject) and (fault := subject_fault(subject)):
        yield f"{subject}\n    {fault}"


def main(arguments: Sequence[str]) -> int:
    """Print the faults that one of the rules finds and return 1 if there are any."""
    match arguments:
        case ["subjects"]:
            faults = list(subject_faults())
        case ["floor"]:
            faults = list(floor_faults())
        case ["message", file]:
            faults = list(message_faults(Path(file).read_text()))
        case _:
            print(__doc__)
            return 2
    print("\n".join(faults))
    return 1 if faults else 0


def _git(folder: Path, *arguments: str) -> str | None:
    """Return what git prints; None where there is no git, no repository, or no such object."""
    try:
        ended = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return None if ended.returncode else ended.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
