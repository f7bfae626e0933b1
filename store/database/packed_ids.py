"""The order of a long list: only the keys of its rows, packed."""

import time
from array import array
from collections.abc import Iterable

CHUNK = 4096  # keys that are read before other threads get the GIL


def packed(chunks: Iterable[Iterable[int]]) -> "array[int]":
    """Pack integers in one array: 4 bytes each, 8 if one of them needs those.

    It is allocated in one piece of the right size, and freed whole: one that grew would leave gaps of its earlier
    sizes.
    """
    parts = []
    for chunk in chunks:
        numbers = list(chunk)
        try:
            parts.append(array("I", numbers))
        except OverflowError:
            parts.append(array("q", numbers))
        time.sleep(0)
    code = "q" if any(part.typecode == "q" for part in parts) else "I"
    place = sum(map(len, parts))
    whole = array(code, [0]) * place
    while parts:
        part = parts.pop()
        place -= len(part)
        whole[place : place + len(part)] = part if part.typecode == code else array(code, part)
    return whole
