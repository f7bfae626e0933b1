"""A server on a real socket of this machine, and how its requests are read and answered."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class LocalServer:
    """Listens at `address` until it is closed; `over` is set then."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        self.over = threading.Event()
        self._server = _Server(("127.0.0.1", 0), handler)
        self.port = self._server.server_port
        self.address = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore disconnected clients."""


class LocalHandler(BaseHTTPRequestHandler):
    """Answers with JSON or bytes, or with lines of JSON in chunks."""

    disable_nagle_algorithm = True  # head and body are two writes: the second would wait 40 ms for an answer
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: object) -> None:
        """Log nothing."""

    def read_json(self) -> Any:
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def send_json(self, value: object, status: int = 200, **headers: str) -> None:
        self.send_bytes(json.dumps(value).encode(), status, **headers)

    def send_bytes(self, body: bytes, status: int = 200, length: int | None = None, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def begin_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def send_chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()
