"""What search finds in conversations, chats, texts in two languages, and histories of git, by the product's own API.

    python -m bench.retrieval --data DIR [--vectors FILE] [--chats N,N…] [--indexed SHARE] [--unseen DIR] [--ablation]
        [--results] [--check]

Every message is a turn, added by `turns.add`; each conversation has a file of its own. R@k is the share of the evidence
among the first k, averaged over the questions with evidence. The search is compared with its parts: keywords alone,
vectors alone, their reciprocal ranks (k = 60), and a plain FTS5 table of whole texts. A cell is a set, a kind, a
direction of languages or a length of question with FEWEST questions or more; in each the search must not be worse than
any part (paired bootstrap, 95 %): with --check the exit status is 1 if it is. --vectors caches the model's vectors in a
file, by text. Where the search says that nothing is near, it shows the five nearest as such: they count in these
cells, as its parts never refuse, and nowhere else. --results writes its part of bench/RESULTS.md."""

from __future__ import annotations

import argparse
import io
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from typing import NamedTuple
from unittest.mock import patch

import apsw

from bench import results
from bench.datasets import ADVERSARIAL, CATEGORIES, Reading, change_logs, chats, dialogues, need, readings, recall
from bench.store import heading, quantile
from bench.vector_cache import keep_vectors
from store.base.vocabulary import RECORD_KEY_MASK
from store.conversations.turns import NewTurn
from store.git.repository import Repository
from store.memory import Memory
from store.search.query_parser import CorpusFilters, parse_query
from store.search.ranking import SIGNAL_WEIGHTS
from store.text.words import load_stop_words

DEPTH, POOL, K = 10, 100, 60
FEWEST = 100  # minimum questions of a cell
RESAMPLED = 1_000
SHORT, LONG = 8, 15  # words of a question
FACTUAL = ("information_extraction", "knowledge_update", "temporal_reasoning", "multi_session_reasoning")
OURS, SHOWN, PARTS = "search", "shown", ("keywords", "vectors", "plain FTS5", "reciprocal ranks")
PREFACE = """Written by `python -m bench.retrieval --results`: LoCoMo's first three conversations, chats of BEAM 100K,
XQuAD's first half in English and Spanish, each in a memory of its own and both in one (`mixed`), and `changes`: lines
of a project's list of changes, asking for the commits that did it. All of it is development data, on which weights and
lines were chosen; but none were on `changes`."""


class Asked(NamedTuple):
    """A question to one memory, and the names of the texts that answer it; none if nothing does."""

    text: str
    kind: str
    evidence: tuple[str, ...]


class Body(NamedTuple):
    """A memory's texts by name, how to write them, and its questions."""

    set: str
    name: str
    turns: list[tuple[str, str, NewTurn]]  # (name, session, turn)
    facts: list[tuple[str, str]]  # (name, text)
    questions: list[Asked]
    repository: str = ""  # the folder whose commits it has; their names are their hashes


class Outcome(NamedTuple):
    """The results of one question by each way, as names of texts."""

    set: str
    kind: str
    length: str
    evidence: tuple[str, ...]
    found: dict[str, list[str]]
    verdict: str
    milliseconds: float
    sessions: float | None = (
        None  # share of the evidence's sessions among the first ten; None where there is only one
    )


