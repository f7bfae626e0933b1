"""Questions to a model with answers in JSON.

Turns and records are put into a question as numbered data, with nothing in them that could end a message. An answer is
JSON of one form, and refers to what was shown by number or quotes it. Nothing in it is executed, opened or obeyed.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, TypeVar

from store.base import token_count
from store.base.errors import ModelFailed
from store.config.configuration import Config
from store.database.database import Database
from store.llm import call_log, model_selection, usage_stats
from store.llm.chat import Chat, Message
from store.text.fence import harmless, plain

Form = TypeVar("Form")
Result = TypeVar("Result")

LONGEST = 1_800  # tokens of the data in one question


class ModelSession:
    """A model with its timeout in seconds, and the memory in which its calls are counted and logged."""

    def __init__(self, chat: Chat, seconds: float, database: Database | None = None) -> None:
        self.chat = chat
        self.name = chat.name
        self.seconds = seconds
        self._database = database

    def ask(self, task: str, form: type[Form], messages: Sequence[Message], predict: int) -> Form:
        """Ask for an answer of this form, whose JSON schema is added to the first message. Raise ModelFailed."""
        shape = schema(form)
        (role, system), *rest = messages
        instructions = f"{system}\nJSON: {json.dumps(shape, ensure_ascii=False, separators=(',', ':'))}"
        began, raw = time.monotonic(), ""
        try:
            raw = self.chat.answer([(role, instructions), *rest], schema=shape, predict=predict, seconds=self.seconds)
            found = read(raw, form)
        except ModelFailed as failed:
            if failed.kind != "stopped":
                self.count(task, began, failed.kind, raw, failed.message)
            raise
        self.count(task, began, "", raw)
        return found

    def or_rule(self, task: str, by_model: Callable[[], Result], by_rule: Callable[[], Result]) -> Result:
        """Return the result of the model or, if it fails, of the rule. Raise ModelFailed when the question was
        cancelled."""
        try:
            return by_model()
        except ModelFailed as failed:
            if failed.kind == "stopped":
                raise
            if self._database is not None:
                usage_stats.fell_back(self._database, task)
            return by_rule()

    def drop(self, task: str, why: str) -> None:
        """Log why the last answer of a task, or a part of it, is not used."""
        if self._database is not None and not self._database.read_only:
            with self._database.write("agent", "model") as write:
                call_log.note(write, task, "dropped", why)

    def count(self, task: str, began: float, kind: str, answer: str = "", dropped: str = "") -> None:
        """Count and log a call that `began` at a time of `time.monotonic`; see `usage_stats.count`."""
        if self._database is not None:
            spent = round((time.monotonic() - began) * 1000)
            usage_stats.count(self._database, task, self.name, spent, kind, answer, dropped)


@contextmanager
def selected(config: Config, database: Database, patience: str, **limits: Any) -> Iterator[ModelSession | None]:
    """Yield the selected model, and close it at the end; None where rules are used. It may take as long for a question
    as the setting `patience` says; `limits` as of `model_selection.found`."""
    chat = model_selection.found(config, **limits)
    if chat is None:
        yield None
        return
    with closing(chat):
        yield ModelSession(chat, float(config[patience]), database)


def numbered(texts: Sequence[str]) -> str:
    """Return texts as a question shows them: one a line, numbered from 1, at most LONGEST tokens in all."""
    each = max(20, LONGEST // max(1, len(texts)))
    return "\n".join(
        f"{number}. {token_count.cut(' '.join(harmless(text).split()), each)}" for number, text in enumerate(texts, 1)
    )


class ModelChoice:
    """Annotation of a text field: one of these words. Only the schema lists them; reading accepts any word, so that one
    wrong word does not cost the whole answer."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = list(words)

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        return {**handler(core), "enum": self._words}


def schema(form: type) -> dict[str, Any]:
    """Return the JSON schema of a form, without titles, descriptions and defaults, references resolved in place:
    servers support little more."""
    from pydantic import TypeAdapter

    raw = TypeAdapter(form).json_schema()
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


def read(raw: str, form: type[Form]) -> Form:
    """Return an answer as its form: text around the JSON is ignored, invisible characters are removed. Raise
    ModelFailed."""
    from pydantic import TypeAdapter, ValidationError

    start = raw.find("{")
    try:
        value, _ = json.JSONDecoder().raw_decode(raw, start) if start >= 0 else (json.loads(raw), 0)
        return TypeAdapter(form).validate_python(_seen(value))
    except (ValueError, RecursionError, ValidationError):
        raise ModelFailed("broken", "The model's answer does not have the requested form.", "") from None


def _seen(value: Any) -> Any:
    """Return a JSON value with its texts made plain (see `fence.plain`)."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, list):
        return [_seen(one) for one in value]
    return {name: _seen(one) for name, one in value.items()} if isinstance(value, dict) else value
