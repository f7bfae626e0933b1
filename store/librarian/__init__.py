"""The Librarian: questions about the past, answered from the records alone, each sentence with its citation."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.librarian.librarian import Answer, Librarian

__all__ = ["Answer", "Librarian"]


def __getattr__(name: str) -> object:
    """Imported when first asked for."""
    if name not in __all__:
        raise AttributeError(f"the librarian has no {name}")
    from store.librarian import librarian

    return getattr(librarian, name)
