"""What keys do with facts, decisions and tasks."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

from store.base.citations import cite
from store.base.errors import MemorandaError
from store.base.models import Chunk, Commit, Decision, Fact, GlobalFact, Record, Step, Task
from store.base.vocabulary import pack_key
from store.inbox.duplicates import find_facts_sharing_words, find_similar_facts
from store.memory import Memory
from store.search.lookup import records_by_key
from store.search.pipeline import searchable_text
from store.sync.sync import SyncReport
from store.text.display import format_count
from store.text.similarity import parse_sentence
from tui.actions.action import Action, ActionScreen, Done, Pick, cite_things, find_among, open_editor, run_verb
from tui.desktop.programs import open_in_editor
from tui.input.key_table import ASK
from tui.render.lines import KIND_GLYPHS, record_time, summarize_record
from tui.screens.dialogs import FormField, Offer

# records offered before a letter is typed
OFFERED = 12
# within which a commit may be of a decision
NEAR_DAYS = 10
# how much the same day counts
NEAR_WEIGHT = 0.6
# letters of a word that tells something
LEAST_WORD = 3
# letters by which words are compared
STEM = 5

Owned = Fact | GlobalFact
Texts = Fact | GlobalFact | Decision | Task


def citations(things: Sequence[Record]) -> list[str]:
    """Return the citations of records."""
    return [one.citation for one in things]


def confirm(memory: Memory, things: Sequence[Record]) -> Done:
    """Confirm facts and decisions."""
    return run_verb(memory, "confirm", ids=citations(things), onward=True)


def move_tasks(memory: Memory, things: Sequence[Task]) -> Done:
    """Start, finish or reopen tasks: with one in progress among them, all are done."""
    first = min((task.status for task in things), key=("in_progress", "pending", "done").index)
    moves = {"pending": ("start", "in_progress"), "in_progress": ("done", "done"), "done": ("reopen", "pending")}
    what, done = moves[first]
    return run_verb(memory, "task", what=what, words=[one.citation for one in things if one.status != done])


def word_of_task(task: Task) -> str:
    """Return what `y` does to a task."""
    return {"pending": "start", "in_progress": "done", "done": "open again"}[task.status]


def forget(memory: Memory, things: Sequence[Record]) -> Done:
    """Hide facts and decisions, until undone."""
    return run_verb(memory, "forget", ids=citations(things))


def pin(memory: Memory, things: Sequence[Owned]) -> Done:
    """Pin facts; unpin them if all are pinned."""
    left = [one for one in things if not is_pinned(one)]
    return run_verb(memory, "pin", ids=citations(left or things), off=not left)


def is_pinned(fact: Owned) -> bool:
    """Tell whether a fact is pinned."""
    return fact.own.pinned if isinstance(fact, GlobalFact) else fact.pinned


def mute(memory: Memory, things: Sequence[Owned]) -> Done:
    """Keep facts from agents; let them have them again if all are muted."""
    here = memory.mutes.filter_muted_facts([one.id for one in things if isinstance(one, Fact)])
    shared = memory.globals.find_muted([one.id for one in things if isinstance(one, GlobalFact)])
    left = [one for one in things if one.id not in (shared if isinstance(one, GlobalFact) else here)]
    return run_verb(memory, "mute", ids=citations(left or things), off=not left)


def tag(memory: Memory, things: Sequence[Record], tag: str) -> Done:
    """Tag records; with a dash in front the tag is taken away."""
    word = tag.strip()
    return run_verb(memory, "tag", ids=citations(things), tag=word.removeprefix("-"), off=word.startswith("-"))


def remember(memory: Memory, things: Sequence[Any], text: str, domain: str) -> Done:
    """Remember a fact."""
    return run_verb(memory, "remember", select=True, text=[text], domain=domain)


def add_task(memory: Memory, things: Sequence[Any], text: str) -> Done:
    """Add a task."""
    return run_verb(memory, "task", select=True, what="add", words=[text])


def decide(memory: Memory, things: Sequence[Any], title: str, chosen: str, others: str, why: str) -> Done:
    """Record a decision; one that replaces the decision that is given."""
    old = things[0] if things and isinstance(things[0], Decision) else None
    alternatives = [other.strip() for other in others.split("|") if other.strip()]
    return run_verb(
        memory,
        "decide",
        select=True,
        title=[title],
        chosen=chosen,
        alternative=alternatives,
        rationale=why,
        supersedes=old.citation if old else None,
    )


def _title_of(things: Sequence[Any]) -> str:
    return things[0].title if things and isinstance(things[0], Decision) else ""


def _others_of(things: Sequence[Any]) -> str:
    old = things[0] if things and isinstance(things[0], Decision) else None
    return " | ".join((old.chosen, *old.alternatives)) if old else ""


DECISION_FIELDS = (
    FormField("title", "Decision, in a few words", _title_of, over=True),
    FormField("chosen", "Chosen"),
    FormField("others", "Instead of (| between several)", _others_of, needed=False),
    FormField("why", "Because", needed=False),
)


# Texts: corrected where they stand, or in the person's editor.


def text_to_correct(record: Texts) -> str:
    """Return the text of a record that a correction replaces."""
    return record.chosen if isinstance(record, Decision) else record.text


def correct(screen: ActionScreen, things: Sequence[Texts]) -> None:
    """Have the text of a record edited where it stands."""
    one = things[0]
    label = f"{one.citation} now chooses" if isinstance(one, Decision) else f"correct {one.citation}"
    screen.edit_text(label, text_to_correct(one), lambda text: _replace_text(screen, one, text))


def _replace_text(screen: ActionScreen, record: Record, text: str) -> None:
    if text.strip():
        screen.perform(Action("record.correct", "correct", does=replace_text), [record], text=text)


def replace_text(memory: Memory, things: Sequence[Record], text: str) -> Done:
    """Replace the text of a record; the old one stays behind it."""
    one = things[0]
    return run_verb(memory, "correct", select=not isinstance(one, Task), id=one.citation, text=[text])


def edit(screen: ActionScreen, things: Sequence[Texts]) -> None:
    """Have the text of a record edited in the person's editor."""
    text = _edit_apart(screen, text_to_correct(things[0]))
    if text is not None:
        _replace_text(screen, things[0], text)


