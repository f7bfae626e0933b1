"""Checks the arguments of a call against the tool's schema. What can only be meant in one way is taken so: a number
written as text, one text where several may stand."""

import re
from typing import Any

from store.base.errors import InvalidInput

LONGEST = 100_000  # characters of one text
MOST = 200  # items of one list


def checked(tool: dict[str, Any], given: object) -> dict[str, Any]:
    """Return the arguments of a call, those that were left out or null not among them. Raise InvalidInput with what is
    wrong and what the tool takes."""
    if given is None:
        given = {}
    if not isinstance(given, dict):
        raise InvalidInput("The arguments are not an object.", _takes(tool))
    schema = tool["inputSchema"]
    properties = schema["properties"]
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name not in properties:
            raise InvalidInput(f"{tool['name']} has no parameter “{str(name)[:40]}”.", _takes(tool))
        if value is not None:
            found[name] = _value(name, properties[name], value)
    for name in schema.get("required", ()):
        if name not in found or (isinstance(found[name], str) and not found[name].strip()):
            raise InvalidInput(f"{tool['name']} needs {name}.", _takes(tool))
    return found


def _takes(tool: dict[str, Any]) -> str:
    required = tool["inputSchema"].get("required", ())
    names = [f"{name} (required)" if name in required else name for name in tool["inputSchema"]["properties"]]
    return f"It takes: {', '.join(names)}." if names else "It takes no arguments."


def _value(name: str, schema: dict[str, Any], value: object) -> Any:
    kind = schema["type"]
    if kind == "array":
        items = [value] if isinstance(value, str | int) and not isinstance(value, bool) else value
        if not isinstance(items, list):
            raise InvalidInput(f"{name} is a list.", f'For example: {name}: ["…"].')
        if len(items) > MOST:
            raise InvalidInput(f"{name} holds {MOST} items at most.", "Say it in several calls.")
        return [_value(f"each of {name}", schema["items"], item) for item in items]
    if kind == "string":
        return _text(name, schema, value)
    if isinstance(value, str):
        value = _number(value, kind)
    if isinstance(value, float) and kind == "integer" and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int if kind == "integer" else int | float):
        raise InvalidInput(f"{name} is a {'whole number' if kind == 'integer' else 'number'}.", _range(name, schema))
    if not schema.get("minimum", value) <= value <= schema.get("maximum", 2**53):  # NaN is in no range
        raise InvalidInput(f"{name} is out of range.", _range(name, schema))
    return value


def _text(name: str, schema: dict[str, Any], value: object) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise InvalidInput(f"{name} is a text.", "Write it in quotes.")
    if len(value) > LONGEST:
        raise InvalidInput(f"{name} holds {LONGEST:,} characters at most.", "Say it in less.")
    choices = schema.get("enum")
    if choices and value not in choices:
        raise InvalidInput(f"{name} cannot be “{value[:40]}”.", f"Choose one of: {', '.join(choices)}.")
    return value


def _number(text: str, kind: str) -> object:
    match = re.fullmatch(r"\s*(?:[A-Za-z]?#)?([0-9]{1,18})\s*", text)  # D#3 is 3, too
    if kind == "integer":
        return int(match[1]) if match else text
    try:
        return float(text)
    except ValueError:
        return text


def _range(name: str, schema: dict[str, Any]) -> str:
    if "minimum" in schema and "maximum" in schema:
        return f"{name}: from {schema['minimum']} to {schema['maximum']}."
    return f"{name}: {schema['minimum']} or more." if "minimum" in schema else f"{name}: a number."
