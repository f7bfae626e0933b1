"""Questions to a model with answers in JSON.

Turns and records are put into a question as numbered data, with nothing in them that could end a message. An answer is
JSON of one form, and refers to what was shown by number or quotes it. Nothing in it is executed, opened or obeyed.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, NamedTuple, TypeVar

from store.base.clock import days_before, format_how_long_ago
from store.base.errors import ModelFailed
from store.config.configuration import Config
from store.database.database import Database, Transaction
from store.database.values import Verbatim
from store.librarian import model_selection
from store.librarian.chat import ChatMessage, ChatModel
from store.text.display import agree_verb, format_count, format_seconds
from store.text.fence import make_harmless, strip_invisible
from store.text.words import shorten_to_tokens

# Log of the model's last calls, for a person to read: the answer, why it was dropped, and what was used instead.
#
# Entries are kept for a day. They are not searched and not sent to a model; a purge deletes all of them.

CALL_LOG_DAYS = 1
MAX_LOGGED_CALLS = 200  # calls
# characters of an answer
MAX_LOGGED_ANSWER = 4_000
TASK_FALLBACKS = {
    "extract_facts": "requests by rule",
    "reconfirm": "what was repeated word for word",
    "summarize": "whole sentences of what was said",
    "slug": "the first words of what was said",
    "classify_domain": "general",
    "rank_facts": "the order of the search",
    "consolidate": "the facts' own words",
    "answer": "the order of the search",
}
"""What each task uses where the model's answer cannot be used."""


class LoggedCall(NamedTuple):
    """One call. `dropped` is why its answer, or a part of it, was not used, and `fallback` what was used instead; both
    are empty where all of it was used. `seconds` is how long it took."""

    id: int
    at: str
    task: str
    model: str
    seconds: float
    answer: str
    dropped: str = ""
    fallback: str = ""

    @property
    def outcome(self) -> str:
        """What became of its answer, in a few words."""
        if self.fallback and self.dropped:
            return f"{self.dropped.rstrip('.')}; instead: {self.fallback}"
        if self.fallback:
            return f"instead: {self.fallback}"
        return self.dropped or "used"

    def describe(self, now: str) -> list[str]:
        """Return all of it, in lines."""
        ago, took = format_how_long_ago(now, self.at), format_seconds(self.seconds)
        lines = [f"{self.task}, {self.model}, {ago}, {took}"]
        lines += [f"Dropped: {self.dropped}"] if self.dropped else []
        lines += [f"Used instead: {self.fallback}."] if self.fallback else []
        return [*lines, "", *(self.answer.splitlines() or ["No answer came."])]


def note_last_call(write: Transaction, task: str, column: str, text: str) -> None:
    """Note of the last call of a task why its answer, or a part of it, was not used (column `dropped`), or what was
    used in its place (`fallback`)."""
    last = "SELECT max(id) FROM model_calls WHERE task = ?"
    write.execute(f"UPDATE model_calls SET {column} = ? WHERE id = ({last})", (text, Verbatim(task)))


def list_recent_calls(database: Database, now: str) -> list[LoggedCall]:
    """List the calls of the last day, the newest first."""
    rows = database.rows(
        "SELECT id, at, task, model, ms / 1000.0, answer, dropped, fallback FROM model_calls WHERE at >= ?"
        " ORDER BY id DESC",
        (days_before(now, CALL_LOG_DAYS),),
    )
    return [LoggedCall(*row) for row in rows]


def expire_model_calls(database: Database, now: str) -> None:
    """Delete the calls that are older than a day."""
    database.delete_before("model_calls", "at", days_before(now, CALL_LOG_DAYS), "model")


# Use of the model by task: how often it was asked, its answers were valid, and a rule was used in its place.
# Operational data; a few rows.

# held by the process that runs the model over queued turns
MODEL_LEASE = "model"


