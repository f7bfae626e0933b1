"""Render a record in full as lines of (text, style) pieces, for the app's preview and `memoranda show`.

Styles are names that the preview widget knows (`title`, `label`, `dim`, `cite`, `glyph-…`); the command line drops
them. Texts are raw: the caller escapes them."""

import json
from collections.abc import Callable, Iterable

from store.base.citations import cite
from store.base.citations import parse as parse_citation
from store.base.clock import ago
from store.base.models import (
    Change,
    Checkpoint,
    Chunk,
    Commit,
    Decision,
    Event,
    Fact,
    GlobalFact,
    Iteration,
    Link,
    Proposal,
    Record,
    Step,
    Summary,
    Task,
    Turn,
)
from store.base.vocabulary import PERSON
from store.history import change_summary
from store.history.history import KINDS
from store.memory import Memory
from store.records.ageing import STATES as AGEING_STATES
from store.records.ageing import TABLE as AGEING_TABLE
from store.search import linked_records, lookup
from store.search.lookup import many
from store.search.pipeline import body as record_body
from store.text.prompt_injection import suspicious
from tui.render.badges import FACT_BADGES, ORDER, fact_badge, state_word
from tui.render.details.checkpoint_detail import held
from tui.render.details.conversation_detail import summary_lines, turn_lines
from tui.render.details.document_lines import passage
from tui.render.details.evidence import bound_lines, evidence
from tui.render.field_diff import LABEL, Line, compare
from tui.render.line_parts import head, row, spoken, when, words, writer
from tui.render.summary_line import event_words, summary

TITLE = 60  # most characters of the title of what is linked
STEPS = 12  # maximum steps of a record's history
CHAIN = 8
SHOWN = 40  # maximum records of a step, or changed since a checkpoint
BELONGING = 30  # maximum decisions, commits or tasks of an iteration
DONE = {"INSERT": "came", "DELETE": "went", "UPDATE": "changed"}
MUTING = {"INSERT": "not sent to agents", "DELETE": "sent to agents again", "UPDATE": "not sent to agents"}
OF_NOW = "Files are shown as they are now: what they said then is not kept."


def describe(memory: Memory, record: Record, coloured: bool = False) -> list[Line]:
    """Return everything known of a record: its text, its sources, its links. With `coloured`, which callers pass only
    off the event loop, read a document from the disk and colour it."""
    lines = _described(memory, record, coloured)
    if not isinstance(record, Proposal) and suspicious(record_body(record)):  # a proposal says it in its own words
        lines.insert(1, [(ORDER, "warning")])
    return lines


def _described(memory: Memory, record: Record, coloured: bool) -> list[Line]:
    """Return the lines of `describe`, without the warning."""
    now = memory.now
    if isinstance(record, Fact):
        return _fact(memory, record, now)
    if isinstance(record, GlobalFact):
        return _fact(memory.personal, record.own, now, record, memory.globals.as_cited)
    if isinstance(record, Decision):
        return _decision(memory, record, now)
    if isinstance(record, Commit):
        return _commit(memory, record, now)
    if isinstance(record, Event):
        return _event(record, now)
    if isinstance(record, Iteration):
        return _iteration(memory, record, now)
    if isinstance(record, Task):
        return _task(memory, record, now)
    if isinstance(record, Turn):
        return turn_lines(memory, record, now)
    if isinstance(record, Summary):
        return summary_lines(memory, record, now)
    if isinstance(record, Chunk):
        of_now: list[Line] = [[(OF_NOW, "warning")]] if memory.database.moment else []
        return [*brief(record), *of_now, [], *passage(memory, record, coloured), [], *_of_document(memory, record, now)]
    if isinstance(record, Proposal):
        from tui.render.details.proposal_detail import describe_proposal

        return describe_proposal(memory, record, now)
    return _checkpoint(memory, record, now)


def as_text(lines: Iterable[Line]) -> list[str]:
    """Return the lines without their styles."""
    return ["".join(text for text, _ in line).rstrip() for line in lines]


def _section(label: str, text: str) -> list[Line]:
    if not text:
        return []
    first, *rest = text.replace("\r\n", "\n").split("\n")
    return [row(label, first), *([(" " * LABEL, ""), (line, "")] for line in rest)]


