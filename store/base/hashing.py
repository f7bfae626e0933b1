"""SHA-256 and BLAKE2b, without loading OpenSSL.

`hashlib` costs a command 2.7 ms of its 30; CPython's own `random` imports its hash from the smaller module in the same
way. BLAKE2b takes a third of the time and is used where nothing stored or published requires SHA-256.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import blake2b, sha256
else:
    try:
        from _sha2 import sha256  # Python 3.12 and newer
    except ImportError:
        try:
            from _sha256 import sha256  # Python 3.11
        except ImportError:
            from hashlib import sha256

    def __getattr__(name: str) -> object:
        if name != "blake2b":
            raise AttributeError(name)
        try:
            from _blake2 import blake2b
        except ImportError:
            from hashlib import blake2b
        return blake2b


__all__ = ["blake2b", "sha256"]