class ModelStats(NamedTuple):
    """The use of the model in a memory, for the top line: `seconds` of the last answer (None before the first),
    `queued` turns, how often the model was `asked`, how often rules were used in its place (`by_rule`), and whether any
    process is `working` with it now."""

    seconds: float | None = None
    queued: int = 0
    asked: int = 0
    by_rule: int = 0
    working: bool = False

    def describe(self) -> str:
        """Return the numbers in a sentence; empty if the model was never called and nothing waits for it."""
        words = {
            f"asked {format_count(self.asked, 'time')} for this memory": self.asked,
            f"answered from the records instead {format_count(self.by_rule, 'time')}": self.by_rule,
            f"the last answer took {format_seconds(self.seconds or 0)}": self.seconds is not None,
            f"{format_count(self.queued, 'turn')} {agree_verb(self.queued, 'wait for it')}": self.queued,
        }
        said = ", ".join(word for word, is_known in words.items() if is_known)
        return f"{said[0].upper()}{said[1:]}." if said else ""


def count_model_call(
    database: Database, task: str, model: str, milliseconds: int, kind: str, answer: str = "", dropped: str = ""
) -> None:
    """Count a call and log its answer. `kind` is the kind of its failure, empty where it succeeded; `dropped` why its
    answer is not used."""
    if database.read_only or database.moment:
        return
    with database.write("agent", "model") as write:
        write.execute(
            "INSERT INTO model_use(task, asked, valid, last_ms, total_ms, kind, model, at) VALUES"
            " (?1,1,?2,?3,?3,?4,?5,?6)"
            " ON CONFLICT(task) DO UPDATE SET asked = asked + 1, valid = valid + ?2, last_ms = ?3,"
            " total_ms = total_ms + ?3, kind = ?4, model = ?5, at = ?6",
            (Verbatim(task), int(not kind), milliseconds, Verbatim(kind), model[:80], write.at),
        )
        write.insert(
            "model_calls",
            at=write.at,
            task=Verbatim(task),
            model=model[:80],
            ms=milliseconds,
            answer=answer[:MAX_LOGGED_ANSWER],
            dropped=dropped,
        )
        write.execute("DELETE FROM model_calls WHERE at < ?", (Verbatim(days_before(write.at, CALL_LOG_DAYS)),))
        write.execute(
            "DELETE FROM model_calls WHERE id <= (SELECT max(id) - ? FROM model_calls)", (MAX_LOGGED_CALLS,)
        )


def count_fallback(database: Database, task: str) -> None:
    """Count that a rule was used because the model failed."""
    if database.read_only or database.moment:
        return
    with database.write("agent", "model") as write:
        write.execute(
            "INSERT INTO model_use(task, fell_back, at) VALUES (?1, 1, ?2)"
            " ON CONFLICT(task) DO UPDATE SET fell_back = fell_back + 1",
            (Verbatim(task), write.at),
        )
        note_last_call(write, task, "fallback", TASK_FALLBACKS.get(task, ""))


def read_model_stats(database: Database, now: str) -> ModelStats:
    """Return the numbers as they are now; counts a few hundred rows at most."""
    queued = database.number(
        "SELECT count(DISTINCT turn) FROM pending_extraction WHERE task GLOB 'model.*' AND attempts < 3"
    )
    working = (
        database.value("SELECT 1 FROM leases WHERE name = ? AND expires_at > ?", (MODEL_LEASE, now)) is not None
    )
    asked, fell_back = database.rows("SELECT coalesce(sum(asked), 0), coalesce(sum(fell_back), 0) FROM model_use")[
        0
    ]
    seconds = database.value("SELECT last_ms / 1000.0 FROM model_use WHERE asked ORDER BY at DESC LIMIT 1")
    return ModelStats(seconds, queued, max(asked, fell_back), fell_back, working)


Form = TypeVar("Form")
Result = TypeVar("Result")

# tokens of the data in one question
MAX_DATA_TOKENS = 1_800


