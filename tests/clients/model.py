"""A scripted model on this machine, in the forms that the four clients speak: asked to commit, it commits by the
client's shell, then it says that it is done."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMMAND = "git commit --allow-empty -qm 'Made by an agent, for D#1'"
REPLY = "All is done as decided [D#1]."
ASKED = "commit what we have"


class Model:
    """The server, at `address`; `asked` are the bodies of what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *about: object) -> None:
                """Nobody reads it."""

            def do_HEAD(self) -> None:
                self._send(b"", "text/plain")

            def do_GET(self) -> None:
                self._send(b'{"data": [], "models": []}', "application/json")

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("content-length", 0)))
                owner.asked.append(raw.decode("utf-8", "replace"))
                self._send(owner.answer(self.path, json.loads(raw or b"{}")), "text/event-stream")

            def _send(self, body: bytes, kind: str) -> None:
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str, body: dict[str, Any]) -> bytes:
        text = json.dumps(body)
        if "/responses" in path:
            return _events(_responses(ASKED in text and "function_call_output" not in text))
        if "/chat/completions" in path:
            acts = bool(body.get("tools")) and '"role": "tool"' not in text
            return (
                b"".join(b"data: %b\n\n" % json.dumps(one).encode() for one in _completions(acts)) + b"data: [DONE]\n\n"
            )
        if "/messages" in path:
            return _events(_messages('"Bash"' in text and ASKED in text and "tool_result" not in text))
        acts = "run_shell_command" in text and "functionResponse" not in text
        return b"data: %b\n\n" % json.dumps(_gemini(acts)).encode()


def _events(events: list[dict[str, Any]]) -> bytes:
    return b"".join(b"event: %b\ndata: %b\n\n" % (one["type"].encode(), json.dumps(one).encode()) for one in events)


def _messages(acts: bool) -> list[dict[str, Any]]:
    usage = {"input_tokens": 900, "cache_read_input_tokens": 80_000, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "x", "content": [], "usage": usage}
    block: dict[str, Any] = {"type": "text", "text": ""}
    delta = {"type": "text_delta", "text": REPLY}
    if acts:
        block = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}}
        given = json.dumps({"command": COMMAND, "description": "commit"})
        delta = {"type": "input_json_delta", "partial_json": given}
    stop = {"stop_reason": "tool_use" if acts else "end_turn", "stop_sequence": None}
    return [
        {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 30}},
        {"type": "message_stop"},
    ]


def _responses(acts: bool) -> list[dict[str, Any]]:
    item: dict[str, Any] = {"type": "message", "id": "m", "role": "assistant"}
    item["content"] = [{"type": "output_text", "text": REPLY}]
    if acts:
        item = {"type": "function_call", "id": "f", "call_id": "call_1", "name": "exec_command"}
        item["arguments"] = json.dumps({"cmd": COMMAND})
    usage = {"input_tokens": 61_000, "output_tokens": 100, "total_tokens": 61_100}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}  # type: ignore[dict-item]
    return [
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "r", "usage": usage}},
    ]


def _completions(acts: bool) -> list[dict[str, Any]]:
    delta: dict[str, Any] = {"role": "assistant", "content": REPLY}
    if acts:
        function = {"name": "bash", "arguments": json.dumps({"command": COMMAND, "description": "commit"})}
        call = {"index": 0, "id": "call_1", "type": "function", "function": function}
        delta = {"role": "assistant", "tool_calls": [call]}
    one = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    usage = {"prompt_tokens": 5_000, "completion_tokens": 20, "total_tokens": 5_020}
    end = {"index": 0, "delta": {}, "finish_reason": "tool_calls" if acts else "stop"}
    return [
        {**one, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**one, "choices": [end], "usage": usage},
    ]


def _gemini(acts: bool) -> dict[str, Any]:
    part: dict[str, Any] = {"text": REPLY}
    if acts:
        part = {"functionCall": {"name": "run_shell_command", "args": {"command": COMMAND, "description": "commit"}}}
    content = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    counts = {"promptTokenCount": 9_000, "candidatesTokenCount": 50, "totalTokenCount": 9_050}
    return {"candidates": [content], "usageMetadata": counts, "modelVersion": "x"}