def _edit_apart(screen: ActionScreen, text: str) -> str | None:
    """Have a text edited in the person's editor, and say where nothing comes of it."""
    try:
        new = open_editor(screen, text)
    except MemorandaError as error:
        screen.say(str(error), "error")
        return None
    if new is None:
        screen.say("Nothing was changed.")
    return new


def edit_document(screen: ActionScreen, things: Sequence[Chunk]) -> None:
    """Open a document in the person's editor at the lines shown, then index it again; of one that is kept in sync, what
    is changed there is the person's own word."""
    chunk = things[0]
    if chunk.path in [file.path for file in screen.engine.present.sync.files()]:
        edit_synced_file(screen, chunk.path)
        return
    try:
        path = screen.engine.documents.path_of(chunk)
        open_in_editor(screen.app, path, chunk.first, command=screen.setting("editor"))
    except MemorandaError as error:
        screen.say(str(error), "error")
        return
    screen.in_background(screen.engine.documents.scan_documents, "documents")


def edit_synced_file(screen: ActionScreen, name: str) -> None:
    """Sync a file, keep it so from now on, and open what it says then in the editor."""

    def read(memory: Memory) -> bytes:
        memory.sync.start_file(name)
        memory.sync.sync_file(name)
        return memory.sync.read_content(name)

    screen.engine.write(read, partial(_edit_content, screen, name))


def _edit_content(screen: ActionScreen, name: str, raw: Any, error: MemorandaError | None) -> None:
    if error is not None:
        screen.say(str(error), "error")
        return
    text = _edit_apart(screen, raw.decode())
    if text is None:
        return

    def take(memory: Memory, things: Sequence[Any]) -> Done:
        try:
            report: SyncReport = memory.sync.sync_edited(name, raw, text.encode())
        except MemorandaError as error:
            error.next = f"What you wrote is in {_keep_draft(name, text)}. {error.next}"
            raise
        return Done(report.describe(), undo=False)

    screen.perform(Action("record.edit", "", does=take), [])


