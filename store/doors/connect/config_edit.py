"""Change the text of a configuration file, and take the change back, whatever the file's form.

Each change is checked: what the new text says must be what the old one said, with the change and nothing else.
"""

import copy
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from typing import Any, cast

from store.doors.clients.client import APPEND, LINE, SET, WHOLE, ConfigEdit
from store.doors.connect import jsonc
from store.doors.connect.jsonc import NotJson

MARK = "\ufeff"  # the byte order mark that some editors put before a text
Same = Callable[[object], bool]  # whether an element of an array is ours


TYPE_CHECKING = False
if TYPE_CHECKING:
    import tomlkit


class InTheWay(Exception):
    """A change that cannot be made, or taken back; the message says what is in the way, in a sentence."""


def apply(text: str, edit: ConfigEdit, ours: Same) -> str:
    """Return the text with a change made; as it is where it is made already. Elements of an array that are `ours` and
    other than this one are replaced. Raise InTheWay."""
    if edit.form == WHOLE:
        return str(edit.value)
    if edit.form == LINE:
        line = str(edit.value)
        if line in text.splitlines():
            return text
        return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{line}\n"
    before = says(text, edit.file)
    wanted = copy.deepcopy(before)
    at = _walk(wanted, edit.path[:-1], make=True)
    if not isinstance(at, dict):
        raise InTheWay(f"{edit.file} has something else at {'.'.join(edit.path[:-1])}.")
    if edit.form == SET:
        at[edit.path[-1]] = edit.value
        if wanted == before:
            return text
        new = _put(text, edit)
    else:
        there = at.setdefault(edit.path[-1], [])
        if not isinstance(there, list):
            raise InTheWay(f"{edit.file} has something else at {'.'.join(edit.path)}.")
        old = [index for index, entry in enumerate(there) if ours(entry)]
        if len(old) == 1 and there[old[0]] == edit.value:
            return text
        new = text
        for index in reversed(old):
            new = jsonc.remove(new, edit.path, index)
            del there[index]
        there.append(edit.value)
        new = jsonc.append(new, edit.path, edit.value)
    return _checked(new, wanted, edit)


def take_out(text: str, edit: ConfigEdit, ours: Same, before: object = None, made: int = 0) -> str:
    """Return the text without a change: the value that stood there `before` is put back; of the objects on the way the
    last `made` go with it if they are empty then. Raise InTheWay where the value is another by now."""
    if edit.form == WHOLE:
        if text != edit.value:
            raise InTheWay(f"{edit.file} was changed since; it is ours no more. Delete it yourself.")
        return ""
    if edit.form == LINE:
        return "".join(line for line in text.splitlines(keepends=True) if line.rstrip("\r\n") != edit.value)
    now = says(text, edit.file)
    wanted = copy.deepcopy(now)
    at = _walk(wanted, edit.path[:-1])
    there = at.get(edit.path[-1]) if isinstance(at, dict) else None
    if there is None:
        return text
    if edit.form == APPEND:
        if not isinstance(there, list):
            return text
        for index in reversed([index for index, entry in enumerate(there) if ours(entry)]):
            text = jsonc.remove(text, edit.path, index)
            del there[index]
        emptied = not there
    else:
        if there != edit.value:
            raise InTheWay(f"{'.'.join(edit.path)} in {edit.file} is another one by now than we wrote.")
        emptied = before is None
        if before is not None:
            at[edit.path[-1]] = before
            return _checked(_put(text, ConfigEdit(edit.file, SET, edit.path, before)), wanted, edit)
        del at[edit.path[-1]]
        text = _cut(text, edit.path, edit.file, edit.value)
    path = edit.path if edit.form == APPEND else edit.path[:-1]
    while emptied and made and path and not _walk(wanted, path):
        del _walk(wanted, path[:-1])[path[-1]]
        text = _cut(text, path, edit.file)
        path, made = path[:-1], made - 1
    return _checked(text, wanted, edit)


def missing(text: str, edit: ConfigEdit) -> int:
    """Return how many objects or arrays on the way to a change are not there yet, and would be made for it."""
    if edit.form not in (SET, APPEND):
        return 0
    at: Any = says(text, edit.file)
    path = edit.path if edit.form == APPEND else edit.path[:-1]
    for depth, key in enumerate(path):
        if not isinstance(at, dict) or key not in at:
            return len(path) - depth
        at = at[key]
    return 0


