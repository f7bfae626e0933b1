"""Ollama's HTTP API over an engine that packages carry, for tests: what a true Ollama says where a client looks at it,
with faults on demand. What it does not do: tools, pictures, thinking, making models; a pull moves no bytes, it only
counts them.

`POST /fault {"kind", "path", "after", "times", "seconds"}` spoils the next `times` requests to `path` (KINDS says how;
`after` so many lines of a stream); `DELETE /fault` takes back what is not yet used. A true Ollama has no such path.
"""

from __future__ import annotations

import json
import os
import select
import socket
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from .engine import Refused, TooLong, unit
from .faults import BODIES, KINDS, Fault, Gone, Said
from .shelf import Failure, Shelf, details, logprobs, ps, seconds, stamp, tagged, tags, version

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .engine import Counted, Engine, Piece

PULLED = 1 << 24  # bytes of one line of a pull
ARRIVES = 0.05  # seconds that what was said before a cut has to arrive


class Wire(ThreadingHTTPServer):
    """The server; `address` is what OLLAMA_HOST is to say."""

    daemon_threads = True

    def __init__(self, shelf: Shelf, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Talk)
        self.shelf = shelf
        self.faults: list[Fault] = []
        self.stopped = threading.Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def fault(self, path: str) -> Fault | None:
        """What is to go wrong with a request to `path` now."""
        for place, one in enumerate(self.faults):
            if one.path == path:
                self.faults[place : place + 1] = [one._replace(times=one.times - 1)] if one.times > 1 else []
                return one
        return None

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: a client that goes away is what is tested."""


class Talk(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: Wire
    spoiled: Fault | None = None

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""

    def do_HEAD(self) -> None:
        self._get()

    def do_GET(self) -> None:
        self._get()

    def do_DELETE(self) -> None:
        self.server.faults.clear()
        self._json({})

    def _get(self) -> None:
        def answer() -> None:
            if self.path == "/":
                self._whole(200, b"Ollama is running", "text/plain; charset=utf-8")
            elif asked := {"/api/version": version, "/api/tags": tags, "/api/ps": ps}.get(self.path):
                self._json(asked(self.server.shelf))
            else:
                self._whole(404, b"404 page not found", "text/plain")

        self._answer(answer)

    def do_POST(self) -> None:
        said = self.rfile.read(int(self.headers.get("Content-Length") or 0))

        def answer() -> None:
            if not said:
                raise Failure(400, "missing request body")
            try:
                request = json.loads(said)
            except ValueError:
                raise Failure(400, "invalid character in the request body") from None
            if self.path == "/fault":
                self._arm(request)
            elif self.path in POSTED:
                POSTED[self.path](self, request)
            else:
                self._whole(404, b"404 page not found", "text/plain")

        self._answer(answer)

    def _arm(self, asked: dict[str, Any]) -> None:
        fault = Fault(**asked)
        if fault.kind not in KINDS:
            raise Failure(400, f"there is no fault {fault.kind!r}; choose among {', '.join(KINDS)}")
        self.server.faults.append(fault)
        self._json({"kind": fault.kind})

    def _answer(self, answer: Callable[[], None]) -> None:
        """What every answer has in common: its faults, its errors, and the end of a connection."""
        self.began, self.lines = False, 0
        self.spoiled = self.server.fault(self.path)
        try:
            if self.spoiled:
                self._spoil(self.spoiled)
            answer()
        except Failure as failure:
            self._failed(failure.status, str(failure))
        except Refused as refused:
            self._failed(500, str(refused))
        except TooLong:
            self._failed(400, "the input length exceeds the context length")
        except Said:
            pass
        except (Gone, OSError):
            self.close_connection = True

    def _failed(self, status: int, error: str) -> None:
        if self.began:
            self._line({"error": error})
            self._end()
        else:
            self._json({"error": error}, status)

    def _spoil(self, fault: Fault) -> None:
        """What goes wrong before anything is said."""
        kind = fault.kind
        if kind == "missing":
            raise Failure(404, "model 'm' not found")
        if kind == "busy":
            raise Failure(503, "server busy, please try again.  maximum pending requests exceeded")
        if kind in BODIES:
            self._whole(*BODIES[kind])
            raise Said
        if kind == "slow":
            self._wait(fault.seconds)
        if kind in ("cut", "hang") and not fault.after:
            self._break(fault)

    def _break(self, fault: Fault) -> None:
        """Hang, then or at once end the connection; `cut` as when a cable is pulled, not as at an end."""
        if fault.kind == "hang":
            self._wait(fault.seconds)
        else:
            time.sleep(ARRIVES)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            os.close(self.connection.detach())  # the streams over it would keep it open
        raise Gone

    def _wait(self, duration: float) -> None:
        """Wait so long, or until the client has gone or the server stops."""
        until = time.monotonic() + duration
        while time.monotonic() < until:
            if self.gone() or self.server.stopped.wait(min(0.05, duration)):
                raise Gone

    def gone(self) -> bool:
        """Whether the client has closed the connection."""
        try:
            waiting = select.poll()  # not `select`, which knows no descriptor above 1,023
            waiting.register(self.connection, select.POLLIN)
            return bool(waiting.poll(0)) and not self.connection.recv(1, socket.MSG_PEEK)
        except (OSError, ValueError):
            return True

    # what is said

    def _whole(self, status: int, body: bytes, form: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", form)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _json(self, content: dict[str, Any], status: int = 200) -> None:
        self._whole(status, json.dumps(content, ensure_ascii=False).encode(), "application/json; charset=utf-8")

    def _line(self, content: dict[str, Any]) -> None:
        """One line of a stream, which is opened by the first."""
        if not self.began:
            self.send_response(200)
            self.send_header("Content-Type", "application/x-ndjson")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.began = True
        fault = self.spoiled
        if fault and self.lines >= fault.after:
            if fault.kind == "error":
                self.spoiled = None
                raise Failure(500, "an error was encountered while running the model: unexpected EOF")
            if fault.kind == "undone":
                self._end()
                raise Said
            if fault.kind in ("cut", "hang"):
                self._break(fault)
            if fault.kind == "trickle":
                self._wait(fault.seconds)
        self.lines += 1
        self._chunk(json.dumps(content, ensure_ascii=False).encode() + b"\n")

    def _chunk(self, raw: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(raw), raw))
        self.wfile.flush()

    def _end(self) -> None:
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    # what is asked

    def chat(self, request: dict[str, Any]) -> None:
        """`/api/chat`: an answer to messages; without any, the model is loaded, or unloaded."""
        name, _ = self.server.shelf.model(request.get("model"))
        for unknown, words in (("tools", "tools"), ("think", "thinking")):
            if request.get(unknown):
                raise Failure(400, f'"{name}" does not support {words}')
        messages = request.get("messages") or []

        def answered(text: str) -> dict[str, Any]:
            return {"message": {"role": "assistant", "content": text}}

        self._generated(
            name, request, answered, bool(messages), lambda engine, piece: engine.chat(messages, request, piece)
        )

    def generate(self, request: dict[str, Any]) -> None:
        """`/api/generate`: the same of one prompt."""
        name, _ = self.server.shelf.model(request.get("model"))
        prompt = request.get("prompt") or ""
        messages = [{"role": "system", "content": request["system"]}] if request.get("system") else []
        messages.append({"role": "user", "content": prompt})

        def run(engine: Engine, piece: Piece) -> Counted:
            if request.get("raw"):
                return engine.complete(prompt, request, piece)
            return engine.chat(messages, request, piece)

        self._generated(name, request, lambda text: {"response": text}, bool(prompt), run)

    def _generated(
        self,
        name: str,
        request: dict[str, Any],
        answered: Callable[[str], dict[str, Any]],
        asked: bool,
        run: Callable[[Engine, Piece], Counted],
    ) -> None:
        streamed = request.get("stream", True)
        started = time.monotonic_ns()
        said: list[str] = []
        might: list[dict[str, Any]] = []

        def line(text: str, **more: Any) -> dict[str, Any]:
            return {"model": request["model"], "created_at": stamp(), **answered(text), "done": False, **more}

        broken: list[BaseException] = []

        def piece(text: str, likely: Sequence[dict[str, Any]] = ()) -> bool:
            """Raising would not come through the engine: what is wrong is kept, and the answer ended."""
            try:
                if self.gone():
                    raise Gone
                said.append(text)
                told = logprobs(likely)
                might.extend(told)
                if streamed and text:
                    self._line(line(text, **({"logprobs": told} if told else {})))
            except (Gone, Said, Failure, OSError) as error:
                broken.append(error)
            return bool(broken)

        with self.server.shelf.engine(name, request) as (engine, load):
            counted = run(engine, piece) if asked else None
        if broken:
            raise broken[0]
        if counted is None:
            unloaded = seconds(request.get("keep_alive")) <= 0
            last = line("", done=True, done_reason="unload" if unloaded else "load")
        else:
            last = line(
                "" if streamed else "".join(said),
                done=True,
                done_reason=counted.reason,
                total_duration=time.monotonic_ns() - started,
                load_duration=load,
                prompt_eval_count=counted.prompt,
                prompt_eval_duration=counted.prompt_ns,
                eval_count=counted.answer,
                eval_duration=counted.answer_ns,
                **({"logprobs": might} if might and not streamed else {}),
            )
        if streamed:
            self._line(last)
            self._end()
        else:
            self._json(last)

    def embed(self, request: dict[str, Any]) -> None:
        """`/api/embed`: vectors of a text, or of a list of them."""
        name, _ = self.server.shelf.model(request.get("model"))
        texts = request.get("input", [])
        if not isinstance(texts, str | list):
            raise Failure(400, "invalid input type")
        started = time.monotonic_ns()
        with self.server.shelf.engine(name, request) as (engine, load):
            vectors, tokens = engine.embed([texts] if isinstance(texts, str) else texts, request.get("truncate", True))
        if dimensions := request.get("dimensions"):
            vectors = [unit(vector[:dimensions]) for vector in vectors]
        took = {"total_duration": time.monotonic_ns() - started, "load_duration": load}
        self._json({"model": request["model"], "embeddings": vectors, **took, "prompt_eval_count": tokens})

    def show(self, request: dict[str, Any]) -> None:
        """`/api/show`."""
        _, model = self.server.shelf.model(request.get("model") or request.get("name"))
        template = "{{- range .Messages }}<|im_start|>{{ .Role }}\n{{ .Content }}<|im_end|>\n{{ end }}"
        told = {"license": "Apache License, Version 2.0, January 2004", "modelfile": f"FROM {model.name}\n"}
        told |= {"template": template, "capabilities": ["completion"], "modified_at": self.server.shelf.born}
        sizes = {"qwen2.block_count": model.layers, "qwen2.context_length": model.context}
        self._json({**told, "details": details(model), "model_info": {"general.architecture": "qwen2", **sizes}})

    def pull(self, request: dict[str, Any]) -> None:
        """`/api/pull`: goes on where an earlier one was broken off."""
        shelf, name = self.server.shelf, tagged(str(request.get("model") or request.get("name") or ""))
        streamed = request.get("stream", True)
        tell = self._line if streamed else lambda content: None
        tell({"status": "pulling manifest"})
        model = shelf.installed.get(name) or shelf.pullable.get(name)
        if model is None:
            raise Failure(500, "pull model manifest: file does not exist")
        step = {"status": f"pulling {model.sha256[:12]}", "digest": f"sha256:{model.sha256}", "total": model.bytes}
        done = model.bytes if name in shelf.installed else shelf.pulled.get(name, 0)
        while True:
            shelf.pulled[name] = done  # before it is told: the client may leave as soon as it hears it
            tell({**step, "completed": done})
            if done >= model.bytes:
                break
            if self.gone():
                raise Gone
            done = min(model.bytes, done + PULLED)
        for status in ("verifying sha256 digest", "writing manifest"):
            tell({"status": status})
        shelf.installed[name] = model
        if streamed:
            tell({"status": "success"})
            self._end()
        else:
            self._json({"status": "success"})


POSTED = {f"/api/{verb.__name__}": verb for verb in (Talk.chat, Talk.generate, Talk.embed, Talk.show, Talk.pull)}
