"""Rows of a list with a fixed order, identified by their index."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence, Set

from tui.lists.wrapping import Pairs


class NumberedRows(ABC):
    """The base of rows that are numbered from 0; a subclass renders them in `lines`."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def lines(self, index: int, width: int) -> Sequence[Pairs]: ...

    def selectable(self, index: int) -> bool:
        return True

    def key(self, index: int) -> Hashable:
        return index

    def index_of(self, key: Hashable) -> int | None:
        return key if isinstance(key, int) and key < len(self) else None

    def among(self, keys: Set[Hashable]) -> frozenset[Hashable]:
        return frozenset(key for key in keys if self.index_of(key) is not None)
