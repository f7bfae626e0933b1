"""A server with Ollama's protocol on a real socket, for its own client, with scripted answers.

Fakes `/api/version`, `/api/tags`, `/api/ps`, and `/api/chat` (newline-delimited JSON in chunks, the last line with
`done_reason` and counts; a request without messages loads the model). The protocol is Ollama's, the texts are the
test's, there is no model. `fault` selects a failure that real servers have, `faults` one for each call; `rest` is what
it waits on until a test ends."""

import json
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "qwen2.5:3b-instruct"
FAULTS = (
    *("not found", "busy", "bad gateway", "no memory", "moved", "error line", "no done", "cut", "reset", "empty"),
    *(
        "html",
        "other shape",
        "no message",
        "list",
        "deep",
        "hangs",
        "hangs midway",
        "trickles",
        "endless",
        "huge",
        "length",
    ),
    "not all read",
    "unauthorised",
    "too large",
)
Say = Callable[[list[dict[str, str]]], str]


class OllamaServer:
    """Listens at `address`; `asked` are the bodies of the chats received; `loads` counts model loads; `left` is set
    when a client cancels an answer; `remote` are those of its `models` that run elsewhere. `likely` are
    log-probabilities of first tokens, returned on request; without any it acts as an old server that returns none."""

    def __init__(self, say: Say | str = "{}") -> None:
        self.say: Say = (lambda _: say) if isinstance(say, str) else say
        self.asked: list[dict[str, Any]] = []
        self.fault = ""
        self.faults: list[str] = []
        self.models: Sequence[str] = [MODEL]
        self.remote: set[str] = set()
        self.likely: dict[str, float] = {}
        self.loaded: set[str] = {MODEL}
        self.loads = 0
        self.load_hangs = False
        self.load_fails = False
        self.slow_lists = 0.0  # duration of each list
        self.deaf = False  # ignores every request
        self.lists = 0
        self.begun = threading.Event()
        self.left = threading.Event()
        self.over = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()


def _handler(owner: OllamaServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        disable_nagle_algorithm = True  # head and body are two writes: the second would wait 40 ms for an answer
        protocol_version = "HTTP/1.1"

        def log_message(self, *arguments: object) -> None:
            """Log nothing."""

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:
                owner.left.set()

        def do_GET(self) -> None:
            if owner.deaf:
                return self._rest()
            owner.over.wait(owner.slow_lists)
            if self.path == "/api/version":
                return self._json({"version": "0.12.6"})
            if self.path == "/api/tags":
                owner.lists += 1
                return self._json({"models": [self._listed(name) for name in owner.models]})
            if self.path == "/api/ps":
                return self._json(
                    {"models": [{"model": name, "name": name, "context_length": 4096} for name in owner.loaded]}
                )
            return self._json({"error": "not found"}, 404)

        def _listed(self, name: str) -> dict[str, Any]:
            there = {"remote_model": "gpt-oss:120b", "remote_host": "https://ollama.com:443"}
            return {"model": name, "name": name, "size": 1, **(there if name in owner.remote else {})}

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if owner.deaf:
                return self._rest()
            if asked["model"] not in owner.models:
                return self._json({"error": f"model '{asked['model']}' not found"}, 404)
            if not asked["messages"]:
                owner.loads += 1
                owner.begun.set()
                if owner.load_hangs:
                    return self._rest()
                if owner.load_fails:
                    return self._json({"error": "llama runner process has terminated"}, 500)
                owner.loaded.add(asked["model"])
                return self._json(self._line("", "load"))
            owner.asked.append(asked)
            fault = owner.faults.pop(0) if owner.faults else owner.fault
            return self._status(fault) or self._body(fault) or self._stream(asked, fault)

        def _status(self, fault: str) -> bool:
            status, said = {
                "not found": (404, "model 'x' not found"),
                "busy": (503, "server busy, please try again.  maximum pending requests exceeded"),
                "bad gateway": (502, "bad gateway"),
                "no memory": (500, "model requires more system memory (5.5 GiB) than is available (2.0 GiB)"),
                "moved": (307, "elsewhere"),
                "unauthorised": (401, "unauthorized"),
                "too large": (413, "request body too large"),
            }.get(fault, (0, ""))
            if status:
                self._json({"error": said}, status, {"Location": "http://127.0.0.1:1/elsewhere"})
            return bool(status)

        def _body(self, fault: str) -> bool:
            bodies = {
                "empty": b"",
                "html": b"<html><body>It works!</body></html>",
                "other shape": b'{"result": {"text": "hi"}}\n',
                "no message": b'{"model": "x", "done": true}\n',
                "list": b"[1, 2]\n",
                "deep": b"[" * 200_000 + b"\n",
            }
            if fault == "reset":
                self.close_connection = True
                self.connection.close()
                return True
            if fault == "hangs":
                owner.begun.set()
                self._rest()
                return True
            if fault in bodies:
                self._bytes(bodies[fault])
            return fault in bodies

        def _stream(self, asked: dict[str, Any], fault: str) -> bool:
            said = owner.say(asked["messages"])
            self.send_response(200)
            self.send_header("Content-Type", "application/x-ndjson")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            middle = max(1, len(said) // 2)
            for number, piece in enumerate((said[:middle], said[middle:])):
                line = self._line(piece)
                if asked.get("logprobs") and owner.likely:
                    tops = [{"token": word, "logprob": value} for word, value in owner.likely.items()]
                    line["logprobs"] = [{**tops[0], "top_logprobs": tops}]
                self._chunk(json.dumps(line).encode() + b"\n")
                owner.begun.set()
                if number == 0 and self._breaks(fault):
                    return True
            if fault != "no done":
                last = self._line("", "length" if fault == "length" else "stop")
                last |= {"prompt_eval_count": 4_090 if fault == "not all read" else 40, "eval_count": 9}
                self._chunk(json.dumps(last).encode() + b"\n")
            self._chunk(b"")
            return True

        def _breaks(self, fault: str) -> bool:
            if fault == "error line":
                self._chunk(b'{"error": "an error was encountered while running the model"}\n')
                self._chunk(b"")
            elif fault == "cut":
                self.close_connection = True
                self.connection.close()
            elif fault == "hangs midway":
                self._rest()
            elif fault == "trickles":
                while not owner.over.wait(0.02):
                    self._chunk(b" ")
            elif fault == "endless":
                while not owner.over.wait(0.0005):
                    self._chunk(json.dumps(self._line("and so on " * 9)).encode() + b"\n")
            elif fault == "huge":
                while not owner.over.is_set():
                    self._chunk(b"x" * 65_536)
            else:
                return False
            return True

        def _rest(self) -> None:
            """Answer nothing until the client disconnects, or the test ends."""
            self.connection.settimeout(0.02)
            while not owner.over.is_set():
                try:
                    if not self.connection.recv(1):
                        break
                except TimeoutError:
                    continue
                except OSError:
                    break
            owner.left.set()
            self.close_connection = True

        def _line(self, text: str, reason: str = "") -> dict[str, Any]:
            line: dict[str, Any] = {
                "model": MODEL,
                "created_at": "2026-11-21T12:00:00Z",
                "message": {"role": "assistant", "content": text},
                "done": bool(reason),
            }
            return {**line, "done_reason": reason} if reason else line

        def _chunk(self, data: bytes) -> None:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()

        def _json(self, value: object, status: int = 200, headers: dict[str, str] | None = None) -> None:
            self._bytes(json.dumps(value).encode(), status, headers)

        def _bytes(self, body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler
