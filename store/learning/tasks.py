"""The tasks that a model does for learning: summaries, facts, decisions, confirmations, domains, and order.

Summaries by a model (of turns, of several facts, a conversation's name) and the order of the facts in a context; by
rule, or by the search, where there is no model.

Summaries of turns are made once, in the background, so the model is asked first. For the others a person waits: the
model is asked only with `agent.mode = smart`, and for a limited time.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import count
from typing import Annotated, Any, Generic, TypeVar

from store.base.clock import days_before
from store.base.models import Turn
from store.base.vocabulary import DOMAINS
from store.context.selection import RankedFacts, RankFacts
from store.conversations.sessions import slug_of_topic, slug_of_turns
from store.conversations.summaries import (
    TOPIC_TOKENS,
    Summarise,
    SummaryFields,
    fit_summary,
    meaningful_sentences,
    summarize_by_rule,
)
from store.inbox.duplicates import join_fact_texts
from store.learning.rules import (
    NO_VERDICT,
    PROPOSE_FACT,
    SUPERSEDE_FACT,
    ComparedText,
    ExtractedFact,
    contradicts_fact,
    find_lasting_sentences,
    is_hostile,
    shared_word_ratio,
)
from store.learning.sentences import LONG_TURN, TRIM_MARKS, Sentence, form_pattern, sign_pattern
from store.librarian.chat import ChatMessage
from store.librarian.structured_output import (
    MAX_DATA_TOKENS,
    ModelChoice,
    ModelSession,
    number_texts,
    open_model_session,
)
from store.memory import Memory
from store.text.fence import make_harmless
from store.text.language import detect_language
from store.text.similarity import parse_sentence
from store.text.words import WORD_PATTERN, count_tokens, fold_text, read_language_file, shorten_to_tokens

# Prompts of the tasks: one TOML file a language, loaded at first use.

# for a text of unknown language, which is rarely English
USUAL_LANGUAGE = "es"


def task_prompt(task: str, text: str) -> list[ChatMessage]:
    """Return the messages before the question: the instructions and an example, in the language of the text."""
    return [(role, message) for role, message in _prompt_texts(text)[task]]


Form = TypeVar("Form")


@dataclass(frozen=True, slots=True)
class ModelTask(Generic[Form]):
    """A task: its name, which is that of its prompt, the form of an answer, and the most tokens of one."""

    name: str
    form: type[Form]
    predict: int

    def ask(self, model: ModelSession, text: str, question: str) -> Form:
        """Return the model's answer to a question, asked in the language of a text. Raise ModelFailed."""
        messages = [*task_prompt(self.name, text), ("user", question)]
        return model.ask_for_form(self.name, self.form, messages, self.predict)


def label_question(name: str, text: str, texts: Sequence[str]) -> str:
    """Return a text on one line after a label in its language, "Question: …", and below it numbered texts."""
    return f"{_prompt_texts(text)['labels'][name]}: {' '.join(make_harmless(text).split())}\n{number_texts(texts)}"


def _prompt_texts(text: str) -> dict[str, Any]:
    """Return the prompts in the language of a text."""
    return read_language_file(
        os.path.join(os.path.dirname(__file__), "prompts"), detect_language(text) or USUAL_LANGUAGE
    )


# Task `consolidate`: which of several facts about one thing includes all the others.


@dataclass(frozen=True, slots=True)
class ConsolidateForm:
    fact: int


CONSOLIDATE = ModelTask("consolidate", ConsolidateForm, 20)


def ask_consolidated(model: ModelSession, texts: Sequence[str]) -> str:
    """Return the fact that, according to the model, includes all the others. Return all of them joined if none
    does, or if it lacks a number or a negation of the others. Raise ModelFailed."""
    number = CONSOLIDATE.ask(model, " ".join(texts), number_texts(texts)).fact
    if not 0 < number <= len(texts):
        return join_fact_texts(texts)
    chosen, *others = map(parse_sentence, [texts[number - 1], *texts])
    if any(not one.values <= chosen.values or one.negations != chosen.negations for one in others):
        model.log_dropped(
            CONSOLIDATE.name, "A number or a negation of the others is not in the fact that it names."
        )
        return join_fact_texts(texts)
    return texts[number - 1]


