"""Change one value of a configuration file, JSON or TOML, and leave everything else as it is.

Change one value of a JSON file as text: comments, order, spaces and everything else stay as they are.

JSON as editors and agents write it: `//` and `/* */` comments, and a comma behind the last member. A value is found by
scanning the text, never by writing all of it again.
"""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from store.config.configuration import load_tomlkit
from store.doors.client import EDIT_APPEND, EDIT_LINE, EDIT_SET, EDIT_WHOLE, ConfigEdit

# levels; deeper is no configuration
MAX_JSON_DEPTH = 200
JSON_SPACE = " \t\r\n\f\ufeff"
_SCALARS = json.JSONDecoder(strict=False)
_SPACE = re.compile(r"(?:[ \t\r\n\f\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_WORD = re.compile(r'[^\s\ufeff,:{}\[\]"/]*')


class NotJson(ValueError):
    """A text that is no JSON; the message says where and why."""


@dataclass(slots=True)
class JsonNode:
    """A `value` at [`start`, `end`) of a text. An object has `keys`, an array none; both have `items`, and of each
    where its member begins (`starts`: the key's, in an object). `comma`: one stands behind the last member."""

    kind: str
    start: int
    end: int = 0
    value: Any = None
    keys: list[str] = field(default_factory=list)
    items: list[JsonNode] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    comma: bool = False


def parse_jsonc(text: str) -> Any:
    """Return what a text says. Raise NotJson."""
    return scan_jsonc(text).value


def scan_jsonc(text: str) -> JsonNode:
    """Return the root value of a text. Raise NotJson."""
    at = _skip_space(text, 0)
    node = _scan_value(text, at, 0)
    if (rest := _skip_space(text, node.end)) < len(text):
        raise _syntax_error(text, rest, "something follows the end")
    return node


def set_jsonc_value(text: str, path: Sequence[str], value: object) -> str:
    """Return the text with the value at a path of keys set; objects that are missing on the way are made. An empty text
    is an empty object. Raise NotJson, also where something on the way is no object."""
    if not text.strip(JSON_SPACE):
        text = "{}\n" if text.endswith("\n") else "{}"
    node = scan_jsonc(text)
    for depth, key in enumerate(path):
        if node.kind != "object":
            raise NotJson(f"{'.'.join(path[:depth]) or 'the file'} is not an object")
        if key not in node.keys:
            for step in reversed(path[depth + 1 :]):
                value = {step: value}
            return _insert_member(text, node, key, value)
        node = node.items[_last_index(node.keys, key)]
    shown = _format_value(value, _indent_of(text, node.start), _indent_unit(text), newline_of(text))
    return text[: node.start] + shown + text[node.end :]


def append_jsonc_value(text: str, path: Sequence[str], value: object) -> str:
    """Return the text with a value appended to the array at a path, made where it is missing. Raise NotJson."""
    node = find_jsonc_node(text, path)
    if node is None:
        return set_jsonc_value(text, path, [value])
    if node.kind != "array":
        raise NotJson(f"{'.'.join(path)} is not an array")
    return _insert_member(text, node, None, value)


def remove_jsonc_member(text: str, path: Sequence[str], index: int | None = None) -> str:
    """Return the text without the member at a path, or without the element `index` of the array there; as it is if
    there is none. Raise NotJson."""
    node = find_jsonc_node(text, path if index is not None else path[:-1])
    if node is None or not node.items:
        return text
    if index is None:
        if node.kind != "object" or path[-1] not in node.keys:
            return text
        index = _last_index(node.keys, path[-1])
    elif node.kind != "array" or index >= len(node.items):
        return text
    end = node.items[index].end
    # up to where the next begins: its comma, and its line
    if index + 1 < len(node.items):
        return text[: node.starts[index]] + text[node.starts[index + 1] :]
    if index:
        before = node.items[index - 1].end
        # the comma behind the last stays
        if node.comma:
            return text[: _skip_space(text, before)] + text[_skip_space(text, end) :]
        return text[:before] + text[end:]
    stop = _skip_space(text, end) + 1 if node.comma else end
    blank = text[node.start + 1 : node.starts[0]].strip(JSON_SPACE) or text[stop : node.end - 1].strip(JSON_SPACE)
    # a comment stands there
    if blank:
        return text[: node.starts[0]] + text[stop:]
    return text[: node.start + 1] + text[node.end - 1 :]


def find_jsonc_node(text: str, path: Sequence[str]) -> JsonNode | None:
    """Return the value at a path of keys, None if there is none. Raise NotJson."""
    if not text.strip(JSON_SPACE):
        return None
    node = scan_jsonc(text)
    for key in path:
        if node.kind != "object" or key not in node.keys:
            return None
        node = node.items[_last_index(node.keys, key)]
    return node


# writing


