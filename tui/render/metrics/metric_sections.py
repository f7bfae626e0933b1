"""Build the metrics for the health pane and for `stats`: each with its sample size, its meaning, and where to look
further."""

from shlex import quote

from store.base.citations import cite
from store.base.clock import ago, how_long_ago
from store.conversations.extraction_queue import ATTEMPTS
from store.records.ageing import TABLE
from store.services.metrics import TREND_DAYS
from tui.render.badges import FACT_BADGES, KIND_GLYPHS
from tui.render.metrics.metric import GOOD, KNOWN, LATELY, POOR, Figure, Section, percent, size, unknown
from tui.render.metrics.metric_parts import index, mean, recovery, requests
from tui.render.plurals import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from store.services.metrics import ConversationCost, ExtractionStats, Measures, Searches

QUICK_MS = 100  # maximum milliseconds of a good search
STATES_SAY = {
    "fresh": "Said or confirmed lately, or pinned: these are sent to agents whenever they are near the question.",
    "aging": f"Nobody confirmed these for {TABLE['high'][0]} days or more. Agents are still sent them, with a note "
    "about their age.",
    "low": f"Low priority: {TABLE['medium'][1]} days without confirmation, or {TABLE['low'][1]} for what was stated "
    "with low confidence. Agents are sent these only where a question is very near, and never what has low confidence.",
    "stale": f"Nobody confirmed these for {TABLE['high'][2]} days, or {TABLE['medium'][2]} for what is not of high "
    "confidence: no agent is sent them. Confirm what is still true, correct or forget the rest.",
}


def sections(found: "Measures", past: bool = False) -> list[Section]:
    """Return all metrics under their headings; for a `past` view only those that are known for that moment."""
    facts: Section = ("facts by age", list(_facts(found)))
    if past:
        return [facts]
    return [
        facts,
        ("tokens by conversation", list(_conversations(found))),
        ("contexts", [*_contexts(found), *mean(found)]),
        ("learning", [*_learning(found.reading), *requests(found.requests)]),
        ("search", [*_searches(found), *index(found.index)]),
        ("recovery", list(recovery(found.recoveries, found.at))),
        ("on the disk", list(_disk(found))),
    ]


def _facts(found: "Measures") -> "Iterator[Figure]":
    total = sum(found.states.values())
    if not total:
        yield unknown("fresh", "facts", "none yet", "No fact was remembered yet: memoranda remember adds one.")
        return
    for state, number in found.states.items():
        pinned = "1 of them is pinned" if found.pinned == 1 else f"{found.pinned:,} of them are pinned"
        glyph = FACT_BADGES[state][0]
        yield Figure(
            state,
            state,
            f"{number:,}",
            f"{count(number, 'fact')} of {total:,}, {percent(number / total)}.",
            STATES_SAY[state],
            *([f"{pinned}, and will not age."] if state == "fresh" and found.pinned else []),
            *_change(state, found.came.get(state, 0)),
            share=number / total,  # one scale: a full bar is all facts
            note=_note(number / total, found.came.get(state, 0)) if number else "",
            badge=(glyph, f"glyph-{state}" if number else "rule"),
            leads=("facts --sort newest" if state == "fresh" else f"search is:{state}") if number else "",
            to="the facts, the newest first" if state == "fresh" else "lists them",
        )
    learned = sum(found.learned)
    yield Figure(
        "learned",
        "learned",
        f"{found.learned[-1]:,}" if found.learned else "0",
        f"{count(learned, 'fact')} in the last {len(found.learned)} weeks, those that were replaced or forgotten since "
        f"too: {', '.join(map(str, found.learned))} week by week, the last one at the end.",
        series=found.learned,
        note=f"{len(found.learned)} weeks",
        leads="facts --sort newest",
        to="the facts, the newest first",
    )
    if found.oldest:
        number, at = found.oldest
        citation = cite("fact", number)
        yield Figure(
            "oldest",
            "oldest",
            citation,
            f"Of the facts that age, nobody confirmed this one for the longest: {how_long_ago(found.at, at)}. "
            "Pinned ones do not age.",
            record=citation,
            note=f"{ago(found.at, at)} unpinned",
            leads=f"show {citation}",
            to="opens it",
        )


def _note(share: float, came: int) -> str:
    """Return the share of all facts, and how many came in the time that a trend is told for."""
    return f"{f'+{came:,} in {TREND_DAYS} d  ' if came else ''}{percent(share)}"