def consolidate_facts(model: ModelSession, texts: Sequence[str]) -> str:
    """Return the fact that, according to the model, includes all the others; if the model fails, all of the facts
    joined."""
    return model.run_or_fall_back(
        CONSOLIDATE.name, lambda: ask_consolidated(model, texts), lambda: join_fact_texts(texts)
    )


# Task `rank_facts`: order facts by how much they concern a question. No fact is added or removed. The rule keeps the
# order of the search.

# facts in one question; the others follow in their order
MOST_RANKED = 12


@dataclass(frozen=True, slots=True)
class RankForm:
    order: list[int]


RANK = ModelTask("rank_facts", RankForm, 120)


def ask_ranking(model: ModelSession, question: str, facts: Sequence[tuple[int, str]]) -> RankedFacts:
    """Return the ids of these (id, text) facts in the model's order; those it does not name follow in their order.
    Raise ModelFailed."""
    came = [number for number, _ in facts]
    shown = facts[:MOST_RANKED]
    asked = label_question("question", question, [text for _, text in shown])
    order = RANK.ask(model, question, asked).order
    named = (came[place - 1] for place in order if 0 < place <= len(shown))
    return RankedFacts(tuple(dict.fromkeys([*named, *came])), model.name)


def rank_by_model(model: ModelSession, question: str, facts: Sequence[tuple[int, str]]) -> RankedFacts:
    """Return the ids of facts in the model's order; if the model fails, in the given order."""
    came = RankedFacts(tuple(number for number, _ in facts))
    return model.run_or_fall_back(RANK.name, lambda: ask_ranking(model, question, facts), lambda: came)


# Task `slug`: a few words of a conversation as a file name.

# least words of a name
MIN_SLUG_WORDS = 2


@dataclass(frozen=True, slots=True)
class SlugForm:
    words: list[str]


SLUG = ModelTask("slug", SlugForm, 60)


def ask_slug(model: ModelSession, turns: Sequence[Turn], day: str) -> str:
    """Return the model's file name for a conversation of this day, without its extension, as in
    `2026-11-21-despliegue-docker`: of words that occur in it. Use the rule's where too few
    do, or where a turn tells a memory what to keep: such a turn is not shown to a model. Raise ModelFailed."""
    if any(is_hostile(turn.text) for turn in turns):
        return slug_of_turns(turns, day)
    each = MAX_DATA_TOKENS // max(1, len(turns))
    text = "\n".join(
        f"{turn.role}: {shorten_to_tokens(' '.join(make_harmless(turn.text).split()), each)}" for turn in turns
    )
    form = SLUG.ask(model, text, text)
    occurring = {word for turn in turns for word in WORD_PATTERN.findall(fold_text(turn.text))}
    words = [word for words in form.words for word in words.split() if fold_text(word) in occurring]
    if len(words) < MIN_SLUG_WORDS:
        model.log_dropped(SLUG.name, f"Fewer than {MIN_SLUG_WORDS} of its words occur in the conversation.")
        return slug_of_turns(turns, day)
    return slug_of_topic(" ".join(words), day)


def slug_by_model(model: ModelSession, turns: Sequence[Turn], day: str) -> str:
    """Return the model's file name for a conversation; if the model fails, a name of its first words."""
    return model.run_or_fall_back(
        SLUG.name, lambda: ask_slug(model, turns, day), lambda: slug_of_turns(turns, day)
    )


# Task `summarize`: which sentences of a few turns give their topic and outcome. Decisions and open questions are found
# by rule.

# most sentences, from the end
MOST_SENTENCES_SHOWN = 24


@dataclass(frozen=True, slots=True)
class SummaryForm:
    topic: int
    outcome: int = 0


SUMMARIZE = ModelTask("summarize", SummaryForm, 40)


