"""Parts that can be switched off by hand, to test what replaces them."""

import os

VARIABLE = "MEMORANDA_WITHOUT"


def without(name: str) -> bool:
    """Return whether `name` is switched off: `MEMORANDA_WITHOUT=vec0,model` names parts, separated by commas.

    `vec0` is the vector extension of SQLite, `model` every model that makes vectors, `agent` the one that the agent
    uses.
    """
    return name in [part.strip() for part in os.environ.get(VARIABLE, "").split(",")]