class ModelSession:
    """A model with its timeout in seconds, and the memory in which its calls are counted and logged."""

    def __init__(self, chat: ChatModel, seconds: float, database: Database | None = None) -> None:
        self.chat = chat
        self.name = chat.name
        self.seconds = seconds
        self._database = database

    def ask_for_form(self, task: str, form: type[Form], messages: Sequence[ChatMessage], predict: int) -> Form:
        """Ask for an answer of this form, whose JSON schema is added to the first message. Raise ModelFailed."""
        shape = make_form_schema(form)
        (role, system), *rest = messages
        instructions = f"{system}\nJSON: {json.dumps(shape, ensure_ascii=False, separators=(',', ':'))}"
        began, raw = time.monotonic(), ""
        try:
            raw = self.chat.answer(
                [(role, instructions), *rest], schema=shape, predict=predict, seconds=self.seconds
            )
            found = parse_form(raw, form)
        except ModelFailed as failed:
            if failed.kind != "stopped":
                self.count_call(task, began, failed.kind, raw, failed.message)
            raise
        self.count_call(task, began, "", raw)
        return found

    def run_or_fall_back(self, task: str, by_model: Callable[[], Result], by_rule: Callable[[], Result]) -> Result:
        """Return the result of the model or, if it fails, of the rule. Raise ModelFailed when the question was
        cancelled."""
        try:
            return by_model()
        except ModelFailed as failed:
            if failed.kind == "stopped":
                raise
            if self._database is not None:
                count_fallback(self._database, task)
            return by_rule()

    def log_dropped(self, task: str, why: str) -> None:
        """Log why the last answer of a task, or a part of it, is not used."""
        if self._database is not None and not self._database.read_only:
            with self._database.write("agent", "model") as write:
                note_last_call(write, task, "dropped", why)

    def count_call(self, task: str, began: float, kind: str, answer: str = "", dropped: str = "") -> None:
        """Count and log a call that `began` at a time of `time.monotonic`; see `count_model_call`."""
        if self._database is not None:
            spent = round((time.monotonic() - began) * 1000)
            count_model_call(self._database, task, self.name, spent, kind, answer, dropped)


@contextmanager
def open_model_session(
    config: Config, database: Database, patience: str, **limits: Any
) -> Iterator[ModelSession | None]:
    """Yield the selected model, and close it at the end; None where rules are used. It may take as long for a question
    as the setting `patience` says; `limits` as of `open_selected_model`."""
    chat = model_selection.open_selected_model(config, **limits)
    if chat is None:
        yield None
        return
    with closing(chat):
        yield ModelSession(chat, float(config[patience]), database)


def number_texts(texts: Sequence[str]) -> str:
    """Return texts as a question shows them: one a line, numbered from 1, at most MAX_DATA_TOKENS in all."""
    each = max(20, MAX_DATA_TOKENS // max(1, len(texts)))
    return "\n".join(
        f"{number}. {shorten_to_tokens(' '.join(make_harmless(text).split()), each)}"
        for number, text in enumerate(texts, 1)
    )


class ModelChoice:
    """Annotation of a text field: one of these words. Only the schema lists them; reading accepts any word, so that one
    wrong word does not cost the whole answer."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = list(words)

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        return {**handler(core), "enum": self._words}


def _adapt_type(form: type) -> Any:
    """Return pydantic's reader and schema of a form."""
    # 60 ms and 12 MB, which only a process that asks a model needs
    from pydantic import TypeAdapter

    return TypeAdapter(form)


def make_form_schema(form: type) -> dict[str, Any]:
    """Return the JSON schema of a form, without titles, descriptions and defaults, references resolved in place:
    servers support little more."""
    raw = _adapt_type(form).json_schema()
    parts = raw.pop("$defs", {})

    def plain(node: Any) -> Any:
        if isinstance(node, list):
            return [plain(one) for one in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            return plain(parts[node["$ref"].rpartition("/")[2]])
        return {
            name: {key: plain(one) for key, one in value.items()} if name == "properties" else plain(value)
            for name, value in node.items()
            if name not in ("title", "description", "default")
        }

    found: dict[str, Any] = plain(raw)
    return found


def parse_form(raw: str, form: type[Form]) -> Form:
    """Return an answer as its form: text around the JSON is ignored, invisible characters are removed. Raise
    ModelFailed."""
    start = raw.find("{")
    try:
        value, _ = json.JSONDecoder().raw_decode(raw, start) if start >= 0 else (json.loads(raw), 0)
        checked: Form = _adapt_type(form).validate_python(_clean_value(value))
        return checked
    except (ValueError, RecursionError):  # a ValidationError is a ValueError
        raise ModelFailed("broken", "The model's answer does not have the requested form.", "") from None


def _clean_value(value: Any) -> Any:
    """Return a JSON value with its texts made plain (see `strip_invisible`)."""
    if isinstance(value, str):
        return strip_invisible(value)
    if isinstance(value, list):
        return [_clean_value(one) for one in value]
    return {name: _clean_value(one) for name, one in value.items()} if isinstance(value, dict) else value
