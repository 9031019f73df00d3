"""One Spark for all tests: it takes long to start, so whoever needs it takes part in this one.

Tests that ask for the ``spark`` fixture run in one process (see ``tests/conftest.py``).
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MASTER = "local[2]"
OLDEST_JAVA = 17
PACKAGE = "openjdk-17-jre-headless"


@pytest.fixture(scope="session")
def spark() -> Iterator[str]:
    """The master of a Spark that is running in this process."""
    from pyspark.sql import SparkSession

    require_java()
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    folder = tempfile.mkdtemp(prefix="spark-", dir="/tmp")
    running = (
        SparkSession.builder.master(MASTER)
        .config("spark.app.name", "discreet tests")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "2g")
        .config("spark.default.parallelism", "2")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.ansi.enabled", "true")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", f"{folder}/warehouse")
        .config("spark.local.dir", f"{folder}/scratch")
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )
    yield MASTER
    running.stop()
    shutil.rmtree(folder, ignore_errors=True)


def require_java() -> None:
    """Have a Java that Spark runs on: the machine's own, or else its packages'."""
    if java_version() >= OLDEST_JAVA:
        return
    if os.geteuid() == 0 and shutil.which("apt-get"):
        for words in (["update"], ["install", "-y", PACKAGE]):
            subprocess.run(["apt-get", *words], capture_output=True, check=False)
    found = java_version()
    if found < OLDEST_JAVA:
        pytest.fail(
            f"Spark needs Java {OLDEST_JAVA} or later, and "
            + (f"the one that is found is Java {found}." if found else "no Java is found.")
            + f"\n\nHint: on Debian or Ubuntu, apt install {PACKAGE}; elsewhere set JAVA_HOME."
        )


def java_version() -> int:
    """The Java that Spark would start: 17 for 17.0.15, 8 for 1.8; 0 where there is none."""
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if program is None or not Path(program).exists():
        return 0
    said = subprocess.run([program, "-version"], capture_output=True, text=True, check=False)
    version = re.search(r'version "(?:1\.)?(\d+)', said.stderr)
    return int(version[1]) if version else 0
