"""`./dev up --reload`: which changes start the service again, and what a broken one does."""

import os
import sys

from devtools import patience, sources, supervisor


def test_changed_added_and_removed_code_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "_EVERY_SECONDS", 0)
    package = tmp_path / "suppliers"
    for name in ("views.py", "old.py", "notes.txt"):
        package.mkdir(exist_ok=True)
        (package / name).write_text("1")
    (tmp_path / "tests").mkdir()
    found = sources.Sources(tmp_path)
    assert found.changed() == []
    os.utime(package / "views.py", ns=(1, 1))
    (package / "old.py").unlink()
    (package / "new.py").write_text("1")
    (package / "notes.txt").write_text("2")
    (tmp_path / "tests" / "test_it.py").write_text("1")
    assert found.changed() == ["suppliers/new.py", "suppliers/old.py", "suppliers/views.py"]
    assert found.changed() == []


def test_part_broken_by_a_change_waits_for_the_next_one(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(patience, "_LONGEST_PAUSE_SECONDS", 0.02)
    code = tmp_path / "part.py"
    code.write_text("raise SystemExit('half a line')")
    keeping = supervisor.Supervisor(
        logs=tmp_path, run_file=tmp_path / "run.json", environment=dict(os.environ), gives_up=False
    )
    keeping.add("part", [sys.executable, str(code)])
    seen = []
    keeping.run(until=lambda: seen.append(capsys.readouterr().err) or "waiting for a change" in seen[-1])
    code.write_text("import time; time.sleep(60)")
    keeping.restart()
    try:
        assert keeping.parts[0].process.poll() is None
    finally:
        keeping.stop()
