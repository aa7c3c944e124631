"""The published rules of Peppol BIS 3: schema, EN 16931 and the profile's own.

They run where PHIVE_CLASSPATH names the jars of phive-rules-peppol and its dependencies, separated as a class path.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest


def findings(*arguments: str) -> list[str]:
    """Validate pairs of artifact and file; return what the rules say against them."""
    java, jars = shutil.which("java"), os.environ.get("PHIVE_CLASSPATH")
    if not java or not jars:
        pytest.skip("PHIVE_CLASSPATH names no jars of phive-rules-peppol, or there is no JVM")
    program = Path(__file__).with_name("Validate.java")
    done = subprocess.run(  # nosec B603 - our own program
        [java, "-cp", jars, str(program), *arguments], capture_output=True, text=True, check=True, timeout=300
    )
    lines = [line for line in done.stdout.splitlines() if line.split(" ")[0] in arguments]
    assert sum(" done " in line for line in lines) == len(arguments) // 2, done.stdout
    return [line for line in lines if " done " not in line and "net.sf.saxon" not in line]
