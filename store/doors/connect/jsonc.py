"""Change one value of a JSON file as text: comments, order, spaces and everything else stay as they are.

JSON as editors and agents write it: `//` and `/* */` comments, and a comma behind the last member. A value is found by
scanning the text, never by writing all of it again.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

DEEPEST = 200  # levels; deeper is no configuration
SPACE = " \t\r\n\f\ufeff"


class NotJson(ValueError):
    """A text that is no JSON; the message says where and why."""


@dataclass(slots=True)
class Node:
    """A value at [`start`, `end`) of a text. An object has `keys`, an array none; both have `items`, and of each where
    its member begins (`starts`: the key's, in an object). `comma`: one stands behind the last member."""

    kind: str
    start: int
    end: int = 0
    keys: list[str] = field(default_factory=list)
    items: "list[Node]" = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    comma: bool = False


def parse(text: str) -> Any:
    """Return what a text says. Raise NotJson."""
    return _value(text, scan(text))


def scan(text: str) -> Node:
    """Return the root value of a text. Raise NotJson."""
    at = _skip(text, 0)
    node = _scan(text, at, 0)
    if (rest := _skip(text, node.end)) < len(text):
        raise _wrong(text, rest, "something follows the end")
    return node


def put(text: str, path: Sequence[str], value: object) -> str:
    """Return the text with the value at a path of keys set; objects that are missing on the way are made. An empty text
    is an empty object. Raise NotJson, also where something on the way is no object."""
    if not text.strip(SPACE):
        text = "{}\n" if text.endswith("\n") else "{}"
    node = scan(text)
    for depth, key in enumerate(path):
        if node.kind != "object":
            raise NotJson(f"{'.'.join(path[:depth]) or 'the file'} is not an object")
        if key not in node.keys:
            for step in reversed(path[depth + 1 :]):
                value = {step: value}
            return _inserted(text, node, key, value)
        node = node.items[_last(node.keys, key)]
    shown = _written(value, _indent_of(text, node.start), _unit(text), newline_of(text))
    return text[: node.start] + shown + text[node.end :]


def append(text: str, path: Sequence[str], value: object) -> str:
    """Return the text with a value appended to the array at a path, made where it is missing. Raise NotJson."""
    node = find(text, path)
    if node is None:
        return put(text, path, [value])
    if node.kind != "array":
        raise NotJson(f"{'.'.join(path)} is not an array")
    return _inserted(text, node, None, value)


def remove(text: str, path: Sequence[str], index: int | None = None) -> str:
    """Return the text without the member at a path, or without the element `index` of the array there; as it is if
    there is none. Raise NotJson."""
    node = find(text, path if index is not None else path[:-1])
    if node is None or not node.items:
        return text
    if index is None:
        if node.kind != "object" or path[-1] not in node.keys:
            return text
        index = _last(node.keys, path[-1])
    elif node.kind != "array" or index >= len(node.items):
        return text
    end = node.items[index].end
    if index + 1 < len(node.items):  # up to where the next begins: its comma, and its line
        return text[: node.starts[index]] + text[node.starts[index + 1] :]
    if index:
        before = node.items[index - 1].end
        if node.comma:  # the comma behind the last stays
            return text[: _skip(text, before)] + text[_skip(text, end) :]
        return text[:before] + text[end:]
    stop = _skip(text, end) + 1 if node.comma else end
    blank = text[node.start + 1 : node.starts[0]].strip(SPACE) or text[stop : node.end - 1].strip(SPACE)
    if blank:  # a comment stands there
        return text[: node.starts[0]] + text[stop:]
    return text[: node.start + 1] + text[node.end - 1 :]


def find(text: str, path: Sequence[str]) -> Node | None:
    """Return the value at a path of keys, None if there is none. Raise NotJson."""
    if not text.strip(SPACE):
        return None
    node = scan(text)
    for key in path:
        if node.kind != "object" or key not in node.keys:
            return None
        node = node.items[_last(node.keys, key)]
    return node


# writing


def _inserted(text: str, node: Node, key: str | None, value: object) -> str:
    """Return the text with a member at the end of an object or array."""
    unit, newline = _unit(text), newline_of(text)
    if node.items:
        first = node.starts[0]
        line = text.rfind("\n", node.start, first)
        alone = line >= 0 and not text[line + 1 : first].strip(SPACE)  # each on a line of its own
        inner = text[line + 1 : first] if alone else _indent_of(text, node.start) + unit
        gap = newline + inner if alone else " "
        member = _member(key, value, inner, unit, newline)
        last = node.items[-1].end
        if node.comma:
            stop = _skip(text, last) + 1
            return text[:stop] + gap + member + "," + text[stop:]
        return f"{text[:last]},{gap}{member}{text[last:]}"
    outer = _indent_of(text, node.start)
    member = _member(key, value, outer + unit, unit, newline)
    inside = text[node.start + 1 : node.end - 1]
    kept = inside.rstrip(SPACE)  # a comment, perhaps
    return f"{text[: node.start + 1]}{kept}{newline}{outer}{unit}{member}{newline}{outer}{text[node.end - 1 :]}"


def _member(key: str | None, value: object, indent: str, unit: str, newline: str) -> str:
    shown = _written(value, indent, unit, newline)
    return shown if key is None else f"{json.dumps(key, ensure_ascii=False)}: {shown}"


def _written(value: object, indent: str, unit: str, newline: str) -> str:
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    return (newline + indent).join(lines)


def _indent_of(text: str, at: int) -> str:
    """Return the spaces at the beginning of the line that `at` stands on."""
    start = text.rfind("\n", 0, at) + 1
    return text[start : start + len(text[start:at]) - len(text[start:at].lstrip(" \t"))]


def _unit(text: str) -> str:
    """Return how far a level is indented: as the first indented line; two spaces where there is none."""
    for line in text.splitlines():
        if (bare := line.lstrip(" \t")) != line and bare.startswith(('"', "{", "[")):
            return line[: len(line) - len(bare)]
    return "  "


def newline_of(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _last(keys: Sequence[str], key: str) -> int:
    """Return where a key stands; of one that stands there twice, the last, which is the one that counts."""
    return len(keys) - 1 - list(reversed(keys)).index(key)


# reading


def _scan(text: str, at: int, depth: int) -> Node:
    if depth > DEEPEST:
        raise _wrong(text, at, "it is too deep")
    sign = text[at : at + 1]
    if sign == '"':
        return Node("string", at, _string(text, at))
    if sign not in ("{", "["):
        end = at
        while end < len(text) and text[end] not in SPACE + ',:{}[]"/':
            end += 1
        word = text[at:end]
        try:
            json.loads(word)
        except ValueError:
            raise _wrong(text, at, f"“{word[:20]}” is not a value" if word else "a value is missing") from None
        return Node("word", at, end)
    node = Node("object" if sign == "{" else "array", at)
    close = "}" if sign == "{" else "]"
    at = _skip(text, at + 1)
    while text[at : at + 1] != close:
        if node.items and not node.comma:
            raise _wrong(text, at, "a comma is missing")
        node.starts.append(at)
        if sign == "{":
            if text[at : at + 1] != '"':
                raise _wrong(text, at, "a name in quotes is missing")
            end = _string(text, at)
            node.keys.append(json.loads(text[at:end], strict=False))
            at = _skip(text, end)
            if text[at : at + 1] != ":":
                raise _wrong(text, at, "a colon is missing")
            at = _skip(text, at + 1)
        item = _scan(text, at, depth + 1)
        node.items.append(item)
        at = _skip(text, item.end)
        node.comma = text[at : at + 1] == ","
        if node.comma:
            at = _skip(text, at + 1)
    node.end = at + 1
    return node


def _string(text: str, at: int) -> int:
    """Return where the string that begins at `at` ends."""
    end = at + 1
    while end < len(text) and text[end] != '"':
        if text[end] == "\n":
            break
        end += 2 if text[end] == "\\" else 1
    if text[end : end + 1] != '"':
        raise _wrong(text, at, "a text has no end")
    try:
        json.loads(text[at : end + 1], strict=False)
    except ValueError:
        raise _wrong(text, at, "a text cannot be read") from None
    return end + 1


def _skip(text: str, at: int) -> int:
    """Return where the next thing begins that is neither space nor comment."""
    while at < len(text):
        if text[at] in SPACE:
            at += 1
        elif text.startswith("//", at):
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif text.startswith("/*", at):
            end = text.find("*/", at + 2)
            if end < 0:
                raise _wrong(text, at, "a comment has no end")
            at = end + 2
        else:
            break
    return at


def _value(text: str, node: Node) -> Any:
    if node.kind == "object":
        return {key: _value(text, item) for key, item in zip(node.keys, node.items, strict=True)}
    if node.kind == "array":
        return [_value(text, item) for item in node.items]
    return json.loads(text[node.start : node.end], strict=False)


def _wrong(text: str, at: int, why: str) -> NotJson:
    return NotJson(f"line {text.count(chr(10), 0, at) + 1}: {why}")
