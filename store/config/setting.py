"""One setting: what it may be, and who may set it."""

from store.base.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SAID = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
VARIABLE = "MEMORANDA_"
"""Prefix of the environment variable of a setting: `MEMORANDA_RETENTION_DAYS` sets `retention_days`."""
BY_ENVIRONMENT = (
    *("retention_days", "turns.retention_days", "checkpoints.micro_days", "checkpoints.meso_days"),
    *("checkpoints.macro_days", "checkpoints.archival_days", "plain"),
)
"""The settings that a variable may set: retention periods, and what a machine's user needs everywhere."""


class Setting:
    """One setting; `kind` is bool, int or number (0 to `most`), text, list (of texts), choice (of `choices`), keys, or
    address (of a database, without a password, which would be shown and kept).

    A setting with a reason to be `own` ("names a program that is run") is read only from the person's own file, never
    from a project's. One that `reaches` outside of the project is read from the project's file once the person allowed
    that file (`granted`); so is a number of days to `keep` something that is less than the value without it, 0 meaning
    for ever.
    """

    __slots__ = ("choices", "default", "keep", "kind", "meaning", "most", "name", "own", "reaches")

    def __init__(
        self,
        name: str,
        kind: str,
        default: "Any",
        meaning: str,
        choices: tuple[str, ...] = (),
        most: float = 0,
        own: str = "",
        reaches: bool = False,
        keep: bool = False,
    ) -> None:
        self.name = name
        self.kind = kind
        self.default = default
        self.meaning = meaning
        self.choices = choices
        self.most = most
        self.own = own
        self.reaches = reaches
        self.keep = keep

    def asks(self, value: "Any", before: "Any") -> bool:
        """Return whether a project's file needs the person's permission for this value, where `before` holds without
        it."""
        return value != before and (self.reaches or bool(self.keep and value and (not before or value < before)))

    @property
    def variable(self) -> str:
        """The environment variable that overrides every file; empty if there is none."""
        return VARIABLE + self.name.replace(".", "_").upper() if self.name in BY_ENVIRONMENT else ""

    @property
    def takes(self) -> str:
        """What it may be, for a sentence."""
        return {
            "bool": "true or false",
            "int": f"a whole number from 0 to {self.most}",
            "number": f"a number from 0 to {self.most}",
            "text": "a text of one line",
            "address": "an address without a password (that is for ~/.pgpass or PGPASSWORD), as in postgresql://me@host/name",
            "choice": " or ".join(self.choices),
            "list": "texts of one line, with commas between them",
            "keys": "one or more keys, as in F, or ctrl+f,f",
        }[self.kind]

    def fits(self, value: object) -> bool:
        """Return whether a value from a file is valid."""
        if self.kind == "bool":
            return isinstance(value, bool)
        if self.kind == "int":
            return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= self.most
        if self.kind == "number":
            return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= self.most
        if self.kind == "list":
            return isinstance(value, list) and all(
                isinstance(item, str) and item and item.isprintable() for item in value
            )
        if not isinstance(value, str):
            return False
        if self.kind == "choice":
            return value in self.choices
        if self.kind == "keys":
            return value.isprintable() and all(key and " " not in key for key in value.split(","))
        if self.kind == "address" and _holds_password(value):
            return False
        return value.isprintable()

    def parse(self, text: str) -> "Any":
        """Parse a value that a person typed. Raise InvalidInput, which lists the valid ones."""
        value: object = text
        if self.kind == "bool":
            value = _SAID.get(text.lower())
        elif self.kind == "list":
            value = [item.strip() for item in text.split(",") if item.strip()]
        elif self.kind == "int" and text.isascii() and text.isdigit() and len(text) < 19:
            value = int(text)
        elif self.kind == "number":
            try:
                value = float(text)
            except ValueError:
                value = None
        if not self.fits(value):
            raise InvalidInput(f"{self.name} takes {self.takes}.", f"It means: {self.meaning}.")
        return value


def _holds_password(address: str) -> bool:
    """Return whether a password is written in the address of a database, in its URI or its parameters."""
    from urllib.parse import unquote

    user = address.partition("://")[2].partition("/")[0].rpartition("@")[0]
    return bool(user.partition(":")[2]) or "password=" in unquote(address).lower().replace(" ", "")
