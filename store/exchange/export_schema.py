"""The format of an export: the columns of each table, read from the schema of the memory itself.

The published description, `export.schema.json`, is generated from it: `python -m store.exchange.export_schema`. A test
generates it again and compares, so a new or removed column changes the description, the export and the import together.
"""

import re

from store.database.schema.tables import JOURNAL, RECORDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import apsw

FORMAT = "memoranda-export"
VERSION = 2
"""1 had no checksums, and a space after each colon."""
TABLES = (*RECORDED, *JOURNAL)
MOMENT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
SHA256 = "[0-9a-f]{64}"
# columns whose text is JSON, and its type: a list of texts, a list, an object, or anything; for a column not named
# here, a default of '[]' makes it a list and one of 'null' anything
JSON = {
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
PATTERNS = {
    ("facts", "text_hash"): "[0-9a-f]{32}",
    ("proposals", "asked"): "([0-9a-f]{32})?",
    ("proposals", "based_on"): "([0-9a-f]{32})?",
    ("commits", "sha"): "[0-9a-f]{7,64}",
    ("history_row", "tbl"): "[a-z_]+",
    ("history", "door"): "[a-z]+",
}
_WORDS = re.compile(r"CHECK\s*\(\s*(\w+)\s+IN\s*\(([^)]*)\)")


class ExportColumn:
    """One column: `kind` is INTEGER, REAL, TEXT or BLOB; `words` the closed list of its values, empty if it has none;
    `pattern` the format of its text; `json` the JSON type of its text. `key` counts from 1 within the primary key, 0
    for the others. `default` is what an older document's rows get, as SQL; None where there is none."""

    __slots__ = ("default", "json", "key", "kind", "name", "nullable", "pattern", "words")

    def __init__(
        self, table: str, name: str, kind: str, nullable: bool, default: str | None, key: int, words: "tuple[Any, ...]"
    ) -> None:
        self.name = name
        self.kind = kind
        self.nullable = nullable
        self.default = default
        self.key = key
        self.words = words
        self.json = JSON.get((table, name)) or {"'[]'": "list", "'null'": "any"}.get(default or "", "")
        moment = kind == "TEXT" and (name == "at" or name.endswith("_at"))
        self.pattern = MOMENT if moment else PATTERNS.get((table, name), "")

    @property
    def moment(self) -> bool:
        return self.pattern == MOMENT


def columns_of(connection: "apsw.Connection", table: str, schema: str = "main") -> tuple[ExportColumn, ...]:
    """Return the columns of a table, in order; none if there is no such table."""
    sql = connection.execute(f"SELECT sql FROM {schema}.sqlite_schema WHERE name = ?", (table,)).get
    words = {name: tuple(map(_literal, listed.split(","))) for name, listed in _WORDS.findall(sql or "")}
    return tuple(
        ExportColumn(table, name, kind, not (notnull or key), default, key, words.get(name, ()))
        for name, kind, notnull, default, key in connection.execute(
            f'SELECT name, upper(type), "notnull", dflt_value, pk FROM {schema}.pragma_table_info(?)', (table,)
        )
    )


def _literal(text: str) -> str | int:
    text = text.strip()
    return text[1:-1] if text.startswith("'") else int(text)


def json_schema(connection: "apsw.Connection", schema: int) -> "dict[str, Any]":
    """Return the JSON Schema of an export of this memory."""
    tables = {table: _table(columns_of(connection, table)) for table in TABLES}
    checksum = {"type": "string", "pattern": f"^{SHA256}$"}
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
            "format": {"const": FORMAT},
            "version": {"const": VERSION},
            "schema": {"const": schema},
            "tables": _object(tables),
            "sequence": {
                "description": "The highest id that each table ever gave",
                "type": "object",
                "propertyNames": {"enum": list(TABLES)},
                "additionalProperties": {"type": "integer", "minimum": 0},
            },
            "checksums": _object(dict.fromkeys(TABLES, checksum)),
            "checksum": checksum,
        },
        "required": ["format", "version", "schema", "tables", "sequence", "checksums", "checksum"],
        "additionalProperties": False,
    }


def _object(properties: "dict[str, Any]") -> "dict[str, Any]":
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _table(columns: tuple[ExportColumn, ...]) -> "dict[str, Any]":
    return {"type": "array", "items": _object({column.name: _value(column) for column in columns})}


def _value(column: ExportColumn) -> "dict[str, Any]":
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
    import json
    import os
    import tempfile

    from store.database.database import Database
    from store.database.schema.version import SCHEMA_VERSION

    with tempfile.TemporaryDirectory() as folder:
        database = Database(os.path.join(folder, "memory.db"), "cli")
        described = json_schema(database.connection, SCHEMA_VERSION)
        database.close()
    with open(os.path.join(os.path.dirname(__file__), "export.schema.json"), "w", encoding="utf-8") as file:
        file.write(json.dumps(described, indent=1) + "\n")


if __name__ == "__main__":
    main()