def _insert_member(text: str, node: JsonNode, key: str | None, value: object) -> str:
    """Return the text with a member at the end of an object or array."""
    unit, newline = _indent_unit(text), newline_of(text)
    if node.items:
        first = node.starts[0]
        line = text.rfind("\n", node.start, first)
        # each on a line of its own
        alone = line >= 0 and not text[line + 1 : first].strip(JSON_SPACE)
        inner = text[line + 1 : first] if alone else _indent_of(text, node.start) + unit
        gap = newline + inner if alone else " "
        member = _format_member(key, value, inner, unit, newline)
        last = node.items[-1].end
        if node.comma:
            stop = _skip_space(text, last) + 1
            return text[:stop] + gap + member + "," + text[stop:]
        return f"{text[:last]},{gap}{member}{text[last:]}"
    outer = _indent_of(text, node.start)
    member = _format_member(key, value, outer + unit, unit, newline)
    inside = text[node.start + 1 : node.end - 1]
    # a comment, perhaps
    kept = inside.rstrip(JSON_SPACE)
    return f"{text[: node.start + 1]}{kept}{newline}{outer}{unit}{member}{newline}{outer}{text[node.end - 1 :]}"


def _format_member(key: str | None, value: object, indent: str, unit: str, newline: str) -> str:
    """Return a member of an object, or an element of an array, as text."""
    shown = _format_value(value, indent, unit, newline)
    return shown if key is None else f"{json.dumps(key, ensure_ascii=False)}: {shown}"


def _format_value(value: object, indent: str, unit: str, newline: str) -> str:
    """Return a value as indented JSON."""
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    return (newline + indent).join(lines)


def _indent_of(text: str, at: int) -> str:
    """Return the spaces at the beginning of the line that `at` stands on."""
    start = text.rfind("\n", 0, at) + 1
    return text[start : start + len(text[start:at]) - len(text[start:at].lstrip(" \t"))]


def _indent_unit(text: str) -> str:
    """Return how far a level is indented: as the first indented line; two spaces where there is none."""
    for line in text.splitlines():
        if (bare := line.lstrip(" \t")) != line and bare.startswith(('"', "{", "[")):
            return line[: len(line) - len(bare)]
    return "  "


def newline_of(text: str) -> str:
    """Return the end of line that a text uses."""
    return "\r\n" if "\r\n" in text else "\n"


def _last_index(keys: Sequence[str], key: str) -> int:
    """Return where a key stands; of one that stands there twice, the last, which is the one that counts."""
    return len(keys) - 1 - list(reversed(keys)).index(key)


# reading


def _scan_value(text: str, at: int, depth: int) -> JsonNode:
    """Return the value that begins at `at`. Raise NotJson."""
    if depth > MAX_JSON_DEPTH:
        raise _syntax_error(text, at, "it is too deep")
    sign = text[at : at + 1]
    if sign not in ("{", "["):
        value, end = _read_scalar(text, at)
        return JsonNode("scalar", at, end, value)
    node = JsonNode("object" if sign == "{" else "array", at)
    close = "}" if sign == "{" else "]"
    at = _skip_space(text, at + 1)
    while text[at : at + 1] != close:
        if node.items and not node.comma:
            raise _syntax_error(text, at, "a comma is missing")
        node.starts.append(at)
        if sign == "{":
            if text[at : at + 1] != '"':
                raise _syntax_error(text, at, "a name in quotes is missing")
            key, end = _read_scalar(text, at)
            node.keys.append(key)
            at = _skip_space(text, end)
            if text[at : at + 1] != ":":
                raise _syntax_error(text, at, "a colon is missing")
            at = _skip_space(text, at + 1)
        item = _scan_value(text, at, depth + 1)
        node.items.append(item)
        at = _skip_space(text, item.end)
        node.comma = text[at : at + 1] == ","
        if node.comma:
            at = _skip_space(text, at + 1)
    values = [item.value for item in node.items]
    node.value = dict(zip(node.keys, values, strict=True)) if sign == "{" else values
    node.end = at + 1
    return node


def _read_scalar(text: str, at: int) -> tuple[Any, int]:
    """Return the text, number or word that begins at `at`, and where it ends. Raise NotJson."""
    word = _WORD.match(text, at)
    try:
        value, end = _SCALARS.raw_decode(text, at)
    except ValueError as error:
        why = f"“{word[0][:20]}” is not a value" if word and word[0] else "a value is missing"
        if text[at : at + 1] == '"':
            why = "a text has no end" if "Unterminated" in str(error) else "a text cannot be read"
        raise _syntax_error(text, at, why) from None
    if "\n" in text[at:end]:
        raise _syntax_error(text, at, "a text has no end")
    if word and word[0] and word.end() != end:
        raise _syntax_error(text, at, f"“{word[0][:20]}” is not a value")
    return value, end