def bodies(folder: str, wanted: Sequence[str]) -> Iterator[Body]:
    """Return all data sets below the folder."""
    for dialogue in dialogues(folder):
        first = dialogue.turns[0].speaker
        turns = [
            (
                one.name,
                one.session,
                NewTurn("user" if one.speaker == first else "assistant", one.text, one.speaker, one.at),
            )
            for one in dialogue.turns
        ]
        asked = [
            Asked(one.text, CATEGORIES.get(one.category, ""), () if one.category == ADVERSARIAL else one.evidence)
            for one in dialogue.questions
        ]
        yield Body("LoCoMo", f"LoCoMo {dialogue.name}", turns, [], asked)
    for chat in chats(folder):
        if not wanted or chat.name in wanted:
            said = [(name, session, NewTurn(role, text, role, at)) for name, session, role, text, at in chat.turns]
            yield Body("BEAM", f"BEAM {chat.name}", said, [], [Asked(*one) for one in chat.questions])
    found = readings(folder)
    for reading in found:
        facts = [(f"{reading.language}:{place}", text) for place, text in enumerate(reading.paragraphs)]
        questions = [
            Asked(question, f"{asking.language}→{reading.language}", (f"{reading.language}:{place}",))
            for asking in found
            for question, place in asking.questions
        ]
        yield Body("XQuAD", f"XQuAD {reading.language}", [], facts, questions)
    if len(found) > 1:
        yield mixed(found)
    for log in change_logs(folder):
        yield Body(
            "changes",
            f"changes {log.name}",
            [],
            [],
            [Asked(text, log.name, shas) for text, shas in log.entries],
            log.root,
        )


def mixed(found: Sequence[Reading]) -> Body:
    """Return one memory that speaks all languages: each paragraph is in one of them, in turn, and asked for in each."""
    chosen = [found[place % len(found)] for place in range(min(len(one.paragraphs) for one in found))]
    names = [f"{one.language}:{place}" for place, one in enumerate(chosen)]
    facts = [(name, one.paragraphs[place]) for place, (name, one) in enumerate(zip(names, chosen, strict=True))]
    questions = [
        Asked(question, f"{asking.language}→{chosen[place].language}", (names[place],))
        for asking in found
        for question, place in asking.questions
        if place < len(chosen)
    ]
    return Body("XQuAD, mixed", "XQuAD, mixed", [], facts, questions)


