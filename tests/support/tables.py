"""Tables whose rows are tried within one test."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def each(names: str, rows: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run the decorated test for each row, one after the other, and name all that fail.

    For what changes nothing: a test of its own for each row, as `pytest.mark.parametrize` makes it, takes milliseconds.
    """
    words, table = names.split(", "), list(rows)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**given: Any) -> None:
            failed = list[str]()
            for row in table:
                values = dict(zip(words, row, strict=True)) if len(words) > 1 else {words[0]: row}
                try:
                    test(**values, **given)
                except (AssertionError, pytest.fail.Exception) as error:
                    failed.append(f"{row!r}: {error}")
                except BaseException as error:
                    error.add_note(f"in the row {row!r}")
                    raise
            assert not failed, "\n\n".join([f"{len(failed)} of {len(table)} rows fail:", *failed])

        signature = inspect.signature(test)
        others = [one for name, one in signature.parameters.items() if name not in words]
        run.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return run

    return decorate


def refuses(error: type[Exception], words: str, act: Callable[..., object], *given: Any, **more: Any) -> None:
    """Assert that what is done with these arguments is refused with an error that says these words (a pattern)."""
    with pytest.raises(error, match=words):
        act(*given, **more)