def _fact(
    memory: Memory, fact: Fact, now: str, shown: GlobalFact | None = None, cited: Callable[[str], str] = str
) -> list[Line]:
    """Describe a fact of `memory`; a global one as it is `shown` in a project, with the facts in a text `cited` as
    there."""
    badge = fact_badge(fact, now)
    glyph, word = FACT_BADGES[badge]
    bound = memory.evidence.of("fact", fact.id) if fact.evidence else []
    lines: list[Line] = [
        [
            *head("global fact" if shown else "fact", shown or fact, fact.domain),
            (" · ", "dim"),
            (f"{glyph} {word}", f"glyph-{badge}"),
        ],
        *words(fact.fact, "title"),
        [],
        _confirmed(fact, badge, now),
        *bound_lines(bound),
        row("Learned", when(fact.created_at, now)),
        spoken(fact.origin, fact.source, f"confidence {fact.confidence}"),
    ]
    if shown is not None:
        lines.append(row("Scope", "global: kept in your personal memory, seen in every project"))
    elif moved := memory.moves.moved_to(fact.id):
        lines.append(row("Moved", f"to [{moved}], seen in every project"))
    elif fact.scope != "project":
        lines.append(row("Scope", f"{fact.scope} {fact.session}, and ends with it" if fact.session else fact.scope))
    lines += _tags(fact)
    if memory.mutes.among([fact.id]):
        lines.append(row("Muted", "not sent to agents"))
    lines += evidence(memory, fact, bound)
    chain = memory.facts.chain(fact.id)
    if len(chain) > 1:
        lines += [[], [("What it said over time", "heading")]]
        for link in chain[-CHAIN:]:
            mark = "▸ " if link.id == fact.id else "  "
            lines.append(
                [
                    (mark, "dim"),
                    (cite("global" if shown else "fact", link.id), "cite"),
                    (f"  {link.fact}", ""),
                    (f"  {state_word(link.status)}", "dim"),
                ]
            )
    title = "History, in your personal memory" if shown else "History"
    return lines + _life(memory, "fact", fact.id, now, title, cited)


def _tags(record: Fact | Decision | Task) -> list[Line]:
    return [row("Tags", ", ".join(record.tags))] if record.tags else []


def _confirmed(fact: Fact, badge: str, now: str) -> Line:
    """Return when a fact was confirmed, and if that is why it is aging, low or stale, from when on it is."""
    if badge not in ("aging", "low", "stale"):
        return row("Confirmed", when(fact.last_confirmed_at, now))
    limit = AGEING_TABLE[fact.confidence][AGEING_STATES.index(badge) - 1]
    return row(f"Why {badge}", f"confirmed {when(fact.last_confirmed_at, now)}; {badge} after {limit} d")


def _decision(memory: Memory, decision: Decision, now: str) -> list[Line]:
    status = "" if decision.status == "active" else state_word(decision.status)
    lines: list[Line] = [
        head("decision", decision, decision.impact, decision.phase, status),
        [(decision.title, "title")],
        [(when(decision.decided_at, now), "dim")],
        [],
        *_section("Chosen", decision.chosen),
        *_section("Because", decision.rationale),
    ]
    for index, alternative in enumerate(decision.alternatives):
        lines.append(row("" if index else "Instead of", alternative))
    lines += _section("Context", decision.context)
    links = memory.commits.links_of_decision(decision.id)
    lines += _links(memory, links, "commit") if links else [row("Commits", "none linked", "dim")]
    if decision.evidence:
        lines += bound_lines(memory.evidence.of("decision", decision.id))
    lines += _tags(decision)
    lines.append(spoken(decision.origin))
    if decision.supersedes is not None:
        lines.append(row("Replaces", cite("decision", decision.supersedes), "cite"))
    successor = memory.decisions.successor(decision.id)
    if successor is not None:
        lines.append([("Replaced by".ljust(LABEL), "label"), (cite("decision", successor), "cite")])
    if decision.iteration_id is not None:
        lines.append(row("During", cite("iteration", decision.iteration_id), "cite"))
    return lines + _life(memory, "decision", decision.id, now)


def _commit(memory: Memory, commit: Commit, now: str) -> list[Line]:
    files = f"{commit.files_changed} file{'' if commit.files_changed == 1 else 's'}"
    lines: list[Line] = [
        head("commit", commit, commit.author),
        [(commit.subject, "title")],
        [(when(commit.committed_at, now), "dim")],
        [
            (f"{files}  ", "dim"),
            (f"+{commit.insertions}", "added"),
            ("  ", ""),
            (f"−{commit.deletions}", "removed"),
        ],
        *(words(f"\n{commit.body}", "") if commit.body else []),
        [],
        [(commit.sha, "dim")],
    ]
    if commit.iteration_id is not None:
        lines.append(row("During", cite("iteration", commit.iteration_id), "cite"))
    if not commit.reachable:
        lines.append(row("Gone", "no branch leads to this commit any more; it is kept here", "dim"))
    return lines + _links(memory, memory.commits.links_of_commit(commit.id), "decision")


