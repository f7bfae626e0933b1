"""The order of a long list: the keys of its rows and nothing else, packed."""

import time
from array import array
from collections.abc import Iterable

CHUNK = 4096  # keys that are taken before the other threads are let in


def packed(chunks: Iterable[Iterable[int]]) -> "array[int]":
    """Whole numbers as one array: 4 bytes each, 8 if one of them needs those.

    In one piece of the right size, which is given back whole: one that grew would leave holes of its earlier sizes.
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