def ask_summary(model: ModelSession, turns: Sequence[Turn]) -> SummaryFields:
    """Return a summary of a few turns of at most TOKENS, made of whole sentences: topic and outcome as the model names
    them, the rest by rule. Turns that tell a memory what to keep are not shown to a model. Raise ModelFailed."""
    each = MAX_DATA_TOKENS // max(1, len(turns))
    texts = [one for turn in turns for one in meaningful_sentences(shorten_to_tokens(turn.text, each))][
        -MOST_SENTENCES_SHOWN:
    ]
    rule = summarize_by_rule(turns)
    if not texts or any(is_hostile(turn.text) for turn in turns):
        return rule
    form = SUMMARIZE.ask(model, " ".join(texts), number_texts(texts))
    elsewhere = {*rule.decisions, *rule.open_questions}

    def named(number: int, otherwise: str) -> str:
        text = texts[number - 1] if 0 < number <= len(texts) else ""
        return text if text and text not in elsewhere and count_tokens(text) <= TOPIC_TOKENS else otherwise

    topic = named(form.topic, rule.topic)
    outcome = named(form.outcome if form.outcome > form.topic else 0, rule.outcome)
    outcome = "" if outcome == topic or outcome.endswith("?") else outcome
    return fit_summary(topic, rule.discussed, outcome, rule.decisions, rule.open_questions, by=model.name)


def summarize_turns(model: ModelSession, turns: Sequence[Turn]) -> SummaryFields:
    """Return a summary of a few turns by the model; if the model fails, by rule."""
    return model.run_or_fall_back(
        SUMMARIZE.name, lambda: ask_summary(model, turns), lambda: summarize_by_rule(turns)
    )


# summaries of one run by the model; the rule makes the rest
MOST_MODEL_SUMMARIES = 8
# share of the seconds that a person may wait, after which no other question is started
STARTED_SHARE = 0.5
# age up to which turns are summarised by the model; older ones, read late, would be too many
SUMMARY_RECENT_DAYS = 1


@contextmanager
def turn_summarizer(memory: Memory, cancelled: Callable[[], bool]) -> Iterator[Summarise]:
    """Yield a function that summarises turns with the memory's model, or by rule without one or if it fails. The model
    is selected at the first call. The function raises ModelFailed when `cancelled`: that summary is made another
    time."""
    since, made = days_before(memory.now, SUMMARY_RECENT_DAYS), count()
    with ExitStack() as stack:

        @cache
        def model() -> ModelSession | None:
            return stack.enter_context(
                open_model_session(memory.config, memory.database, "agent.patience", cancelled=cancelled)
            )

        def summarise(turns: Sequence[Turn]) -> SummaryFields:
            session = None if turns[-1].at < since else model()
            if session is None or next(made) >= MOST_MODEL_SUMMARIES:
                return summarize_by_rule(turns)
            return summarize_turns(session, turns)

        yield summarise


def model_while_waiting(memory: Memory) -> AbstractContextManager[ModelSession | None]:
    """Return a model that may be asked while a person waits; None unless `agent.mode` is smart and there is one. A cold
    model is not loaded: asking it fails, and the rule is used. Selecting it and all questions end within
    `agent.seconds` from now."""
    if memory.config["agent.mode"] != "smart":
        return nullcontext()
    seconds = float(memory.config["agent.seconds"])
    return open_model_session(memory.config, memory.database, "agent.seconds", loading=None, seconds=seconds)


@contextmanager
def fact_summarizer(memory: Memory) -> Iterator[Callable[[Sequence[str]], str]]:
    """Yield a function that states several facts in one sentence, for `merge`: by a model while a person may be
    kept waiting, else by rule."""
    began = time.monotonic()
    with model_while_waiting(memory) as model:

        def summarize_facts(texts: Sequence[str]) -> str:
            if model is None or time.monotonic() - began > model.seconds * STARTED_SHARE:
                return join_fact_texts(texts)
            return consolidate_facts(model, texts)

        yield summarize_facts


@contextmanager
def context_ranker(memory: Memory) -> Iterator[RankFacts | None]:
    """Yield the `rank` argument for `memory.context`: a function that asks the model; None where the search alone
    ranks."""
    with model_while_waiting(memory) as model:
        if model is None:
            yield None
            return
        yield partial(rank_by_model, model)


def name_snapshot(memory: Memory, turns: Sequence[Turn], day: str) -> str:
    """Return the file name of a conversation's snapshot."""
    with model_while_waiting(memory) as model:
        if model is None:
            return slug_of_turns(turns, day)
        return slug_by_model(model, turns, day)


# Task `classify_domain`: the domain of a text.

# tokens of the text that are shown
CLASSIFY_TOKENS = 300
DOMAIN_CHOICES = tuple(domain for domain in DOMAINS if domain != "self_correction")
BELIEVED_DOMAINS = ("personal", "decisions")


