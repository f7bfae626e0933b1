"""A server with Ollama's protocol on a real socket, for its own client, with scripted answers.

Fakes `/api/version`, `/api/tags`, `/api/ps`, and `/api/chat` (newline-delimited JSON in chunks, the last line with
`done_reason` and counts; a request without messages loads the model). The protocol is Ollama's, the texts are the
test's, there is no model. `fault` selects a failure that real servers have, of FAULTS, which says what kind each is to
a client; `faults` is one for each call, `rest` is what it waits on until a test ends."""

import json
import threading
from collections.abc import Callable, Sequence
from typing import Any

from support.http_server import LocalHandler, LocalServer

MODEL = "qwen2.5:3b-instruct"
KINDS = {
    "missing": ("not found",),
    "busy": ("busy", "bad gateway"),
    "refused": ("no memory", "moved", "unauthorised"),
    "broken": ("error line", "html", "other shape", "no message", "list", "deep", "endless", "huge"),
    "cut": ("no done", "cut", "reset", "empty", "length"),
    "slow": ("hangs", "hangs midway", "trickles"),
    "long": ("not all read", "too large"),
}
FAULTS = {fault: kind for kind, faults in KINDS.items() for fault in faults}
Say = Callable[[list[dict[str, str]]], str]
Serve = Callable[[Any], Any]  # the fixture of tests/tui


class OllamaServer(LocalServer):
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
        super().__init__(_handler(self))


def _handler(owner: OllamaServer) -> type[LocalHandler]:
    class Handler(LocalHandler):
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
                return self.send_json({"version": "0.12.6"})
            if self.path == "/api/tags":
                owner.lists += 1
                return self.send_json({"models": [self._listed(name) for name in owner.models]})
            if self.path == "/api/ps":
                loaded = [{"model": name, "name": name, "context_length": 4096} for name in owner.loaded]
                return self.send_json({"models": loaded})
            return self.send_json({"error": "not found"}, 404)

        def _listed(self, name: str) -> dict[str, Any]:
            there = {"remote_model": "gpt-oss:120b", "remote_host": "https://ollama.com:443"}
            return {"model": name, "name": name, "size": 1, **(there if name in owner.remote else {})}

        def do_POST(self) -> None:
            asked = self.read_json()
            if owner.deaf:
                return self._rest()
            if asked["model"] not in owner.models:
                return self.send_json({"error": f"model '{asked['model']}' not found"}, 404)
            if not asked["messages"]:
                owner.loads += 1
                owner.begun.set()
                if owner.load_hangs:
                    return self._rest()
                if owner.load_fails:
                    return self.send_json({"error": "llama runner process has terminated"}, 500)
                owner.loaded.add(asked["model"])
                return self.send_json(self._line("", "load"))
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
                self.send_json({"error": said}, status, Location="http://127.0.0.1:1/elsewhere")
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
                self.send_bytes(bodies[fault])
            return fault in bodies

        def _stream(self, asked: dict[str, Any], fault: str) -> bool:
            said = owner.say(asked["messages"])
            self.begin_stream()
            middle = max(1, len(said) // 2)
            for number, piece in enumerate((said[:middle], said[middle:])):
                line = self._line(piece)
                if asked.get("logprobs") and owner.likely:
                    tops = [{"token": word, "logprob": value} for word, value in owner.likely.items()]
                    line["logprobs"] = [{**tops[0], "top_logprobs": tops}]
                self.send_chunk(json.dumps(line).encode() + b"\n")
                owner.begun.set()
                if number == 0 and self._breaks(fault):
                    return True
            if fault != "no done":
                last = self._line("", "length" if fault == "length" else "stop")
                last |= {"prompt_eval_count": 4_090 if fault == "not all read" else 40, "eval_count": 9}
                self.send_chunk(json.dumps(last).encode() + b"\n")
            self.send_chunk(b"")
            return True

        def _breaks(self, fault: str) -> bool:
            if fault == "error line":
                self.send_chunk(b'{"error": "an error was encountered while running the model"}\n')
                self.send_chunk(b"")
            elif fault == "cut":
                self.close_connection = True
                self.connection.close()
            elif fault == "hangs midway":
                self._rest()
            elif fault == "trickles":
                while not owner.over.wait(0.02):
                    self.send_chunk(b" ")
            elif fault == "endless":
                while not owner.over.wait(0.0005):
                    self.send_chunk(json.dumps(self._line("and so on " * 9)).encode() + b"\n")
            elif fault == "huge":
                while not owner.over.is_set():
                    self.send_chunk(b"x" * 65_536)
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
            line: dict[str, Any] = {"model": MODEL, "created_at": "2026-11-21T12:00:00Z", "done": bool(reason)}
            line["message"] = {"role": "assistant", "content": text}
            return {**line, "done_reason": reason} if reason else line

    return Handler