def _change(state: str, came: int) -> "Iterator[str]":
    """Yield the sentence on how many facts came into a state."""
    if came and state == "fresh":
        yield f"{count(came, 'fact')} {'was' if came == 1 else 'were'} learned in the last {TREND_DAYS} days."
    elif came:
        yield f"{count(came, 'fact')} of them became so in the last {TREND_DAYS} days."


def _conversations(found: "Measures") -> "Iterator[Figure]":
    if not found.conversations:
        bring = "Bring one in with memoranda ingest FILE, or let ingest.claude bring in those of Claude Code."
        yield unknown("covered", "sessions", "none yet", bring)
        return
    most = max(one.tokens for one in found.sessions)
    yield from (_session(one, most) for one in found.sessions)
    left = found.conversations - found.covered
    yield Figure(
        "covered",
        "covered",
        percent(found.covered / found.conversations),
        f"{found.covered:,} of {count(found.conversations, 'session')} have a checkpoint that an agent can go on from.",
        "Checkpoints are taken automatically while the application is open and at a session's end, and before a "
        "context is cut (memoranda flush)."
        + (f" {count(left, 'session')} came in otherwise, from a transcript for instance." if left else ""),
        share=found.covered / found.conversations,
        note=f"{found.covered:,} of {count(found.conversations, 'session')}",
        state=KNOWN if left else GOOD,
        leads="checkpoints --all",
        to="the checkpoints",
    )


def _session(one: "ConversationCost", most: int) -> Figure:
    handed = (
        f"Agents were sent {count(one.contexts, 'context')} for it lately, {one.sent:,} tokens in all."
        if one.contexts
        else "No agent was sent a context for it lately."
    )
    return Figure(
        f"session {one.name}",
        one.name,
        f"{one.tokens:,}",
        f"The session {one.name}: {count(one.turns, 'turn')}, {one.tokens:,} tokens.",
        handed,
        share=one.tokens / max(1, most),
        note=count(one.turns, "turn"),
        badge=(KIND_GLYPHS["turn"], "glyph-record"),
        leads=f"context --session={quote(one.name)}",
        to="what its next answer would be given",
    )


def _contexts(found: "Measures") -> "Iterator[Figure]":
    if found.context_tokens is None:
        yield unknown(
            "sent",
            "sent",
            "none was sent yet",
            "What an agent would be sent can be seen all the same.",
            leads="context",
            to="shows it",
        )
    else:
        from store.context.budget import PROMPT

        yield Figure(
            "sent",
            "sent",
            f"{found.contexts:,}",
            f"The last {count(found.contexts, 'context')} sent to agents took {found.context_tokens:,} tokens "
            f"each (median), of {PROMPT:,} at the most.",
            share=found.context_tokens / PROMPT,
            note=f"{found.context_tokens:,} tokens each",
            leads="context",
            to="what the next one would be",
        )
    if found.useful is None:
        yield unknown(
            "useful",
            "cited",
            "no answer was rated yet",
            "The share of a context's tokens that belong to records which the answer cited. It is known once an answer "
            "to a context came back.",
        )
    else:
        yield Figure(
            "useful",
            "cited",
            percent(found.useful),
            f"Of the tokens of {count(found.answered, 'context')} with an answer, {percent(found.useful)} belong to "
            "records that the answer cited.",
            "The rest is the fixed instructions, the conversation, and what was sent and not needed. Mute what is sent "
            "again and again and is never cited.",
            share=found.useful,
            note=f"of the tokens, {found.answered:,} answered",
            leads="context",
            to="what would be sent, to mute what is not needed",
        )


def _learning(found: "ExtractionStats") -> "Iterator[Figure]":
    if found.success is None:
        yield unknown(
            "success",
            "read",
            "no turn was read yet",
            "What a person says is read for facts, and for facts that it confirms.",
        )
    else:
        tries = found.read + found.failed
        yield Figure(
            "success",
            "read",
            percent(found.success),
            f"{found.read:,} of {count(tries, 'try').replace('trys', 'tries')} to read a turn came to an end, whatever "
            "was found in it; each turn is read by rules, for facts and for what it confirms. Those that wait for a "
            "model are counted in the inbox.",
            f"One that fails is tried {ATTEMPTS} times, minutes apart; then it is given up, and the turn stays.",
            share=found.success,
            note=f"{found.read:,} of {tries:,} by rules",
            state=POOR if found.given_up else GOOD,
            leads="inbox",
            to="what was learned and waiting for review",
        )
    if found.waiting:
        yield Figure(
            "waiting",
            "waiting",
            f"{found.waiting:,}",
            f"{count(found.waiting, 'turn')} still to be read; the application does it, or memoranda flush.",
            note="to be read",
            leads="sessions",
            to="the conversations",
        )
    for turn, why in found.turns:
        citation = cite("turn", turn)
        yield Figure(
            f"failed {turn}",
            citation,
            "",
            f"Nothing could be learned from this turn, tried {ATTEMPTS} times; what was said is kept. The last try: "
            f"{why or 'it ended in the middle'}.",
            "memoranda flush tries again.",
            record=citation,
            note=why or "no end",
            state=POOR,
            leads=f"show {citation}",
            to="opens it",
        )
    if found.given_up > len(found.turns):
        more = found.given_up - len(found.turns)
        yield Figure("failed", "and more", f"{more:,}", f"{count(more, 'turn')} more given up.", state=POOR)