@dataclass(frozen=True, slots=True)
class DomainForm:
    domain: Annotated[str, ModelChoice(DOMAIN_CHOICES)]
    # so that the model names its reasons
    keywords: list[str] = field(default_factory=list)


CLASSIFY = ModelTask("classify_domain", DomainForm, 80)


def ask_domain(model: ModelSession, text: str) -> str:
    """Return a text's domain according to the model. Raise ModelFailed.

    Only the domains in BELIEVED_DOMAINS are accepted: of 26 sentences the 1.5B model called none general, and put those
    that it could not place into projects and preferences.
    """
    shown = shorten_to_tokens(" ".join(make_harmless(text).split()), CLASSIFY_TOKENS)
    domain = CLASSIFY.ask(model, shown, shown).domain
    if domain in BELIEVED_DOMAINS:
        return domain
    model.log_dropped(CLASSIFY.name, f"Only {' and '.join(BELIEVED_DOMAINS)} are believed.")
    return "general"


def classify_text(model: ModelSession, text: str) -> str:
    """Return a text's domain according to the model; if the model fails, `general`."""
    return model.run_or_fall_back(CLASSIFY.name, lambda: ask_domain(model, text), lambda: "general")


# Task `extract_decision`: the decision in a sentence, in its own words: what was chosen, instead of what, and why.

MOST_OPTIONS = 4


@dataclass(frozen=True, slots=True)
class DecisionDraft:
    """A decision, as a model answers it. What `ask_decision` returns is quoted from the sentence, in every part; a rule
    may name as the alternative what another decision chose."""

    chosen: str
    alternatives: tuple[str, ...] = ()
    rationale: str = ""


DECISION = ModelTask("extract_decision", DecisionDraft, 160)


def ask_decision(model: ModelSession, sentence: Sentence) -> DecisionDraft | None:
    """Return the decision in a sentence; None where the model's choice is not in the sentence. Other parts that are not
    in it are left out. Raise ModelFailed."""
    text = " ".join(make_harmless(sentence.text).split())
    form = DECISION.ask(model, text, text)
    chosen = _find_quote(form.chosen, sentence.text)
    if not chosen:
        model.log_dropped(DECISION.name, "What it names as chosen does not occur in the sentence.")
        return None
    options = [_find_quote(one, sentence.text) for one in form.alternatives[:MOST_OPTIONS]]
    left = tuple(one for one in dict.fromkeys(options) if one and one.casefold() not in chosen.casefold())
    return DecisionDraft(chosen, left, _find_quote(form.rationale, sentence.text))


def decision_by_rule(text: str) -> DecisionDraft | None:
    """Return the decision in a sentence, each part as it stands there; None where its words do not tell what was
    chosen, and of a text that nobody types as one sentence."""
    if len(text) > LONG_TURN or (found := form_pattern("decision").search(fold_text(text))) is None:
        return None
    chosen, others, why = (
        text[slice(*found.span(part))].strip(TRIM_MARKS) for part in ("chosen", "others", "why")
    )
    return DecisionDraft(chosen, tuple(filter(None, form_pattern("or").split(others))), why) if chosen else None


def _find_quote(quote: str, text: str) -> str:
    """Return a quote as it stands in the sentence; empty where it does not."""
    part = " ".join(quote.split()).strip(" .,;:\"'“”«»")
    at = text.casefold().find(part.casefold()) if part else -1
    return text[at : at + len(part)] if at >= 0 else ""


# Task `extract_facts`: which sentences of a turn state something that will still hold next month.
#
# The model names sentences by number; the sentence itself is proposed. Only sentences in the person's own voice are
# shown, so quoted, pasted or forwarded text never reaches the model.

# sentences in one question: with more a small model takes too long
SENTENCES_PER_QUESTION = 6
# most facts of a turn whose domain is asked for separately
MOST_CLASSIFIED = 2


@dataclass(frozen=True, slots=True)
class NumberedFact:
    sentence: int
    domain: Annotated[str, ModelChoice(DOMAIN_CHOICES)] = "general"


@dataclass(frozen=True, slots=True)
class FactsForm:
    facts: list[NumberedFact]


FACTS = ModelTask("extract_facts", FactsForm, 200)