def _skip_space(text: str, at: int) -> int:
    """Return where the next thing begins that is neither space nor comment."""
    found = _SPACE.match(text, at)
    end = found.end() if found else at
    if text.startswith("/*", end):
        raise _syntax_error(text, end, "a comment has no end")
    return end


def _syntax_error(text: str, at: int, why: str) -> NotJson:
    """Return the error for a place in a text, with its line."""
    return NotJson(f"line {text.count(chr(10), 0, at) + 1}: {why}")


# Change the text of a configuration file, and take the change back, whatever the file's form.
#
# Each change is checked: what the new text says must be what the old one said, with the change and nothing else.

# the byte order mark that some editors put before a text
BYTE_ORDER_MARK = "\ufeff"
# whether an element of an array is ours
IsOurs = Callable[[object], bool]


class EditBlocked(Exception):
    """A change that cannot be made, or taken back; the message says what is in the way, in a sentence."""


def apply_edit(text: str, edit: ConfigEdit, ours: IsOurs) -> str:
    """Return the text with a change made; as it is where it is made already. Elements of an array that are `ours`
    and differ from this element are replaced. Raise EditBlocked."""
    if edit.form == EDIT_WHOLE:
        return str(edit.value)
    if edit.form == EDIT_LINE:
        line = str(edit.value)
        if line in text.splitlines():
            return text
        return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{line}\n"
    before = parse_config(text, edit.file)
    wanted = copy.deepcopy(before)
    at = _walk_path(wanted, edit.path[:-1], make=True)
    if not isinstance(at, dict):
        raise EditBlocked(f"{edit.file} has something else at {'.'.join(edit.path[:-1])}.")
    if edit.form == EDIT_SET:
        at[edit.path[-1]] = edit.value
        if wanted == before:
            return text
        new = _set_value(text, edit)
    else:
        there = at.setdefault(edit.path[-1], [])
        if not isinstance(there, list):
            raise EditBlocked(f"{edit.file} has something else at {'.'.join(edit.path)}.")
        old = [index for index, entry in enumerate(there) if ours(entry)]
        if len(old) == 1 and there[old[0]] == edit.value:
            return text
        new = text
        for index in reversed(old):
            new = remove_jsonc_member(new, edit.path, index)
            del there[index]
        there.append(edit.value)
        new = append_jsonc_value(new, edit.path, edit.value)
    return _require_wanted_edit(new, wanted, edit)


def revert_edit(text: str, edit: ConfigEdit, ours: IsOurs, before: object = None, made: int = 0) -> str:
    """Return the text without a change: the value that stood there `before` is put back; of the objects on the way
    the last `made` go with it if they are empty then. Raise EditBlocked where the value is another by now."""
    if edit.form == EDIT_WHOLE:
        if text != edit.value:
            raise EditBlocked(f"{edit.file} was changed since; it is ours no more. Delete it yourself.")
        return ""
    if edit.form == EDIT_LINE:
        return "".join(line for line in text.splitlines(keepends=True) if line.rstrip("\r\n") != edit.value)
    now = parse_config(text, edit.file)
    wanted = copy.deepcopy(now)
    at = _walk_path(wanted, edit.path[:-1])
    there = at.get(edit.path[-1]) if isinstance(at, dict) else None
    if there is None:
        return text
    if edit.form == EDIT_APPEND:
        if not isinstance(there, list):
            return text
        for index in reversed([index for index, entry in enumerate(there) if ours(entry)]):
            text = remove_jsonc_member(text, edit.path, index)
            del there[index]
        emptied = not there
    else:
        if there != edit.value:
            raise EditBlocked(f"{'.'.join(edit.path)} in {edit.file} is another one by now than we wrote.")
        emptied = before is None
        if before is not None:
            at[edit.path[-1]] = before
            return _require_wanted_edit(
                _set_value(text, ConfigEdit(edit.file, EDIT_SET, edit.path, before)), wanted, edit
            )
        del at[edit.path[-1]]
        text = _remove_value(text, edit.path, edit.file, edit.value)
    path = edit.path if edit.form == EDIT_APPEND else edit.path[:-1]
    while emptied and made and path and not _walk_path(wanted, path):
        del _walk_path(wanted, path[:-1])[path[-1]]
        text = _remove_value(text, path, edit.file)
        path, made = path[:-1], made - 1
    return _require_wanted_edit(text, wanted, edit)


def count_missing_parents(text: str, edit: ConfigEdit) -> int:
    """Return how many objects or arrays on the way to a change are not there yet, and would be made for it."""
    if edit.form not in (EDIT_SET, EDIT_APPEND):
        return 0
    at: Any = parse_config(text, edit.file)
    path = edit.path if edit.form == EDIT_APPEND else edit.path[:-1]
    for depth, key in enumerate(path):
        if not isinstance(at, dict) or key not in at:
            return len(path) - depth
        at = at[key]
    return 0