def _keep_draft(name: str, text: str) -> str:
    """Write the edited text to a temporary file, and return its path."""
    path = os.path.join(tempfile.mkdtemp(prefix="memoranda-"), os.path.basename(name))
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return path


def copy(screen: ActionScreen, things: Sequence[Record | Step]) -> None:
    """Copy the citations of records, their texts, or both; among the questions also the newest answer."""
    ordered = sorted(things, key=lambda one: (type(one).__name__, cite_things([one])))
    cited = [cite_things([one]) for one in ordered]
    texts = [one.reason if isinstance(one, Step) else searchable_text(one) for one in ordered]
    both = [f"{text} [{name}]" for name, text in zip(cited, texts, strict=True)]
    named = cite_things(ordered)
    offers = [
        Offer((" ".join(cited), named), "the citation", " ".join(cited)[:40]),
        Offer(("\n".join(texts), f"the text of {named}"), "the text", texts[0][:40]),
        Offer(("\n".join(both), f"{named} with the text"), "both"),
    ]
    answers = [one.answer.text for one in screen.engine.exchanges if one.answer is not None]
    if answers and screen.pane_name == ASK:
        offers.append(Offer((answers[-1], "the answer"), "the answer", answers[-1][:40]))
    screen.choose(f"Copy {named}", find_among(offers), lambda one: screen.copy(*one))


# Where a fact is kept, and what a record rests on.


def move(memory: Memory, things: Sequence[Owned], again: bool = False) -> Done:
    """Keep a fact in the personal memory, or a global one in this project; a single step, which undo reverts."""
    one = things[0]
    if isinstance(one, GlobalFact):
        kind, where = "fact", "of this project alone"
        new = memory.moves.move_to_project(one.id, seen=one.own, again=again)
    else:
        kind, where = "global", "seen in every project"
        new = memory.moves.move_to_global(one.id, seen=one, again=again)
    return Done(f"Moved {one.citation} to {cite(kind, new)}, {where}", pack_key(kind, new))


def bind(memory: Memory, things: Sequence[Fact | Decision], evidence: str) -> Done:
    """Bind a record to evidence; with - in front it is taken away, and nothing takes it as it is now."""
    one, word = things[0], evidence.strip()
    record = "fact" if isinstance(one, Fact) else "decision", one.id
    cwd = memory.location.project or ""
    said = f"Bound to {word}"
    if not word:
        memory.evidence.bind_again(*record)
        said = "Took it as it is now"
    elif word.startswith("-"):
        memory.evidence.unbind(*record, [word[1:].strip()], cwd)
        said = "Taken away"
    else:
        memory.evidence.bind(*record, [word], cwd)
    return Done(f"{one.citation}: {said}")


# Two records: they are chosen from what is probably meant, never by a number known by heart.


def offer_record(record: Record) -> Offer:
    """Return a record as a row of a chooser."""
    text, extra = summarize_record(record)
    return Offer(
        record, " ".join(text.split()), record.citation, extra, KIND_GLYPHS.get(type(record).__name__.lower(), "·")
    )


def link(memory: Memory, things: Sequence[Commit | Decision], chosen: Any) -> Done:
    """Link each commit with each decision among the records and the chosen one; a link that exists is removed."""
    if isinstance(chosen, str):
        return bind(memory, [one for one in things if isinstance(one, Decision)], chosen)
    return toggle_links(memory, [*things, chosen])


def toggle_links(memory: Memory, things: Sequence[Commit | Decision]) -> Done:
    """Link each of the commits with each of the decisions; remove the links that exist."""
    made = taken = 0
    decisions = [one for one in things if isinstance(one, Decision)]
    with memory.database.step("user", f"link {cite_things(things)}"[:200]):
        for commit in (one for one in things if isinstance(one, Commit)):
            ends = {known.decision for known in memory.commits.links_of_commit(commit.id)}
            for decision in decisions:
                known = decision.citation in ends
                (memory.commits.unlink if known else memory.commits.link)(commit.sha, decision.id)
                made, taken = made + (not known), taken + known
    counts = (("added", made), ("removed", taken))
    parts = [f"{word} {format_count(number, 'link')}" for word, number in counts if number]
    return Done(" and ".join(parts).capitalize())


