"""Servers for git repositories on this machine, over real HTTP and real SSH, and a wire before them that can be cut."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import socket
import subprocess
import threading
from base64 import b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import asyncssh


class HttpServer(ThreadingHTTPServer):
    """`git http-backend` for the repositories in a folder; everybody may push, or whoever has the one login."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Backend)
        self.folder = folder
        self.login = ""  # NAME:PASSWORD that everybody has to have; empty: none


class _Backend(BaseHTTPRequestHandler):
    """One request, handed to git as the protocol CGI says."""

    server: HttpServer

    def do_GET(self) -> None:
        wanted = f"Basic {b64encode(self.server.login.encode()).decode()}"
        if self.server.login and self.headers.get("Authorization") != wanted:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.server.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "http.receivepack",
            "GIT_CONFIG_VALUE_0": "true",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        with subprocess.Popen(
            ["git", "http-backend"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        ) as child:
            assert child.stdin is not None and child.stdout is not None
            with contextlib.suppress(OSError), child.stdin:
                for part in self._body():
                    child.stdin.write(part)
            status, headers = 200, []
            while line := child.stdout.readline().decode("ascii").strip():
                name, _, value = line.partition(": ")
                if name == "Status":
                    status = int(value.split()[0])
                else:
                    headers.append((name, value))
            with contextlib.suppress(OSError):
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.end_headers()
                while part := child.stdout.read1(1 << 16):  # type: ignore[attr-defined]
                    self.wfile.write(part)

    do_POST = do_GET

    def _body(self) -> Iterator[bytes]:
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.rfile.readline().strip() or b"0", 16):
                yield self.rfile.read(size)
                self.rfile.readline()
        else:
            yield self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def http(folder: Path) -> Iterator[HttpServer]:
    """Serve the repositories of a folder: `http://127.0.0.1:PORT/NAME`."""
    server = HttpServer(folder)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextlib.contextmanager
def ssh(folder: Path) -> Iterator[tuple[int, str]]:
    """Serve git over SSH to whoever has the key that is made in `folder`: yields the port, and what GIT_SSH_COMMAND has
    to be for a person with that key."""
    key, host = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
    key.write_private_key(str(folder / "id"))
    (folder / "id").chmod(0o600)

    async def serve(process: asyncssh.SSHServerProcess[bytes]) -> None:
        words = shlex.split(process.command or "")
        if words[:1] not in (["git-upload-pack"], ["git-receive-pack"]):
            process.exit(1)
            return
        pipe = asyncio.subprocess.PIPE
        child = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe, stderr=pipe)
        await process.redirect(child.stdin, child.stdout, child.stderr)  # type: ignore[arg-type]
        process.exit(await child.wait())

    async def listen() -> asyncssh.SSHAcceptor:
        known = asyncssh.import_authorized_keys(key.export_public_key().decode())
        return await asyncssh.listen(
            "127.0.0.1", 0, server_host_keys=[host], authorized_client_keys=known, process_factory=serve, encoding=None
        )

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    listener = asyncio.run_coroutine_threadsafe(listen(), loop).result()
    options = (
        "BatchMode=yes",
        "IdentitiesOnly=yes",
        "StrictHostKeyChecking=no",
        f"UserKnownHostsFile={folder / 'known_hosts'}",
        "LogLevel=ERROR",
    )
    try:
        words = " ".join(f"-o {option}" for option in options)
        yield listener.get_port(), f"ssh -F /dev/null -i {folder / 'id'} {words}"
    finally:

        async def close() -> None:
            listener.close()
            await listener.wait_closed()

        asyncio.run_coroutine_threadsafe(close(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


class Wire:
    """A port before another that passes on what is sent, counts it, and can be cut after so many bytes. `sent` are
    those to the server, `received` those from it; `cut_sent` and `cut_received` where it is cut, None for nowhere.
    `silent`: nothing is answered any more, and nothing is closed."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self.silent = False
        self.reset()
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def reset(self, cut_sent: int | None = None, cut_received: int | None = None) -> None:
        """Count from nothing, and cut there."""
        self.sent = self.received = 0
        self.cut_sent, self.cut_received = cut_sent, cut_received

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)  # a thread that waits there is woken
        self._thread.join(timeout=5)
        self._listening.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self._to))
            except OSError:
                near.close()
                continue
            for source, target, upwards in ((near, far, True), (far, near, False)):
                threading.Thread(target=self._pass, args=(source, target, upwards), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, upwards: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 14):
                if self.silent:
                    continue
                if upwards:
                    left = None if self.cut_sent is None else self.cut_sent - self.sent
                    self.sent += len(data)
                else:
                    left = None if self.cut_received is None else self.cut_received - self.received
                    self.received += len(data)
                if left is not None and left < len(data):
                    target.sendall(data[: max(left, 0)])
                    break
                target.sendall(data)
            else:
                target.shutdown(socket.SHUT_WR)  # the other direction may go on
                return
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def wire(port: int) -> Iterator[Wire]:
    """Put a wire before a port of this machine."""
    found = Wire(port)
    try:
        yield found
    finally:
        found.close()
