"""Checks of the commits: the form of their subjects, and a minimum of coverage that only rises.

    python -m devtools.history subjects          check the subjects of all commits after the base
    python -m devtools.history floor             compare the minimum of coverage with the highest one in the history
    python -m devtools.history message FILE      check the message of a new commit (hook commit-msg)

Without git, or in a shallow clone, only the commits that are there are checked. Standard library only.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from .places import ROOT

SUBJECT_LENGTH = 72
# The last commit whose subject is not checked.
_BASE = "8b8e80b92041d8ca7ad310ff45405a8fc6323b16"
_SUBJECT = re.compile(r"[a-z][a-z0-9_./-]*(, [a-z0-9_./-]+)*: [A-Z].*\.")
_EXEMPT = re.compile(r"Merge |(fixup|squash|amend)! ")  # fixups are squashed before a merge
_SETTINGS = "pyproject.toml"


def subject_fault(subject: str) -> str:
    """Return what is wrong with the subject of a commit; empty if nothing is."""
    if len(subject) > SUBJECT_LENGTH:
        return f"{len(subject)} characters, at most {SUBJECT_LENGTH} are allowed"
    return "" if _SUBJECT.fullmatch(subject) else 'not of the form "area: Sentence in the imperative."'


def floor_of(settings: str) -> float:
    """Return the minimum of coverage that a `pyproject.toml` sets; 0 if it sets none."""
    try:
        tools = tomllib.loads(settings).get("tool", {})
    except tomllib.TOMLDecodeError:  # an earlier commit may contain a broken file
        return 0
    return float(tools.get("coverage", {}).get("report", {}).get("fail_under", 0))


def subject_faults(folder: Path = ROOT, base: str = _BASE) -> Iterator[str]:
    """Describe each commit after the base, except merges, whose subject does not have the form."""
    since = [f"^{base}"] if _git(folder, "cat-file", "-e", f"{base}^{{commit}}") is not None else []
    log = _git(folder, "log", "--no-merges", "--format=%h %s", "HEAD", *since) or ""
    for line in log.splitlines():
        commit, _, subject = line.partition(" ")
        if not subject.startswith("Merge ") and (fault := subject_fault(subject)):
            yield f"{commit} {subject}\n    {fault}"


def floor_faults(folder: Path = ROOT) -> Iterator[str]:
    """Describe the first commit found in which the minimum was higher than it is now."""
    now = floor_of((folder / _SETTINGS).read_text())
    commits = (_git(folder, "log", "--format=%H", "-G", "fail_under", "HEAD", "--", _SETTINGS) or "").split()
    for commit in commits:
        earlier = floor_of(_git(folder, "show", f"{commit}:{_SETTINGS}") or "")
        if earlier > now:
            yield f"fail_under is {now:g}; it was {earlier:g} in {commit[:10]}. Test what is not covered instead."
            return


def message_faults(message: str) -> Iterator[str]:
    """Describe what is wrong with the message of a new commit."""
    lines = [line for line in message.splitlines() if not line.startswith("#")]
    subject = next((line for line in lines if line.strip()), "")
    if not _EXEMPT.match(subject) and (fault := subject_fault(subject)):
        yield f"{subject}\n    {fault}"


def main(arguments: Sequence[str]) -> int:
    """Run one of the checks, print its faults, and return 1 if there are any."""
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
    """Return the output of git; None if there is no git, no repository, or no such object."""
    try:
        ended = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return None if ended.returncode else ended.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
