"""Commit subjects and the floor of coverage, judged in repositories of the tests' own."""

import subprocess
import sys
from pathlib import Path

import pytest

from devtools import history
from devtools.places import ROOT

AUTHOR = ("-c", "user.name=Author", "-c", "user.email=author@example.org", "-c", "commit.gpgsign=false")


def git(folder: Path, *arguments: str) -> str:
    command = ["git", *AUTHOR, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def commit(folder: Path, subject: str, *, floor: float | None = None) -> str:
    if floor is not None:
        (folder / "pyproject.toml").write_text(f"[tool.coverage.report]\nfail_under = {floor}\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", subject)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    return folder


@pytest.mark.parametrize(
    ("subject", "good"),
    [
        ("core: Take currencies and their exponents from a kept table.", True),
        ("fhir, webhooks: Name what they share.", True),
        ("api: " + "A" * 66 + ".", True),
        ("api: " + "A" * 67 + ".", False),
        ("core: take currencies from a table.", False),
        ("core: Take currencies from a table", False),
        ("Take currencies from a table.", False),
        ("Core: Take currencies from a table.", False),
        ("", False),
    ],
)
def test_subject_has_its_form_and_length(subject: str, good: bool) -> None:
    assert (history.subject_fault(subject) == "") is good


def test_only_commits_after_the_base_are_judged(repository: Path) -> None:
    base = commit(repository, "whatever it was before")
    assert list(history.subject_faults(repository, base)) == []

    commit(repository, "core: Do one thing.")
    wrong = commit(repository, "did another thing")
    [fault] = history.subject_faults(repository, base)
    assert fault.startswith(f"{wrong[:7]} did another thing\n")


def test_merges_are_not_judged(repository: Path) -> None:
    base = commit(repository, "core: Begin.")
    git(repository, "switch", "-q", "-c", "side")
    commit(repository, "core: Do one thing.")
    git(repository, "switch", "-q", "main")
    commit(repository, "core: Do another thing.")
    git(
        repository,
        "merge",
        "-q",
        "--no-ff",
        "side",
        "-m",
        "Merge branch 'side', whose name is as long as a branch's name can be",
    )

    assert list(history.subject_faults(repository, base)) == []


def test_shallow_clone_is_judged_by_the_commits_it_has(repository: Path, tmp_path: Path) -> None:
    base = commit(repository, "whatever it was before", floor=80)
    commit(repository, "core: Do one thing.")
    commit(repository, "core: Do another thing.")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repository}", "shallow")

    assert list(history.subject_faults(tmp_path / "shallow", base)) == []
    assert list(history.floor_faults(tmp_path / "shallow")) == []


def test_folder_without_history_has_no_faults(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.coverage.report]\nfail_under = 80\n")

    assert list(history.subject_faults(tmp_path)) == []
    assert list(history.floor_faults(tmp_path)) == []


def test_floor_may_rise_and_never_fall(repository: Path) -> None:
    for floor in (80, 85):
        commit(repository, "tests: Raise the floor.", floor=floor)
        assert list(history.floor_faults(repository)) == []

    commit(repository, "tests: Say nothing of coverage.", floor=84)
    [fault] = history.floor_faults(repository)
    assert "fail_under is 84; it was 85" in fault


def test_floor_that_is_taken_away_has_fallen(repository: Path) -> None:
    commit(repository, "tests: Set the floor.", floor=80)
    (repository / "pyproject.toml").write_text("[tool.other]\n")

    [fault] = history.floor_faults(repository)
    assert "fail_under is 0; it was 80" in fault


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("core: Do one thing.\n\nBecause.\n# comment\n", 0),
        ("# comment\n\ncore: Do one thing.\n", 0),
        ("Merge branch 'side'\n", 0),
        ("fixup! core: Do one thing.\n", 0),
        ("did one thing\n", 1),
        ("", 1),
    ],
)
def test_hook_judges_the_message_of_a_new_commit(tmp_path: Path, message: str, code: int) -> None:
    file = tmp_path / "COMMIT_EDITMSG"
    file.write_text(message)

    command = [sys.executable, "-m", "devtools.history", "message", str(file)]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == code


def test_floor_is_set() -> None:
    assert history.floor_of((ROOT / "pyproject.toml").read_text()) > 80