def _links(memory: Memory, links: list[Link], other: str) -> list[Line]:
    """Return the other ends of a record's links, each with its title, those of one type together."""
    words = {
        "commit": {"implements": "Implemented", "reverts": "Reverted", "relates": "Related"},
        "decision": {"implements": "Implements", "reverts": "Reverts", "relates": "Relates to"},
    }[other]
    ends = [(link.link_type, link.commit if other == "commit" else link.decision) for link in links]
    titles = {
        one.citation: one.subject if isinstance(one, Commit) else one.title
        for one in lookup.there(memory.database, (parse_citation(end) for _, end in ends))
        if isinstance(one, Commit | Decision)
    }
    lines: list[Line] = []
    for link_type, word in words.items():
        of_type = [end for kind, end in ends if kind == link_type]
        for number, end in enumerate(of_type, 1):  # the others may be below the edge
            title = f"{f' {number}/{len(of_type)}' if len(of_type) > 1 else ''}  {titles.get(end, '')[:TITLE]}"
            lines.append([(word.ljust(LABEL), "label"), (end, "cite"), (title.rstrip(), "dim")])
            word = ""
    return lines


def _event(event: Event, now: str) -> list[Line]:
    lines: list[Line] = [
        head("event", event, event.phase),
        [(event_words(event), "title")],
        [(when(event.created_at, now), "dim")],
        [],
        spoken(event.origin),
    ]
    if event.iteration_id is not None:
        lines.append(row("During", cite("iteration", event.iteration_id), "cite"))
    if event.payload is not None:
        text = json.dumps(event.payload, ensure_ascii=False, indent=2)
        lines += [[], *([(line, "")] for line in text.split("\n"))]
    return lines


def _iteration(memory: Memory, iteration: Iteration, now: str) -> list[Line]:
    lines: list[Line] = [
        head("iteration", iteration, iteration.command, iteration.status),
        [(iteration.description or iteration.command, "title")],
        [],
        row("Started", when(iteration.started_at, now)),
    ]
    if iteration.completed_at:
        lines.append(row("Ended", when(iteration.completed_at, now)))
    for label, things in (("Phases", iteration.phases_completed), ("Artifacts", iteration.artifacts)):
        if things:
            lines.append(row(label, ", ".join(map(str, things))))
    for name in linked_records.PARTS:
        lines += _belonging(memory, name, iteration.id)
    return lines


def _belonging(memory: Memory, name: str, iteration: int) -> list[Line]:
    """Return the records of one kind that belong to an iteration, at most BELONGING."""
    ids = linked_records.part(memory.database, name, iteration)
    if not ids:
        return []
    lines: list[Line] = [[], [(name.capitalize(), "heading")]]
    for record in many(memory.database, name.removesuffix("s"), ids[:BELONGING]):
        text, extra = summary(record)
        beside = extra if isinstance(record, Task) else ""
        lines.append([("  ", ""), (record.citation, "cite"), (f"  {text}", ""), (f"  {beside}", "dim")])
    if len(ids) > BELONGING:
        lines.append([(f"  … and {len(ids) - BELONGING:,} more", "dim")])
    return lines


def _task(memory: Memory, task: Task, now: str) -> list[Line]:
    lines: list[Line] = [
        head("task", task, state_word(task.status)),
        *words(task.text, "title"),
        [],
        row("Added", when(task.created_at, now)),
    ]
    if task.updated_at != task.created_at:
        lines.append(row("Changed", when(task.updated_at, now)))
    if task.iteration_id is not None:
        lines.append(row("During", cite("iteration", task.iteration_id), "cite"))
    lines += _tags(task)
    lines.append(spoken(task.origin))
    return lines + _life(memory, "task", task.id, now)


def brief(record: Checkpoint | Chunk | Proposal) -> list[Line]:
    """Return the first lines of a record whose full description takes longer than a frame."""
    if isinstance(record, Proposal):
        from tui.render.details.proposal_detail import heading

        return heading(record)
    if isinstance(record, Checkpoint):
        return [head("checkpoint", record, record.level if record.by_itself else ""), [(record.title, "title")]]
    return [head("document", record), *([[(record.heading, "title")]] if record.heading else [])]


def _of_document(memory: Memory, chunk: Chunk, now: str) -> list[Line]:
    from tui.input.key_table import named

    lines = [row("Of", when(chunk.at, now)), row("File", chunk.path)]
    if memory.database.moment:
        return lines
    return [*lines, [(f"{named('record.edit')} opens it there in your editor", "dim")]]