def value_at(text: str, edit: ConfigEdit) -> Any:
    """Return the value at the path of a `set`; None if there is none. Raise InTheWay."""
    at = _walk(says(text, edit.file), edit.path[:-1])
    return at.get(edit.path[-1]) if isinstance(at, dict) else None


def merged(base: str, ours: str, theirs: str) -> str | None:
    """Return what `base` becomes with both changes, `ours` and `theirs`; None where they meet (`git merge-file`)."""
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, name) for name in ("theirs", "base", "ours")]
        for name, text in zip(names, (theirs, base, ours), strict=True):
            with open(name, "w", encoding="utf-8", newline="") as file:
                file.write(text)
        try:
            done = subprocess.run(
                ["git", "merge-file", "-p", "-q", *names], cwd=folder, capture_output=True, timeout=20, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
    return done.stdout.decode("utf-8") if done.returncode == 0 else None


def says(text: str, file: str) -> Any:
    """Return what a configuration file says, by its name: TOML, or JSON with comments. Raise InTheWay."""
    if not text.strip(jsonc.SPACE):
        return {}
    try:
        if file.endswith(".toml"):
            import tomllib

            return tomllib.loads(text.removeprefix(MARK))
        return jsonc.parse(text)
    except (NotJson, ValueError) as error:
        raise InTheWay(f"{file} cannot be read: {error}. Mend it first.") from None


def _checked(text: str, wanted: object, edit: ConfigEdit) -> str:
    if says(text, edit.file) != wanted:
        raise InTheWay(f"{edit.file} is written in a way that we do not change safely. Make the change by hand.")
    return text


def _put(text: str, edit: ConfigEdit) -> str:
    if not edit.file.endswith(".toml"):
        try:
            return jsonc.put(text, edit.path, edit.value)
        except NotJson as error:
            raise InTheWay(f"{edit.file}: {error}.") from None
    import tomlkit

    if value_at(text, edit) is None:
        new = f"{text}{_gap(text)}{_table(text, edit.path, edit.value)}"
        try:
            says(new, edit.file)
            return new
        except InTheWay:
            pass  # an inline table stands on the way, which no table can be added to
    mark, document = _parsed(text)
    at: Any = document
    for step in edit.path[:-1]:
        if step not in at:
            at[step] = tomlkit.table(is_super_table=True)
        at = at[step]
    at[edit.path[-1]] = edit.value
    return mark + tomlkit.dumps(document)


def _parsed(text: str) -> "tuple[str, tomlkit.TOMLDocument]":
    """Return (the byte order mark that a text of TOML begins with, or nothing; the document)."""
    import tomlkit

    return MARK[: text.startswith(MARK)], tomlkit.parse(text.removeprefix(MARK))


def _table(text: str, path: Sequence[str], value: object) -> str:
    """Return a table of TOML as it is appended to a text, with the ends of lines that the text has."""
    import tomlkit

    for step in reversed(path):
        value = {step: value}
    return tomlkit.dumps(cast(dict[str, Any], value)).replace("\n", jsonc.newline_of(text))


def _gap(text: str) -> str:
    """Return what stands between a text and a table that is appended to it: an empty line."""
    newline = jsonc.newline_of(text)
    ended = not text or text.endswith("\n")
    return ("" if ended else newline) + ("" if not text or text.endswith(newline * 2) else newline)


def _cut(text: str, path: Sequence[str], file: str, value: object = None) -> str:
    """Return a text without what stands at a path, which is `value`."""
    if not file.endswith(".toml"):
        return jsonc.remove(text, path)
    if value is not None and text.count(table := _table(text, path, value)) == 1:
        before, _, after = text.partition(table)
        newline = jsonc.newline_of(text)
        return (before.removesuffix(newline) if before.endswith(newline * 2) else before) + after
    import tomlkit

    mark, document = _parsed(text)
    at: Any = document
    for step in path[:-1]:
        at = at[step]
    if path[-1] in at:  # a table that only its parts named went with the last of them
        del at[path[-1]]
    return mark + tomlkit.dumps(document)


def _walk(value: Any, path: Sequence[str], make: bool = False) -> Any:
    for key in path:
        if not isinstance(value, dict):
            return None
        if key not in value and not make:
            return None
        value = value.setdefault(key, {})
    return value