def offer_links(memory: Memory, things: Sequence[Commit | Decision], words: str) -> list[Offer]:
    """Return the commits that a decision may be linked with, or the decisions of a commit: those that share its words
    and its days first. What looks like a file or a symbol is offered as evidence of a decision."""
    one = things[0]
    kind = "decision" if isinstance(one, Commit) else "commit"
    asked = _stems(words or _words_of(one))
    links_of = memory.commits.links_of_commit if kind == "decision" else memory.commits.links_of_decision
    linked = {getattr(known, kind) for known in links_of(one.id)}
    at = _day_of(one)
    scored: list[tuple[float, Record]] = []
    for other in records_by_key(memory.database, [key for key, _ in memory.timeline.stream((kind,))]).values():
        text = f"{other.citation} {searchable_text(other)}".lower()
        shared = sum(stem in text for stem in asked) / (len(asked) or 1)
        near = NEAR_WEIGHT * max(0.0, 1 - abs(at - _day_of(other)) / NEAR_DAYS)
        if not words or shared == 1:
            scored.append((shared + near - (other.citation in linked and not words), other))
    scored.sort(key=lambda pair: -pair[0])
    offers = [
        offer_record(other)._replace(more="linked: removes the link" if other.citation in linked else "")
        for _, other in scored[:OFFERED]
    ]
    if words and isinstance(one, Decision) and not any(char.isspace() for char in words.strip()):
        offers.append(Offer(words.strip(), f"rests on {words.strip()}", "evidence", "", "¶"))
    return offers


def _words_of(record: Any) -> str:
    return f"{record.title} {record.chosen}" if isinstance(record, Decision) else str(record.subject)


def _stems(text: str) -> set[str]:
    return {word[:STEM].lower() for word in text.split() if len(word) > LEAST_WORD or len(text) <= STEM}


def _day_of(record: Any) -> int:
    return datetime.fromisoformat(record_time(record)).toordinal()


def offer_facts(memory: Memory, things: Sequence[Any], words: str) -> list[Offer]:
    """Return the facts that repeat or contradict a record, those that share words with it, then others; with words,
    those that have them, or the one that is cited."""
    text = words or searchable_text(things[0])
    digits = words.strip().upper().removeprefix("F#")
    target = None if words else getattr(things[0], "target", None)
    numbers = [int(digits)] if digits.isdecimal() else []
    numbers += [
        *([target] if target else []),
        *(like.fact.id for like in find_similar_facts(memory.database, memory.facts, text)),
    ]
    if not words:
        sharing = memory.facts.get_many(find_facts_sharing_words(memory.database, parse_sentence(text)))
        numbers += [fact.id for fact in sharing if fact.status == "active"]
    numbers += memory.facts.ids(memory.now, words=words, limit=OFFERED)
    own = {one.id for one in things if isinstance(one, Fact)}
    wanted = [number for number in dict.fromkeys(numbers) if number not in own]
    return [offer_record(fact) for fact in memory.facts.get_many(wanted)[:OFFERED]]


PICK_LINK = Pick("Link {} with…", offer_links)
PICK_SAME = Pick("{} says the same as…", offer_facts)
PICK_REPLACED = Pick("{} replaces…", offer_facts)


def merge(memory: Memory, things: Sequence[Fact], chosen: Fact) -> Done:
    """Merge facts with another, which stays."""
    new = memory.inbox.join_facts(chosen.id, [one.id for one in things])
    return Done(f"Merged {cite_things([*things, chosen])}", pack_key("fact", new))


def merge_marked(memory: Memory, things: Sequence[Fact]) -> Done:
    """Merge marked facts; the first stays."""
    first, *others = things
    before = memory.checkpoints.take_before(f"merge {format_count(len(things), 'fact')}", len(things))
    memory.inbox.join_facts(first.id, [one.id for one in others])
    was = f"; {cite('checkpoint', before)} is how it was" if before else ""
    return Done(f"Merged {format_count(len(things), 'fact')}{was}")


def replace_fact(memory: Memory, things: Sequence[Fact], chosen: Fact) -> Done:
    """Let a fact take the place of another."""
    memory.facts.replace(chosen.id, things[0].id)
    return Done(f"{things[0].citation} replaces {chosen.citation}")
