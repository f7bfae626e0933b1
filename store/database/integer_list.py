"""Bind many integers as one parameter of a statement."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import apsw

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def bind_integers(values: NDArray[np.int64] | Iterable[int]) -> object:
    """Return `values` for `carray(?)`, a table with one row for each; none give a table without rows.

    `apsw.carray` itself raises ValueError for none, and `carray(NULL)` has no rows.
    """
    import numpy as np

    array = np.ascontiguousarray(values if isinstance(values, np.ndarray) else list(values), np.int64)
    return apsw.carray(array, flags=apsw.SQLITE_CARRAY_INT64) if array.size else None  # noqa: TID251