def _checkpoint(memory: Memory, checkpoint: Checkpoint, now: str) -> list[Line]:
    from tui.input.key_table import named

    changes = memory.plans.since(checkpoint.seq).changes
    changed = len(changes)
    by_hand = checkpoint.trigger == "person" and checkpoint.origin == PERSON
    who = "a person" if checkpoint.origin == PERSON else checkpoint.origin
    lines: list[Line] = [
        *brief(checkpoint),
        [(when(checkpoint.created_at, now), "dim")],
        [],
        row("Taken", f"by {who}" if checkpoint.trigger == "person" else checkpoint.why),
        # a person's own is of no session: what was said last is kept with it
        *([row("Last chat" if by_hand else "Session", checkpoint.session)] if checkpoint.session else []),
        row("At step", str(checkpoint.seq)),
        row("Since then", f"{changed:,} record{'' if changed == 1 else 's'} changed" if changed else "nothing changed"),
        *held(memory, checkpoint, now),
    ]
    if changes:
        lines += [[], [("Changed since", "heading")]]
    for change in changes[:SHOWN]:
        sign = change_summary.sign(change.then, change.now)
        looks = {"+": "added", "-": "removed", "~": "glyph-aging"}
        lines.append(
            [
                (f"  {sign} ".replace("-", "−"), looks[sign]),
                (change.citation, "cite" if change.kind != "link" else "dim"),
                (f"  {change_summary.happened(change.then, change.now)}  ", "dim"),
                (change.title.partition("\n")[0], "cut"),
            ]
        )
    if changed > SHOWN:
        lines.append([(f"  … and {changed - SHOWN:,} more", "dim")])
    if memory.database.moment:
        return lines
    back = f"{named('checkpoint.restore')}, or :restore {checkpoint.citation}, shows what going back would change"
    return [*lines, [], [(back, "dim")]]


def _life(
    memory: Memory, kind: str, number: int, now: str, title: str = "History", cited: Callable[[str], str] = str
) -> list[Line]:
    """Return the steps of history that changed a record, newest first."""
    steps = memory.history.steps(record=(kind, number), limit=STEPS)
    lines: list[Line] = [[], [(title, "heading")]] if steps else []
    for step in steps:
        back = ", undone" if step.undone_by else ""
        line: Line = [
            (f"{ago(now, step.at):>6}  ", "dim"),
            (f"{cited(step.reason):<16}", "dim" if step.undone_by else ""),
        ]
        lines.append([*line, (f"  {writer(step.actor)}, {step.door}{back}", "dim")])
    return lines


def describe_step(memory: Memory, step: Step) -> list[Line]:
    """Return a step of history: author, time, door, reason, and every record before and after."""
    from tui.input.key_table import named

    now = memory.now
    lines: list[Line] = [
        [(f"step {step.seq}", "own"), (f"  {writer(step.actor)}, {step.door}", "dim")],
        [(step.reason, "title")],
        [(when(step.at, now), "dim")],
    ]
    if step.undoes is not None:
        lines.append(row("Undoes", f"step {step.undoes}"))
    if step.undone_by is not None:
        lines.append(row("Undone", _how_far(memory, step), "dim"))
    elif not memory.database.moment:
        rest = "" if step.actor == PERSON else f"; {named('step.undo-all')} all that {step.actor} wrote"
        lines += [[], [(f"{named('step.undo')} undoes this step, or those marked{rest}", "dim")]]
    changes = memory.history.changes(step.seq, limit=SHOWN)
    for change in changes:
        lines += [[], *_change(change)]
    if step.changes > len(changes):
        lines += [[], [(f"… and {step.changes - len(changes):,} more records", "dim")]]
    return lines


def _how_far(memory: Memory, step: Step) -> str:
    """Return which step undid a step, and whether completely."""
    by = memory.history.step(step.undone_by or 0)
    if by.undoes == step.seq and by.changes < step.changes:
        return f"by step {by.seq}: {by.changes} of {step.changes} records"
    return f"by step {by.seq}"


def _change(change: Change) -> list[Line]:
    """Return a record's change: its citation, the operation, and the columns before and after."""
    muting = change.table == "mutes"
    kind = "fact" if muting else KINDS.get(change.table)
    cited = cite(kind, change.key[0]) if kind else "link"
    word = (MUTING if muting else DONE)[change.op]
    states = [] if muting else compare(change.before, change.after)
    return [[(cited, "cite"), (f"  {word}", "heading")], *states]