class Remembered:
    """A memory file with an embedded body, and the ways to search it."""

    def __init__(self, folder: str, body: Body, indexed: float = 1.0) -> None:
        from store.upkeep import background_embedding, maintenance

        place = os.path.join(folder, body.name.replace(" ", "-"))
        os.mkdir(place)
        self.memory = Memory.open(os.path.join(place, "memory.db"))
        self._names: dict[int, str] = {}
        self._sessions = {name: session for name, session, _ in body.turns}
        sessions: dict[str, list[tuple[str, NewTurn]]] = {}
        for name, session, turn in body.turns:
            sessions.setdefault(session, []).append((name, turn))
        for session, said in sessions.items():
            ids = self.memory.turns.add_turns(session, [turn for _, turn in said])
            self._names |= {id * 16 + 7: name for id, (name, _) in zip(ids, said, strict=True)}
        for name, text in body.facts:
            self._names[self.memory.facts.remember(text)[0] * 16] = name
        commits: list[tuple[int, str, str]] = []
        if body.repository:
            maintenance.read_new_commits(self.memory, Repository(body.repository))
            commits = self.memory.database.rows("SELECT id, sha, message FROM commits")
            self._names |= {id * 16 + 2: sha for id, sha, _ in commits}
        background_embedding.embed_waiting(self.memory)
        if indexed < 1:
            self._unindex(1 - indexed)
        self._plain = apsw.Connection(":memory:")
        self._plain.execute(
            "CREATE VIRTUAL TABLE plain USING fts5(name UNINDEXED, text, tokenize='porter unicode61')"
        )
        texts = [*((name, turn.text) for name, _, turn in body.turns), *body.facts, *(row[1:] for row in commits)]
        self._plain.executemany("INSERT INTO plain VALUES (?, ?)", texts)

    def _unindex(self, share: float) -> None:
        """Delete a share of the vectors, as if they waited."""
        dice = random.Random(4)
        with self.memory.database.write("agent", "bench") as write:
            for (key,) in self.memory.database.rows("SELECT key FROM vectors"):
                if dice.random() < share:
                    write.execute("DELETE FROM vectors WHERE key = ?", (key,))

    def close(self) -> None:
        self._plain.close()
        self.memory.close()

    def ask(self, set: str, asked: Asked) -> Outcome:
        keywords = self._named(self.memory.search(asked.text, POOL, meaning=False).hits)
        vectors = self._nearest(asked.text)
        start = time.perf_counter()
        answer = self.memory.search(asked.text, DEPTH)
        spent = (time.perf_counter() - start) * 1e3
        found = {
            OURS: self._named(answer.hits),
            SHOWN: self._named(answer.hits or answer.nearest),
            "keywords": keywords[:DEPTH],
            "vectors": vectors[:DEPTH],
            "plain FTS5": self._whole(asked.text),
            "reciprocal ranks": _reciprocal(keywords, vectors)[:DEPTH],
        }
        words = len(asked.text.split())
        length = (
            "short questions" if words <= SHORT else "long questions" if words > LONG else "middling questions"
        )
        several = asked.evidence and len({*self._sessions.values()}) > 1
        sessions = self._sessions_of(asked) if several else None
        return Outcome(set, asked.kind, length, asked.evidence, found, answer.verdict, spent, sessions)

    def _sessions_of(self, asked: Asked) -> float:
        """Return the share of the evidence's sessions among the first ten sessions of what was found."""
        found = self._named(self.memory.search(asked.text, POOL).hits)
        ranked = list(dict.fromkeys(self._sessions[name] for name in found))
        return recall(ranked, tuple({self._sessions[name] for name in asked.evidence}), DEPTH)

    def recalled(self, asked: Asked) -> float:
        """Return the share of the evidence among the first ten."""
        return recall(self._named(self.memory.search(asked.text, DEPTH).hits), asked.evidence, DEPTH)

    def _named(self, hits: Sequence[object]) -> list[str]:
        return [self._names[hit.key] for hit in hits]  # type: ignore[attr-defined]

    def _nearest(self, text: str) -> list[str]:
        look = self.memory.search.meaning.start_query(text)  # type: ignore[union-attr]
        assert look is not None
        filters = CorpusFilters(self.memory.database, parse_query(text, self.memory.now))
        return list(
            dict.fromkeys(
                self._names[key & RECORD_KEY_MASK] for key in look.nearest_passages(filters, [], 3 * POOL)
            )
        )

    def _whole(self, text: str) -> list[str]:
        words = list(dict.fromkeys(parse_query(text, self.memory.now).words))
        kept = [word for word in words if word.lower() not in load_stop_words("search")] or words
        if not kept:
            return []
        match = " OR ".join(f'"{word}"' for word in kept)
        rows = self._plain.execute(
            "SELECT name FROM plain WHERE plain MATCH ? ORDER BY rank LIMIT ?", (match, DEPTH)
        )
        return [str(name) for (name,) in rows]


def _reciprocal(*lists: Sequence[str]) -> list[str]:
    scores: dict[str, float] = {}
    for found in lists:
        for place, name in enumerate(found, start=1):
            scores[name] = scores.get(name, 0.0) + 1 / (K + place)
    return sorted(scores, key=lambda name: -scores[name])


# tables


