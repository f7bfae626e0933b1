"""Parts that can be switched off by hand, so that what stands in for them is tested and not only hoped for."""

import os

VARIABLE = "MEMORANDA_WITHOUT"


def without(name: str) -> bool:
    """Whether `name` is to be done without: `MEMORANDA_WITHOUT=vec0,model` names parts, parted by commas.

    `vec0` is the vector extension of SQLite, `model` every model that makes vectors,
    `agent` the one that the agent asks.
    """
    return name in [part.strip() for part in os.environ.get(VARIABLE, "").split(",")]
