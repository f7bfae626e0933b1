"""Bind many integers as one parameter of a statement."""

import apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray


def integers(values: "NDArray[np.int64] | Iterable[int]") -> object:
    """Return `values` for `carray(?)`, a table with one row for each; none give a table without rows.

    `apsw.carray` itself raises ValueError for none, and `carray(NULL)` has no rows.
    """
    import numpy as np

    array = np.ascontiguousarray(values if isinstance(values, np.ndarray) else list(values), np.int64)
    return apsw.carray(array, flags=apsw.SQLITE_CARRAY_INT64) if array.size else None  # noqa: TID251