def tables(outcomes: Sequence[Outcome]) -> bool:
    """Print the results; return whether the search is nowhere worse than a part."""
    answered = [one for one in outcomes if one.evidence]
    print("\n| set | questions | way | R@1 | R@5 | R@10 | MRR |\n|---|---|---|---|---|---|---|")
    for name in dict.fromkeys(one.set for one in answered):
        mine = [one for one in answered if one.set == name]
        for way in (OURS, *PARTS):
            figures = [
                100 * statistics.fmean(recall(one.found[way], one.evidence, k) for one in mine) for k in (1, 5, 10)
            ]
            shown = " | ".join(f"{figure:.1f}" for figure in figures)
            print(f"| {name} | {len(mine):,} | {way} | {shown} | {statistics.fmean(map(_rank(way), mine)):.3f} |")
    print("\n| set, kind | questions | R@10 |\n|---|---|---|")
    for name, kind in sorted({(one.set, one.kind) for one in answered}):
        mine = [one for one in answered if (one.set, one.kind) == (name, kind)]
        first = 100 * statistics.fmean(recall(one.found[OURS], one.evidence, 1) for one in mine)
        ten = 100 * statistics.fmean(recall(one.found[OURS], one.evidence, 10) for one in mine)
        print(f"| {name}, {kind} | {len(mine)} | {ten:.1f}{f' (R@1 {first:.1f})' if '→' in kind else ''} |")
    for name in dict.fromkeys(one.set for one in answered):
        by = [one.sessions for one in answered if one.set == name and one.sessions is not None]
        if by:
            print(f"| {name}, sessions instead of turns | {len(by)} | {100 * statistics.fmean(by):.1f} |")
    factual = [one for one in answered if one.kind in FACTUAL]
    if factual:
        ten = 100 * statistics.fmean(recall(one.found[OURS], one.evidence, 10) for one in factual)
        print(f"| BEAM, the four kinds that ask for facts | {len(factual)} | {ten:.1f} |")
    return _cells(answered)


def _rank(way: str) -> Callable[[Outcome], float]:
    return lambda one: next((1 / at for at, name in enumerate(one.found[way], 1) if name in one.evidence), 0.0)


def _cells(answered: Sequence[Outcome]) -> bool:
    """Compare every cell with every part: the difference in R@10, and its 95 % interval."""
    cells: dict[str, list[Outcome]] = {}
    for one in answered:
        for cell in (one.set, f"{one.set}, {one.kind}", f"{one.set}, {one.length}"):
            cells.setdefault(cell, []).append(one)
    print(f"\nR@10 of what the search shows less that of its parts, in cells of {FEWEST} questions or more\n")
    print(f"| cell | questions | {' | '.join(PARTS)} |\n|---|---|{'---|' * len(PARTS)}")
    good = True
    for cell, mine in sorted(cells.items()):
        if len(mine) < FEWEST:
            continue
        shown = []
        for way in PARTS:
            apart = [
                recall(one.found[SHOWN], one.evidence, 10) - recall(one.found[way], one.evidence, 10)
                for one in mine
            ]
            low, high = _interval(apart)
            good = good and high >= 0
            mean, worse = statistics.fmean(apart), "" if high >= 0 else " WORSE"
            shown.append(f"{100 * mean:+.1f} ({100 * low:+.1f} … {100 * high:+.1f}){worse}")
        print(f"| {cell} | {len(mine)} | {' | '.join(shown)} |")
    return good