def get_value_at(text: str, edit: ConfigEdit) -> Any:
    """Return the value at the path of a `set`; None if there is none. Raise EditBlocked."""
    at = _walk_path(parse_config(text, edit.file), edit.path[:-1])
    return at.get(edit.path[-1]) if isinstance(at, dict) else None


def merge_both_changes(base: str, ours: str, theirs: str) -> str | None:
    """Return what `base` becomes with both changes, `ours` and `theirs`; None where they meet (`git merge-file`)."""
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, name) for name in ("theirs", "base", "ours")]
        for name, text in zip(names, (theirs, base, ours), strict=True):
            with open(name, "w", encoding="utf-8", newline="") as file:
                file.write(text)
        try:
            done = subprocess.run(
                ["git", "merge-file", "-p", "-q", *names],
                cwd=folder,
                capture_output=True,
                timeout=20,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
    return done.stdout.decode("utf-8") if done.returncode == 0 else None


def parse_config(text: str, file: str) -> Any:
    """Return what a configuration file says, by its name: TOML, or JSON with comments. Raise EditBlocked."""
    if not text.strip(JSON_SPACE):
        return {}
    try:
        if file.endswith(".toml"):
            return tomllib.loads(text.removeprefix(BYTE_ORDER_MARK))
        return parse_jsonc(text)
    except (NotJson, ValueError) as error:
        raise EditBlocked(f"{file} cannot be read: {error}. Mend it first.") from None


def _require_wanted_edit(text: str, wanted: object, edit: ConfigEdit) -> str:
    """Return the new text if it says what is wanted. Raise EditBlocked."""
    if parse_config(text, edit.file) != wanted:
        raise EditBlocked(
            f"{edit.file} is written in a way that we do not change safely. Make the change by hand."
        )
    return text


def _set_value(text: str, edit: ConfigEdit) -> str:
    """Return the text with the value at a path set. Raise EditBlocked."""
    if not edit.file.endswith(".toml"):
        try:
            return set_jsonc_value(text, edit.path, edit.value)
        except NotJson as error:
            raise EditBlocked(f"{edit.file}: {error}.") from None
    if get_value_at(text, edit) is None:
        new = f"{text}{_gap_before_table(text)}{_format_toml_table(text, edit.path, edit.value)}"
        try:
            parse_config(new, edit.file)
            return new
        except EditBlocked:
            # an inline table stands on the way, which no table can be added to
            pass
    mark, document = _parse_toml(text)
    at: Any = document
    for step in edit.path[:-1]:
        if step not in at:
            at[step] = load_tomlkit().table(is_super_table=True)
        at = at[step]
    at[edit.path[-1]] = edit.value
    return f"{mark}{load_tomlkit().dumps(document)}"


def _parse_toml(text: str) -> tuple[str, Any]:
    """Return (the byte order mark that a text of TOML begins with, or nothing; the document)."""
    document = load_tomlkit().parse(text.removeprefix(BYTE_ORDER_MARK))
    return BYTE_ORDER_MARK[: text.startswith(BYTE_ORDER_MARK)], document


def _format_toml_table(text: str, path: Sequence[str], value: object) -> str:
    """Return a table of TOML as it is appended to a text, with the ends of lines that the text has."""
    for step in reversed(path):
        value = {step: value}
    table: str = load_tomlkit().dumps(value)
    return table.replace("\n", newline_of(text))


def _gap_before_table(text: str) -> str:
    """Return what stands between a text and a table that is appended to it: an empty line."""
    newline = newline_of(text)
    ended = not text or text.endswith("\n")
    return ("" if ended else newline) + ("" if not text or text.endswith(newline * 2) else newline)


def _remove_value(text: str, path: Sequence[str], file: str, value: object = None) -> str:
    """Return a text without what stands at a path, which is `value`."""
    if not file.endswith(".toml"):
        return remove_jsonc_member(text, path)
    if value is not None and text.count(table := _format_toml_table(text, path, value)) == 1:
        before, _, after = text.partition(table)
        newline = newline_of(text)
        return (before.removesuffix(newline) if before.endswith(newline * 2) else before) + after
    mark, document = _parse_toml(text)
    at: Any = document
    for step in path[:-1]:
        at = at[step]
    # a table that only its parts named went with the last of them
    if path[-1] in at:
        del at[path[-1]]
    return f"{mark}{load_tomlkit().dumps(document)}"


def _walk_path(value: Any, path: Sequence[str], make: bool = False) -> Any:
    """Return the value at a path; None where there is none. With `make` missing objects are made."""
    for key in path:
        if not isinstance(value, dict):
            return None
        if key not in value and not make:
            return None
        value = value.setdefault(key, {})
    return value
