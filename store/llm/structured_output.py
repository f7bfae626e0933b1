"""How a task asks a model, and reads its answer.

Turns and records go into a question as data, numbered by us, with nothing in it that ends a message. An answer is JSON
of one form, and names what was shown by its number or quotes it. Nothing in it is called, opened or obeyed.
"""

import json
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from store.base import token_count
from store.base.errors import ModelFailed
from store.database.database import Database
from store.llm import call_log, usage_stats
from store.llm.chat import Chat, Message
from store.text.fence import harmless, plain

Form = TypeVar("Form")
Result = TypeVar("Result")

LONGEST = 1_800  # tokens of what one question is about


class ModelSession:
    """A model, how many seconds it has for an answer, and the memory in which it is counted what came of it."""

    def __init__(self, chat: Chat, seconds: float, database: Database | None = None) -> None:
        self.chat = chat
        self.seconds = seconds
        self._database = database

    @property
    def name(self) -> str:
        """Who answers."""
        return self.chat.name

    def ask(self, task: str, form: type[Form], messages: Sequence[Message], predict: int) -> Form:
        """An answer of this form, whose schema the first message states. Raises ModelFailed."""
        shape = schema(form)
        (role, system), *rest = messages
        instructions = f"{system}\nJSON: {json.dumps(shape, ensure_ascii=False, separators=(',', ':'))}"
        began, raw = time.monotonic(), ""
        try:
            raw = self.chat.answer([(role, instructions), *rest], schema=shape, predict=predict, seconds=self.seconds)
            found = read(raw, form)
        except ModelFailed as failed:
            if failed.kind != "stopped":
                self._count(task, began, failed.kind, raw, failed.message)
            raise
        self._count(task, began, "", raw)
        return found

    def or_rule(self, task: str, by_model: Callable[[], Result], by_rule: Callable[[], Result]) -> Result:
        """What a model makes of a task, and where it fails, what the rule does. Raises ModelFailed when the question
        was taken back: nobody wants an answer then."""
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
                call_log.note_dropped(write, task, why)

    def _count(self, task: str, began: float, kind: str, answer: str, dropped: str = "") -> None:
        if self._database is not None:
            spent = round((time.monotonic() - began) * 1000)
            usage_stats.count(self._database, task, self.name, spent, kind, answer, dropped)


def numbered(texts: Sequence[str], limit: int = LONGEST) -> str:
    """Texts as a question shows them: one a line, numbered from 1, at most so many tokens in all."""
    each = max(20, limit // max(1, len(texts)))
    return "\n".join(
        f"{number}. {token_count.cut(' '.join(harmless(text).split()), each)}" for number, text in enumerate(texts, 1)
    )


class ModelChoice:
    """Of a form's text: a word of this list. The schema names them; another word is not refused, but looked at by
    whoever reads it, for one wrong word should not cost the whole answer."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = list(words)

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        return {**handler(core), "enum": self._words}


def schema(form: type) -> dict[str, Any]:
    """The JSON schema of a form, without what only a reader needs, its parts in place: servers differ in what else
    they understand."""
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
    """An answer as its form, whatever stands before and after the JSON, without what nobody sees in it or no file can
    hold. Raises ModelFailed."""
    from pydantic import TypeAdapter, ValidationError

    start = raw.find("{")
    try:
        value, _ = json.JSONDecoder().raw_decode(raw, start) if start >= 0 else (json.loads(raw), 0)
        return TypeAdapter(form).validate_python(_seen(value))
    except (ValueError, RecursionError, ValidationError):
        raise ModelFailed("broken", "The model's answer is not of the form it was told.", "") from None


def _seen(value: Any) -> Any:
    """A JSON value, the texts in it plain."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, list):
        return [_seen(one) for one in value]
    return {name: _seen(one) for name, one in value.items()} if isinstance(value, dict) else value