def _interval(apart: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of a mean, by resampling the questions."""
    draw = random.Random(1)
    means = sorted(statistics.fmean(draw.choices(apart, k=len(apart))) for _ in range(RESAMPLED))
    return means[int(0.025 * RESAMPLED)], means[int(0.975 * RESAMPLED) - 1]


def own_sentences(memories: Sequence[tuple[Body, Remembered]], count: int = 20) -> None:
    """Measure how often a keyword search for a turn's own sentence ranks it, or a shorter one with the same content,
    first."""
    draw = random.Random(2)
    first = total = 0
    for body, remembered in memories:
        said = [turn.text for _, _, turn in body.turns]
        for text in draw.sample(said, min(count, len(said))):
            sentences = [one.strip() for one in text.replace("\n", ". ").split(". ") if len(one.split()) > 5]
            if sentences:
                sentence = draw.choice(sentences)
                hits = remembered.memory.search(
                    sentence.replace('"', " ").replace(":", " "), 1, meaning=False
                ).hits
                total += 1
                first += bool(hits) and sentence.lower()[:40] in getattr(hits[0].record, "text", "").lower()
    if total:
        print(f"\nOwn sentence first: {first} of {total}.")


def ablation(memories: Sequence[tuple[Body, Remembered]], every: int) -> None:
    """Print R@10 of each set without each signal of the ranking."""
    sets = list(dict.fromkeys(body.set for body, _ in memories))
    print(f"\n| R@10 without | {' | '.join(sets)} |\n|---|{'---|' * len(sets)}")
    for name in ("nothing", *SIGNAL_WEIGHTS):
        found: dict[str, list[float]] = {}
        with patch.dict(SIGNAL_WEIGHTS, {} if name == "nothing" else {name: 0.0}):
            for body, remembered in memories:
                for asked in body.questions[:: every if body.set.startswith("XQuAD") else 1]:
                    if asked.evidence:
                        found.setdefault(body.set, []).append(remembered.recalled(asked))
        print(
            f"| {name} | {' | '.join(f'{100 * statistics.fmean(found[set]):.1f}' for set in sets)} |", flush=True
        )


def _asked(
    folder: str, scratch: str, options: argparse.Namespace
) -> tuple[list[tuple[Body, Remembered]], list[Outcome]]:
    """Ask every question of the data sets below a folder; return their memories, still open, and the outcomes."""
    outcomes: list[Outcome] = []
    memories: list[tuple[Body, Remembered]] = []
    for body in bodies(folder, [name for name in options.chats.split(",") if name]):
        remembered = Remembered(scratch, body, options.indexed)
        memories.append((body, remembered))
        every = options.every if body.set.startswith("XQuAD") else 1
        outcomes += [remembered.ask(body.set, asked) for asked in body.questions[::every]]
        print(f"{body.name}: {len(body.questions[::every])} questions", file=sys.stderr, flush=True)
    return memories, outcomes


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", metavar="DIR", help="a folder that LoCoMo, BEAM and XQuAD lie in")
    parser.add_argument("--vectors", metavar="FILE", help="where the model's vectors are kept from run to run")
    parser.add_argument("--chats", metavar="N,N…", default="", help="of BEAM only these chats")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="of XQuAD only every Nth question")
    parser.add_argument("--indexed", type=float, default=1.0, metavar="SHARE", help="of the texts, the rest waits")
    parser.add_argument("--unseen", metavar="DIR", help="another folder, whose data was used for nothing before")
    parser.add_argument("--ablation", action="store_true", help="also search without each signal of the ranking")
    parser.add_argument("--results", action="store_true", help="write its part of bench/RESULTS.md")
    parser.add_argument("--check", action="store_true", help="end with 1 where a part finds more")
    options = parser.parse_args(arguments)
    folder = need(options.data, "what search finds")
    from bench import refusal  # which asks the memories of this module

    if options.vectors:
        keep_vectors(options.vectors)
    text = io.StringIO()
    with redirect_stdout(text), tempfile.TemporaryDirectory(prefix="memoranda-bench-") as scratch:
        heading("retrieval")
        memories, outcomes = _asked(folder, scratch, options)
        if not outcomes:
            need(None, "what search finds")
        good = tables(outcomes)
        own_sentences(memories)
        refusal.tables(refusal.judged(memories))
        if options.ablation:
            ablation(memories, options.every)
        times = [one.milliseconds for one in outcomes]
        print(f"\nA whole search: {statistics.median(times):.0f} ms p50, {quantile(times, 0.95):.0f} ms p95.")
        if options.unseen:
            print("\nOf projects that no weight, line or rule was tried on:")
            more, outcomes = _asked(options.unseen, scratch, options)
            good = tables(outcomes) and good
            memories += more
        for _, remembered in memories:
            remembered.close()
    print(text.getvalue())
    if options.results:
        results.put("retrieval", results.machine(), f"{PREFACE}\n\n{text.getvalue()}")
    return 0 if good or not options.check else 1


if __name__ == "__main__":
    sys.exit(main())
