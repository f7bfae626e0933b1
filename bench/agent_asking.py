"""The agent's tasks in the bench, by rule and with a model, and the scoring of answers.

With a model they run as in the application: the results of rules stay, and the model adds to them."""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from bench import agent_answers, extraction
from bench.agent_scores import has, has_all, rests
from store.base.errors import ModelFailed
from store.base.models import Turn
from store.conversations import sessions as session_snapshot
from store.conversations.summaries import SummaryFields, summarize_by_rule
from store.learning import rules as extract_rules
from store.learning.sentences import split_own_sentences

if TYPE_CHECKING:
    from store.librarian.chat import ChatMessage, ChatModel

Case = dict[str, Any]
SECONDS = 300.0  # timeout of a model's answer: this bench measures quality, and prints the latency beside it
DAY = "2026-10-05"
NOW = f"{DAY}T12:00:00.000Z"
VERDICTS = ("none", "propose", "supersede", "confirm")
# what is counted, with its total
COUNTED = {
    "valid": "asked",
    "found": "wanted",
    "false": "told",
    "quiet": "idle",
    "grounded": "shown",
    "right": "cases",
    "wrong": "cases",
    "missed": "cases",
    "cited": "sentences",
    "answered": "answerable",
    "refused": "unanswerable",
    "obeyed": "answers",
}


class Task(NamedTuple):
    """One task: `ready` returns the function that answers a case, by rule without a model; `score` counts an answer."""

    ready: Callable[[str, Heard | None], contextlib.AbstractContextManager[Callable[[Case], Any]]]
    score: Callable[[Case, Any], Counter[str]]


class Heard:
    """A model client that records the seconds of each answer by task, and failures. Answers can be cached in a file by
    request: a repeated request then returns the same answer at once, and adds its seconds to `replayed`."""

    def __init__(self, chat: ChatModel) -> None:
        self.name = chat.name
        self.task = ""
        self.asked = self.invalid = 0
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.failed: Counter[str] = Counter()
        self.replayed = 0.0
        self.judged: Callable[[], None] = lambda: None  # called after each judgement
        self._chat = chat
        self._kept: dict[str, tuple[str, float]] = {}
        self._file: str | None = None

    def keep(self, path: str) -> None:
        self._file = path
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    one = json.loads(line)
                    self._kept[one["asked"]] = (one["said"], one["seconds"])

    def answer(
        self, messages: Sequence[ChatMessage], *, schema: dict[str, Any] | None, predict: int, seconds: float
    ) -> str:
        return self._heard(
            messages,
            schema,
            predict,
            lambda: self._chat.answer(messages, schema=schema, predict=predict, seconds=SECONDS),
        )

    def log_odds(
        self, messages: Sequence[ChatMessage], *, yes: Sequence[str], no: Sequence[str], seconds: float
    ) -> float:
        """Measure it separately, as `judge`: one answer needs several."""
        task, self.task = self.task, "judge"

        def ask() -> str:
            return str(self._chat.log_odds(messages, yes=yes, no=no, seconds=SECONDS))

        try:
            return float(self._heard(messages, {"yes": list(yes), "no": list(no)}, 1, ask))
        finally:
            self.task = task
            self.judged()

    def _heard(
        self, messages: Sequence[ChatMessage], schema: dict[str, Any] | None, predict: int, ask: Callable[[], str]
    ) -> str:
        what = json.dumps([self.name, list(messages), schema, predict], ensure_ascii=False)
        asked = hashlib.sha256(what.encode()).hexdigest()
        self.asked += 1
        if asked in self._kept:
            said, took = self._kept[asked]
            self.replayed += took
        else:
            start = time.perf_counter()
            try:
                said = ask()
            except ModelFailed:
                self.failed[self.task] += 1
                raise
            took = time.perf_counter() - start
            self._kept[asked] = (said, took)
            if self._file:
                with open(self._file, "a", encoding="utf-8") as file:
                    file.write(
                        json.dumps({"asked": asked, "said": said, "seconds": took}, ensure_ascii=False) + "\n"
                    )
        self.seconds[self.task].append(took)
        return said


def _asking(heard: Heard, task: str) -> Any:
    from store.librarian.structured_output import ModelSession

    heard.task = task
    return ModelSession(heard, SECONDS)


def _tried(heard: Heard, ask: Callable[[], Any]) -> Any:
    """Return the model's result; None on failure, which counts as an invalid answer."""
    try:
        return ask()
    except ModelFailed:
        heard.invalid += 1
        return None


Asks = Callable[[Case], Any]


