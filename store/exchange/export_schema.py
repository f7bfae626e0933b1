"""The format of an export: the columns of each table, read from the schema of the memory itself.

The published description, `export.schema.json`, is generated from it: `python -m store.exchange.export_schema`. A test
generates it again and compares, so a new or removed column changes the description, the export and the import together.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import apsw

from store.database.database import Database
from store.database.schema import JOURNAL_TABLES, RECORDED_TABLES, SCHEMA_VERSION

EXPORT_FORMAT = "memoranda-export"
# before the checksum that an installation signs
EXPORT_SEAL = b"export\0"
EXPORT_VERSION = 2
"""1 had no checksums, and a space after each colon."""
EXPORT_TABLES = (*RECORDED_TABLES, *JOURNAL_TABLES)
MOMENT_PATTERN = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
SHA256_PATTERN = "[0-9a-f]{64}"
# columns whose text is JSON, and its type: a list of texts, a list, an object, or anything; for a column not named
# here, a default of '[]' makes it a list and one of 'null' anything
JSON_COLUMN_TYPES = {
    ("facts", "evidence"): "texts",
    ("facts", "tags"): "texts",
    ("decisions", "alternatives"): "texts",
    ("decisions", "tags"): "texts",
    ("tasks", "tags"): "texts",
    ("decisions", "evidence"): "texts",
    ("proposals", "change"): "object",
    ("proposals", "others"): "texts",
    ("proposals", "evidence"): "list",
    ("history_row", "pk"): "list",
    ("history_row", "before"): "object",
    ("history_row", "after"): "object",
}
# texts in a format of their own, which contain nobody's words
TEXT_PATTERNS = {
    ("facts", "text_hash"): "[0-9a-f]{32}",
    ("proposals", "asked"): "([0-9a-f]{32})?",
    ("proposals", "based_on"): "([0-9a-f]{32})?",
    ("commits", "sha"): "[0-9a-f]{7,64}",
    ("history_row", "tbl"): "[a-z_]+",
    ("history", "door"): "[a-z]+",
}
# of a column in the published description
COLUMN_DEPTH = 7
_CHECK_CONSTRAINT = re.compile(r"CHECK\s*\(\s*(\w+)\s+IN\s*\(([^)]*)\)")


@dataclass(slots=True, eq=False, repr=False)
class ExportColumn:
    """One column: `kind` is INTEGER, REAL, TEXT or BLOB; `words` the closed list of its values, empty if it has none;
    `pattern` the format of its text; `json` the JSON type of its text. `key` counts from 1 within the primary key, 0
    for the others. `default` is what an older document's rows get, as SQL; None where there is none."""

    table: str
    name: str
    kind: str
    nullable: bool
    default: str | None
    key: int
    words: tuple[Any, ...]
    json: str = field(init=False)
    pattern: str = field(init=False)

    def __post_init__(self) -> None:
        place = (self.table, self.name)
        self.json = JSON_COLUMN_TYPES.get(place) or {"'[]'": "list", "'null'": "any"}.get(self.default or "", "")
        moment = self.kind == "TEXT" and (self.name == "at" or self.name.endswith("_at"))
        self.pattern = MOMENT_PATTERN if moment else TEXT_PATTERNS.get(place, "")

    @property
    def is_moment(self) -> bool:
        """Tell whether the column holds a moment."""
        return self.pattern == MOMENT_PATTERN


def export_columns(connection: apsw.Connection, table: str, schema: str = "main") -> tuple[ExportColumn, ...]:
    """Return the columns of a table, in order; none if there is no such table."""
    sql = connection.execute(f"SELECT sql FROM {schema}.sqlite_schema WHERE name = ?", (table,)).get
    words = {
        name: tuple(map(_parse_sql_literal, listed.split(",")))
        for name, listed in _CHECK_CONSTRAINT.findall(sql or "")
    }
    return tuple(
        ExportColumn(table, name, kind, not (notnull or key), default, key, words.get(name, ()))
        for name, kind, notnull, default, key in connection.execute(
            f'SELECT name, upper(type), "notnull", dflt_value, pk FROM {schema}.pragma_table_info(?)', (table,)
        )
    )


def list_key_columns(columns: Sequence[ExportColumn]) -> str:
    """Return the columns of the primary key, in its order, as SQL lists them."""
    return ", ".join(column.name for column in sorted(columns, key=lambda column: column.key) if column.key)


def _parse_sql_literal(text: str) -> str | int:
    """Parse a text or a whole number as SQL writes it."""
    text = text.strip()
    return text[1:-1] if text.startswith("'") else int(text)


def export_json_schema(connection: apsw.Connection, schema: int) -> dict[str, Any]:
    """Return the JSON Schema of an export of this memory."""
    rows = {
        table: _object_schema({column.name: _value_schema(column) for column in export_columns(connection, table)})
        for table in EXPORT_TABLES
    }
    checksum = {"type": "string", "pattern": f"^{SHA256_PATTERN}$"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An export of a Memoranda memory",
        "description": (
            "UTF-8; each row of a table is one line, and each bracket of a table has a line of its own. A table's"
            " checksum is the SHA-256 of the bytes between the line that opens it and the line that closes it; the"
            " last one is that of all bytes before its own line."
        ),
        "type": "object",
        "properties": {
            "format": {"const": EXPORT_FORMAT},
            "version": {"const": EXPORT_VERSION},
            "schema": {"const": schema},
            "tables": _object_schema({table: {"type": "array", "items": row} for table, row in rows.items()}),
            "sequence": {
                "description": "The highest id that each table ever gave",
                "type": "object",
                "propertyNames": {"enum": list(EXPORT_TABLES)},
                "additionalProperties": {"type": "integer", "minimum": 0},
            },
            "checksums": _object_schema(dict.fromkeys(EXPORT_TABLES, checksum)),
            "checksum": checksum,
            "seal": {"description": "By which the installation that wrote it knows it as its own", **checksum},
        },
        "required": ["format", "version", "schema", "tables", "sequence", "checksums", "checksum"],
        "additionalProperties": False,
    }


def _object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of an object that has exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _value_schema(column: ExportColumn) -> dict[str, Any]:
    """Return the JSON Schema of a column's value."""
    kind = {"INTEGER": "integer", "REAL": "number", "TEXT": "string", "BLOB": "string"}[column.kind]
    rule: dict[str, Any] = {"type": [kind, "null"] if column.nullable else kind}
    if column.words:
        rule["enum"] = [*column.words, None] if column.nullable else list(column.words)
    if column.pattern:
        rule["pattern"] = f"^{column.pattern}$"
    if column.kind == "BLOB":
        rule["pattern"] = "^([0-9a-f]{2})*$"
    if column.json:
        rule |= {"contentMediaType": "application/json"}
    return rule


def main() -> None:
    """Write the published description again."""
    with tempfile.TemporaryDirectory() as folder:
        database = Database(os.path.join(folder, "memory.db"), "cli")
        described = export_json_schema(database.connection, SCHEMA_VERSION)
        database.close()
    with open(os.path.join(os.path.dirname(__file__), "export.schema.json"), "w", encoding="utf-8") as file:
        file.write(_format_schema(described, COLUMN_DEPTH) + "\n")


def _format_schema(value: Any, depth: int) -> str:
    """Return JSON with a line for each name, down to a depth: those of the columns are the last."""
    if not depth or not isinstance(value, dict):
        return json.dumps(value)
    inner = (f'"{name}": {_format_schema(one, depth - 1)}' for name, one in value.items())
    return "{\n" + ",\n".join(inner) + "\n}"


if __name__ == "__main__":
    main()