def _searches(found: "Measures") -> "Iterator[Figure]":
    searches = found.searches
    known = len(searches.milliseconds)
    if not known:
        yield unknown(
            "keywords", "takes", "nothing was searched yet", "The times of searches are recorded from now on."
        )
    else:
        yield from _times(searches)
        share = searches.found or 0.0
        yield Figure(
            "found",
            "found",
            percent(share),
            f"{percent(share)} of the last {count(known, 'search').replace('searchs', 'searches')} found something.",
            share=share,
            note=f"of {known:,}",
            state=GOOD if share >= 0.9 else KNOWN,
        )
    looked, given, kept = found.answers
    if not looked:
        yield unknown(
            "answers",
            "reused",
            "no answer was looked for yet",
            "Answers that depend on the records alone are cached for a day, and reused while they are valid.",
        )
    else:
        yield Figure(
            "answers",
            "reused",
            percent(given / looked),
            f"A cached answer was reused {count(given, 'time')} in {looked:,}. Cached now: {kept:,}.",
            "An answer is reused for a day, while its records are unchanged and no new record matches.",
            share=given / looked,
            note=f"{given:,} of {looked:,}, {kept:,} cached",
        )
    for query, times in found.queries:
        yield Figure(
            f"query {query}",
            " ".join(query.split()),
            "",
            f"Asked {times:,} {'time' if times == 1 else 'times'}, among the last 200 queries whose results were used.",
            note=f"{times:,} ×",
            badge=("/", "accent"),
            leads=f"search -- {quote(query)}",
            to="searches for it again",
            wide=True,
        )


def _times(found: "Searches") -> "Iterator[Figure]":
    known = len(found.milliseconds)
    slowest = (
        f"The slowest of the last {known:,} took {max(found.milliseconds):,.0f} ms; the steps are {LATELY} of them."
    )
    for name, took in (("keywords", found.keywords), ("meaning", found.meaning)):
        if took is None:
            if name == "meaning":
                yield unknown(
                    name, name, "not yet part of a search", "Without a model, search uses keywords only.", leads="index"
                )
            continue
        good = took < QUICK_MS
        how = "by keywords alone" if name == "keywords" else "by keywords and meaning together"
        yield Figure(
            name,
            name,
            f"{took:,.0f} ms" if took >= 10 else f"{took:.1f} ms",
            f"The median time of a search {how}; up to {QUICK_MS} ms is not noticeable.",
            slowest,
            *([] if good else ["memoranda index checks the index."]),
            series=found.milliseconds if name == "keywords" or found.keywords is None else (),
            state=GOOD if good else POOR,
            leads="index",
            to="the state of the index",
        )


def _disk(found: "Measures") -> "Iterator[Figure]":
    most = max(1, *found.sizes.values())
    held = ", ".join(f"{number:,} {name}" for name, number in found.records.items() if number)
    yield Figure(
        "memory",
        "memory",
        size(found.sizes["memory"]),
        f"The memory's file and its log: {size(found.sizes['memory'])}. It holds {held or 'nothing yet'}.",
        share=found.sizes["memory"] / most,
        note=f"{sum(found.records.values()):,} records",
        leads="doctor",
        to="the doctor: whether the file is undamaged",
    )
    if not found.backups:
        yield unknown(
            "backups",
            "backups",
            "none yet",
            "One is made automatically each day; memoranda backup makes one now.",
            leads="backups",
            to="lists them",
        )
        return
    yield Figure(
        "backups",
        "backups",
        size(found.sizes["backups"]),
        f"{count(found.backups, 'backup')} beside the memory, {size(found.sizes['backups'])} together.",
        share=found.sizes["backups"] / most,
        note="1 copy" if found.backups == 1 else f"{found.backups:,} copies",
        leads="backups",
        to="lists them",
    )