def ask_facts(model: ModelSession, role: str, text: str) -> list[ExtractedFact]:
    """Return the sentences that a model names as lasting facts. Raise ModelFailed."""
    shown = find_lasting_sentences(role, text)
    # place in `shown` → domain
    domains: dict[int, str] = {}
    for start in range(0, len(shown), SENTENCES_PER_QUESTION):
        some = shown[start : start + SENTENCES_PER_QUESTION]
        question = number_texts([sentence.text for sentence in some])
        for one in FACTS.ask(model, " ".join(sentence.text for sentence in shown), question).facts:
            if 0 < one.sentence <= len(some):
                domain = one.domain if one.domain in DOMAIN_CHOICES else "general"
                domains.setdefault(start + one.sentence - 1, domain)
    unsure = [place for place, domain in sorted(domains.items()) if domain == "general"]
    for place in unsure[:MOST_CLASSIFIED]:
        domains[place] = classify_text(model, shown[place].text)
    why = f"it states something lasting, as {model.name} reads it"
    facts = []
    for place, domain in sorted(domains.items()):
        text, quote = shown[place].text.rstrip(".!;,… "), shown[place].quote
        facts.append(ExtractedFact(text, domain, "medium", quote, False, False, why))
    return facts


# Task `reconfirm`: whether what a person said repeats or contradicts something that is known.
#
# The model is shown facts that share words or meaning with it, and answers only about these. It is asked only what the
# rule left open, and its answers only become proposals.

# facts in one question
MOST_RECONFIRMED = 5
# least share of a fact's words in a repetition
MIN_REPEATED_SHARE = 0.5
# least share where the text says that it still holds, or that it changed
MIN_CHANGED_SHARE = 0.2
_MESSAGE_PART = re.compile(r"[,;:.!?…]+(?=\s|$)")
RECONFIRM_ANSWERS = ("again", "against", "nothing")


@dataclass(frozen=True, slots=True)
class ReconfirmAnswer:
    fact: int
    says: Annotated[str, ModelChoice(RECONFIRM_ANSWERS)]


@dataclass(frozen=True, slots=True)
class ReconfirmForm:
    answers: list[ReconfirmAnswer]


RECONFIRM = ModelTask("reconfirm", ReconfirmForm, 160)


def ask_reconfirm(model: ModelSession, message: str, facts: Sequence[tuple[int, str]]) -> dict[int, str]:
    """Return what a sentence does to the facts that it concerns according to the model, among these (id, text)
    facts: fact id → a verdict such as CONFIRM_FACT. Raise ModelFailed."""
    facts = facts[:MOST_RECONFIRMED]
    if not facts:
        return {}
    asked = label_question("message", message, [text for _, text in facts])
    answers = RECONFIRM.ask(model, message, asked).answers
    named = [one for one in answers if 0 < one.fact <= len(facts) and one.says in ("again", "against")]
    found: dict[int, str] = {}
    for one in named:
        number, text = facts[one.fact - 1]
        verdict = _final_verdict(one.says, fold_text(message), ComparedText(text))
        if verdict != NO_VERDICT:
            found.setdefault(number, verdict)
    if len(found) < len(named):
        model.log_dropped(
            RECONFIRM.name, f"{len(named) - len(found)} of {len(named)} do not rest on what was said."
        )
    return found


def _final_verdict(says: str, message: str, fact: ComparedText) -> str:
    """Combine the model's verdict with the rules. Numbers and negations win over the model, which finds a
    repetition even in sentences that share only a name."""
    common = shared_word_ratio(ComparedText(message), fact)
    nearest = max(
        (ComparedText(part) for part in _MESSAGE_PART.split(message)),
        key=lambda part: shared_word_ratio(part, fact),
    )
    contrary = contradicts_fact(nearest, fact)
    if not common:
        return NO_VERDICT
    if says == "against" or contrary:
        changed = contrary or sign_pattern("changed").search(message)
        return SUPERSEDE_FACT if changed and common >= MIN_CHANGED_SHARE else NO_VERDICT
    return (
        PROPOSE_FACT
        if common >= MIN_REPEATED_SHARE
        or (common >= MIN_CHANGED_SHARE and sign_pattern("holds_still").search(message))
        else NO_VERDICT
    )