def _plain(
    name: str, rule: Asks, model: Callable[[Heard, Case, Any], Any]
) -> Callable[[str, Heard | None], contextlib.AbstractContextManager[Asks]]:
    """Return the function that answers a case: the rule, and with a model its result from the case and the rule's
    answer."""

    @contextlib.contextmanager
    def ready(folder: str, heard: Heard | None) -> Iterator[Asks]:
        def ask(case: Case) -> Any:
            ruled = rule(case)
            if heard is None:
                return ruled, 0, 0
            heard.task = name
            asked, invalid = heard.asked, heard.invalid
            given = _tried(heard, lambda: model(heard, case, ruled))
            return (ruled if given is None else given), heard.asked - asked, heard.invalid - invalid

        yield ask

    return ready


def _counted(score: Callable[[Case, Any], Counter[str]]) -> Callable[[Case, Any], Counter[str]]:
    def scored(case: Case, given: Any) -> Counter[str]:
        what, asked, invalid = given
        return score(case, what) + Counter(asked=asked, valid=asked - invalid)

    return scored


# extract_facts


def _extract_rule(case: Case) -> list[tuple[str, str]]:
    return [(one.text, one.domain) for one in extract_rules.extract_by_rule(case["role"], case["text"])]


def _extract_model(heard: Heard, case: Case, ruled: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the facts found by rules, with those that the model adds."""
    from store.learning.model_pass import plan_additions

    turn = Turn(1, "bench", 1, case["role"], "", case["text"], NOW, 0, None, "agent")
    found = [lesson.found for lesson in plan_additions(_asking(heard, "extract"), turn, _empty_database())]
    return [*ruled, *((one.text, one.domain) for one in found)]


@cache
def _empty_database() -> Any:
    """Return the database of an empty memory, which lives as long as the bench."""
    from store.memory import Memory

    folder = tempfile.mkdtemp(prefix="memoranda-bench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Memory.open(os.path.join(folder, "memory.db")).database


def _extract_score(case: Case, given: list[tuple[str, str]]) -> Counter[str]:
    wanted = case["facts"]
    met = [fact for fact in wanted if any(has_all(text, fact["has"]) for text, _ in given)]
    false = [text for text, _ in given if not _said(text, case)]
    return Counter(
        wanted=len(wanted),
        found=len(met),
        missed=len(wanted) - len(met),
        idle=not wanted,
        quiet=not wanted and not given,
        told=len(given),
        false=len(false),
        shown=len(given),
        grounded=sum(rests(text, case["text"]) for text, _ in given),
    )


def _said(text: str, case: Case) -> bool:
    """Return whether a text is at least a part of a fact of the case, or of another true statement of the turn
    (`also`): neither is false, even if not all of a fact was found."""
    return any(has(text, word) for fact in case["facts"] for word in fact["has"]) or any(
        has_all(text, beside) for beside in case["also"]
    )


# reconfirm


def _reconfirm_rule(case: Case) -> str:
    verdicts = extraction.verdicts(case["text"], case["fact"])
    return max(verdicts, key=VERDICTS.index, default="none")


def _reconfirm_model(heard: Heard, case: Case, ruled: str) -> str:
    """Ask the model where the rule is undecided."""
    from store.learning import tasks as reconfirm

    if ruled != "none":
        return ruled
    said = [sentence.text for sentence in split_own_sentences(case["text"]) if not sentence.question]
    verdicts = [
        reconfirm.ask_reconfirm(_asking(heard, "reconfirm"), text, [(1, case["fact"])]).get(1, "none")
        for text in said
    ]
    return max(verdicts, key=VERDICTS.index, default="none")


def _reconfirm_score(case: Case, given: str) -> Counter[str]:
    """Count as wrong what confirms an unsaid statement, or the opposite of one; as missed a question or nothing
    instead."""
    wanted = case["verdict"]
    right = given == wanted or (wanted == "confirm" and given == "propose")
    wrong = not right and (given == "confirm" or (given == "supersede" and wanted != "supersede"))
    return Counter(cases=1, right=right, wrong=wrong, missed=not right and not wrong)


# classify_domain, slug, rank_facts, consolidate


def _classify_model(heard: Heard, case: Case, ruled: str) -> str:
    from store.learning import tasks as classify_domain

    return classify_domain.ask_domain(_asking(heard, "classify"), case["text"])


def _classify_score(case: Case, given: str) -> Counter[str]:
    return Counter(cases=1, right=given in case["domain"], wrong=given not in case["domain"])


def _slug_model(heard: Heard, case: Case, ruled: str) -> str:
    from store.learning import tasks as slug

    return slug.ask_slug(_asking(heard, "slug"), _turns(case), DAY)


def _slug_score(case: Case, given: str) -> Counter[str]:
    right = has(given.replace("-", " "), case["has"])
    return Counter(cases=1, right=right, wrong=not right)


def _listed(case: Case) -> list[tuple[int, str]]:
    return list(enumerate(case["facts"]))


def _rank_rule(case: Case) -> list[int]:
    """Rank by the search's own order, as a context does."""
    from store.memory import Memory
    from store.upkeep import background_embedding

    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        path = os.path.join(folder, ".memoranda", "memory.db")
        memory = stack.enter_context(Memory.open(path, "cli", lambda: NOW))
        facts = {memory.facts.remember(text)[0]: number for number, text in _listed(case)}
        background_embedding.embed_waiting(memory)
        found = [facts[hit.record.id] for hit in memory.search(case["question"], kinds=("fact",)).hits]
    return [*found, *(number for number in facts.values() if number not in found)]


def _rank_model(heard: Heard, case: Case, ruled: list[int]) -> list[int]:
    from store.learning import tasks as rank_facts

    came = [(number, case["facts"][number]) for number in ruled]
    return list(rank_facts.ask_ranking(_asking(heard, "rank"), case["question"], came).ids)


def _rank_score(case: Case, given: list[int]) -> Counter[str]:
    right = given[:1] == case["best"][:1]
    return Counter(cases=1, right=right, wrong=not right)


def _consolidate_rule(case: Case) -> str:
    from store.inbox.duplicates import join_fact_texts

    return join_fact_texts(case["facts"])


def _consolidate_model(heard: Heard, case: Case, ruled: str) -> str:
    from store.learning import tasks as consolidate

    return consolidate.ask_consolidated(_asking(heard, "consolidate"), case["facts"])


def _consolidate_score(case: Case, given: str) -> Counter[str]:
    """Count as right a sentence that loses nothing of any, or none at all."""
    whole = " ".join(case["facts"])
    right = not given or (rests(given, whole) and all(rests(fact, given) for fact in case["facts"]))
    right = right and (not given or has_all(given, case["keep"]))
    return Counter(
        cases=1, right=right, wrong=not right, shown=bool(given), grounded=bool(given) and rests(given, whole)
    )


# summarize


def _turns(case: Case) -> list[Turn]:
    return [
        Turn(number, "bench", number, turn["role"], "", turn["text"], NOW, 0, None, "agent")
        for number, turn in enumerate(case["turns"], 1)
    ]


def _summarise_model(heard: Heard, case: Case, ruled: SummaryFields) -> SummaryFields:
    from store.learning import tasks as summarize

    return summarize.ask_summary(_asking(heard, "summarise"), _turns(case))


def _summarise_score(case: Case, given: SummaryFields) -> Counter[str]:
    whole = " ".join(turn["text"] for turn in case["turns"])
    texts = [text for text in (given.topic, *given.discussed, given.outcome, *given.decisions) if text]
    texts += given.open_questions
    every = " ".join(texts)
    decided, opened = " ".join(given.decisions), " ".join(given.open_questions)
    met = [has(every, one) for one in case["topic"]]
    met += [has(decided, one) for one in case["decided"]] + [has(opened, one) for one in case["open"]]
    # a rejected option may be named beside the chosen one, never alone
    wrong = sum(has(one, left) and not any(has(one, taken) for taken in case["decided"])
                for one in given.decisions for left in case["refused"])  # fmt: skip
    wrong += sum(has(every, one) for one in case["never"])
    return Counter(
        cases=1,
        right=all(met) and not wrong,
        wrong=bool(wrong),
        missed=not all(met),
        shown=len(texts),
        grounded=sum(rests(text.rstrip("…"), whole) for text in texts),
    )


TASKS = {
    "extract": Task(_plain("extract", _extract_rule, _extract_model), _counted(_extract_score)),
    "reconfirm": Task(_plain("reconfirm", _reconfirm_rule, _reconfirm_model), _counted(_reconfirm_score)),
    "classify": Task(_plain("classify", lambda case: "general", _classify_model), _counted(_classify_score)),
    "summarise": Task(
        _plain("summarise", lambda case: summarize_by_rule(_turns(case)), _summarise_model),
        _counted(_summarise_score),
    ),
    "slug": Task(
        _plain("slug", lambda case: session_snapshot.slug_of_turns(_turns(case), DAY), _slug_model),
        _counted(_slug_score),
    ),
    "rank": Task(_plain("rank", _rank_rule, _rank_model), _counted(_rank_score)),
    "consolidate": Task(
        _plain("consolidate", _consolidate_rule, _consolidate_model), _counted(_consolidate_score)
    ),
    "answer": Task(agent_answers.ready, agent_answers.score),
}
