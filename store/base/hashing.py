"""SHA-256, without loading OpenSSL for it.

`hashlib` costs a command 2.7 ms of its 30; CPython's own `random` takes its hash from the lean module in the same way.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import sha256
else:
    try:
        from _sha2 import sha256  # Python 3.12 and newer
    except ImportError:
        try:
            from _sha256 import sha256  # Python 3.11
        except ImportError:
            from hashlib import sha256

__all__ = ["sha256"]
