"""A model server on a real socket, for what the set-up requests from Ollama.

Fakes `/api/version`, `/api/tags`, `/api/ps`, `/api/pull` and `/api/chat` in Ollama's protocol, for its real client:
names and sizes, pulls line by line whose layers are kept and resumed after the client disconnects, errors in the middle
of a stream, a model that must be loaded first. There is no model behind it, and nothing is downloaded. `fault` selects
a failure that real servers have; `hold` suspends a pull, or an answer, until it is set."""

import json
import threading
from typing import Any

from support.http_server import LocalHandler, LocalServer

LAYERS = (("sha256:5ee4f07cdb9b", 1_929_903_264), ("sha256:66b9ea09bd5b", 68))
COUNTS = {"eval_count": 24, "eval_duration": 800_000_000}
FAULTS = "hangs trickles html cut empty shape busy error".split()


class ModelServer(LocalServer):
    """Listens at `address`; `installed` are its models by name, `loaded` those in memory; `pulled` the bytes it has of
    each layer, `step` the size of a chunk; `breaks` an error in the middle of a pull; `paths` the requests; `left` is
    set when a client disconnected during a pull."""

    def __init__(self) -> None:
        self.installed: dict[str, int] = {}
        self.loaded: set[str] = set()
        self.pulled: dict[str, int] = {}
        self.step = 200_000_000
        self.fault = ""
        self.breaks = ""
        self.says = "Nothing is lost."
        self.load_seconds = 2.5
        self.paths: list[str] = []
        self.asked: list[dict[str, Any]] = []
        self.hold = threading.Event()
        self.hold.set()
        self.held = threading.Event()  # set when a request waits for `hold`
        self.left = threading.Event()
        super().__init__(_handler(self))

    @property
    def models(self) -> list[dict[str, Any]]:
        details = {"family": "qwen2", "format": "gguf", "parameter_size": "3.1B", "quantization_level": "Q4_K_M"}
        known = {"digest": "d1ce57" * 10, "details": details}
        return [{"name": name, "model": name, "size": size, **known} for name, size in self.installed.items()]

    def close(self) -> None:
        self.hold.set()
        super().close()


def _handler(owner: ModelServer) -> type[LocalHandler]:
    class Handler(LocalHandler):
        def do_GET(self) -> None:
            owner.paths.append(self.path)
            if owner.fault and self._fails():
                return
            loaded = [{**model, "context_length": 4096} for model in owner.models if model["name"] in owner.loaded]
            answers: dict[str, Any] = {
                "/api/version": {"version": "0.12.6"},
                "/api/tags": {"models": owner.models},
                "/api/ps": {"models": loaded},
            }
            if self.path in answers:
                self.send_json(answers[self.path])
            else:
                self.send_bytes(b"404 page not found", 404)

        def do_POST(self) -> None:
            asked = self.read_json()
            owner.paths.append(self.path)
            owner.asked.append(asked)
            if owner.fault and self._fails():
                return
            self._pull(asked["model"]) if self.path == "/api/pull" else self._chat(asked)

        # answers

        def _pull(self, name: str) -> None:
            self.begin_stream()
            try:
                self._line(status="pulling manifest")
                if owner.breaks:
                    self._line(error=owner.breaks)
                    return self.send_chunk(b"")
                for digest, total in LAYERS:
                    while True:
                        done = owner.pulled.get(digest, 0)
                        self._line(status=f"pulling {digest[7:]}", digest=digest, total=total, completed=done)
                        if done >= total:
                            break
                        if not owner.hold.is_set():
                            owner.held.set()
                            self._wait()
                        owner.pulled[digest] = min(total, done + owner.step)
                owner.installed[name] = sum(total for _, total in LAYERS)
                for status in ("verifying sha256 digest", "writing manifest", "success"):
                    if status == "success" and owner.fault != "":
                        break
                    self._line(status=status)
                self.send_chunk(b"")
            except OSError:
                owner.left.set()

        def _wait(self) -> None:
            """Wait until `hold` is set, or the client disconnects."""
            self.connection.settimeout(0.02)
            while not owner.hold.is_set():
                try:
                    if not self.connection.recv(1):
                        raise OSError("left")
                except TimeoutError:
                    continue
            self.connection.settimeout(None)

        def _chat(self, asked: dict[str, Any]) -> None:
            name = asked["model"]
            if name not in owner.installed:
                return self.send_json({"error": f"model '{name}' not found"}, 404)
            if not owner.hold.is_set():
                owner.held.set()
                try:
                    self._wait()
                except OSError:
                    return owner.left.set()
            loading = 0 if name in owner.loaded else owner.load_seconds
            owner.loaded.add(name)
            self.begin_stream()
            for word in owner.says.split():
                self._line(model=name, message={"role": "assistant", "content": f"{word} "}, done=False)
            last = {"model": name, "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
            took = {"prompt_eval_count": 20, "total_duration": 10**9, "load_duration": int(loading * 10**9)}
            self._line(**last, **{**took, **COUNTS})
            return self.send_chunk(b"")

        # protocol

        def _line(self, **fields: object) -> None:
            self.send_chunk(json.dumps(fields).encode() + b"\n")

        def _fails(self) -> bool:
            match owner.fault:
                case "hangs":
                    owner.over.wait(20)
                    self.close_connection = True
                case "trickles":
                    self.send_bytes(b"", length=100_000)
                    self._trickle()
                case "html":
                    self.send_bytes(b"<html><body>It works!</body></html>")
                case "cut":
                    self.send_bytes(b'{"version": "0.1', length=5_000)
                    self.close_connection = True
                case "empty":
                    self.send_bytes(b"")
                case "shape":
                    self.send_bytes(b'{"version": 3, "models": {"a": 1}}')
                case "busy":
                    self.send_json({"error": "server busy, please try again.  maximum pending requests exceeded"}, 503)
                case "error":
                    self.send_bytes(b'{"error": "something went wrong"}', 500)
                case _:
                    return False
            return True

        def _trickle(self) -> None:
            try:
                while not owner.over.wait(0.05):
                    self.wfile.write(b" ")
            except OSError:
                pass
            self.close_connection = True

    return Handler
