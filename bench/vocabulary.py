"""Read the tokenizer from the header of a language model's GGUF file, without loading the model.

The format is documented with ggml: a magic number, a version, two counts, then keys with typed values. Texts are split
before merging as by Qwen2's published tokenizer, the only type supported (`tokenizer.ggml.pre`: qwen2)."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, BinaryIO

# struct format by value type; 8 is a string, 9 an array
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _LIST = 8, 9
WANTED = ("tokenizer.ggml.model", "tokenizer.ggml.pre", "tokenizer.ggml.tokens", "tokenizer.ggml.merges")
_CUT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def counter(path: str) -> Callable[[str], int]:
    """Return a function that counts a text's tokens in the model of this file. Raises ValueError for a file of another
    kind."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

    held = _head(path)
    if held.get("tokenizer.ggml.pre") != "qwen2":
        raise ValueError(f"{path} holds another kind of tokenizer")
    pieces = {token: number for number, token in enumerate(held["tokenizer.ggml.tokens"])}
    merges = [tuple(pair.split(" ")) for pair in held["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(models.BPE(vocab=pieces, merges=merges))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_CUT), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def _head(path: str) -> dict[str, Any]:
    with open(path, "rb") as file:
        magic, version, _, keys = struct.unpack("<4sIQQ", file.read(24))
        if magic != b"GGUF" or version < 2:
            raise ValueError(f"{path} is no GGUF file of version 2 or later")
        held: dict[str, Any] = {}
        for _ in range(keys):
            key = _text(file)
            (kind,) = struct.unpack("<I", file.read(4))
            value = _value(file, kind)
            if key in WANTED:
                held[key] = value
        return held


def _text(file: BinaryIO) -> str:
    (length,) = struct.unpack("<Q", file.read(8))
    return file.read(length).decode("utf-8", "replace")


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == _TEXT:
        return _text(file)
    if kind == _LIST:
        kind, count = struct.unpack("<IQ", file.read(12))
        return [_value(file, kind) for _ in range(count)]
    form = f"<{_NUMBERS[kind]}"
    return struct.unpack(form, file.read(struct.calcsize(form)))[0]
