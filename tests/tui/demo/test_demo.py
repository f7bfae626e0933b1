"""The demo: what it holds, that it is the same each time, and how `memoranda demo` opens it and takes it away."""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from support.commands import Do, runner
from support.ours import ours
from support.screen import opened
from support.stories import NOON, Clock
from support.terminals import ended, sees

from bench import screen_text
from bench.terminal import Terminal
from store.base.errors import StorageError
from store.base.models import Fact
from store.base.vocabulary import DOMAINS
from store.conversations import extraction_queue
from store.conversations.sessions import Sessions
from store.conversations.summaries import Summaries
from store.database import change_capture
from store.exchange.exporter import export_text
from store.inbox import duplicates
from store.inbox.duplicates import find_decision_matches, find_similar_facts
from store.memory import Memory
from tui.actions.records import OFFERED, offer_facts, offer_links
from tui.commands.location import DEMO_HINT
from tui.demo import builder as demo
from tui.demo.builder import DEMO_AUTHORS
from tui.render.lines import FACT_BADGES, fact_badge, looks_like_order

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-P", "-m", "tui.main"]
SPANISH = re.compile(r"[áéíóúñ¿¡]| (?:una?|los|las|que|con|para) ", re.IGNORECASE)
ENGLISH = re.compile(r"\b(?:the|and|with|is|are|of)\b", re.IGNORECASE)


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo of one noon, which no test changes."""
    place = demo.build_demo(str(tmp_path_factory.mktemp("demo")), NOON)
    return Path(place.project or "")


@pytest.fixture
def memory(folder: Path, tmp_path: Path):
    """A copy of its memory, open."""
    shutil.copytree(folder / ".memoranda", tmp_path / "billing-api" / ".memoranda")
    path = str(tmp_path / "billing-api" / ".memoranda" / "memory.db")
    with Memory.open(path, "app", Clock()) as memory:
        yield memory


def exported(memory: Memory) -> dict[str, Any]:
    """The whole memory, without the salts of history, the digests of questions, which are made with a key of the
    memory's own, and what is computed from them: they are random by design."""
    whole: dict[str, Any] = json.loads("".join(export_text(memory.database)))
    salted = {"salt", "leaf", "rows_root", "digest", "asked", "based_on"}
    for rows in whole["tables"].values():
        for row in rows:
            for name in salted & set(row):
                del row[name]
            for name in {"before", "after"} & set(row):
                if row[name] is not None:
                    row[name] = {**json.loads(row[name]), "asked": "", "based_on": ""}
    del whole["checksums"], whole["checksum"], whole["seal"]
    return whole


def every(memory: Memory) -> list[Fact]:
    statuses = ("active", "superseded", "forgotten")
    return memory.facts.get_many(memory.facts.ids(NOON, statuses=statuses))


def named(memory: Memory, text: str) -> Fact:
    (found,) = [fact for fact in every(memory) if text in fact.fact]
    return found


def checkpoint(memory: Memory, name: str):
    (found,) = [found for found in memory.checkpoints.list_newest_first() if found.name == name]
    return found


# what it holds


def test_two_of_one_moment_are_the_same(folder: Path, tmp_path: Path, monkeypatch):
    """Shas, files, and every record with its ids and times, wherever and in whatever time zone it is made."""
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    time.tzset()
    monkeypatch.setenv("MEMORANDA_DB", str(tmp_path / "mine.db"))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    try:
        place = demo.build_demo(str(tmp_path), NOON)
    finally:
        monkeypatch.undo()
        time.tzset()
    other = Path(place.project or "")
    assert other == tmp_path / "billing-api" and not (tmp_path / "mine.db").exists()
    assert git(other, "rev-parse", "HEAD") == git(folder, "rev-parse", "HEAD")
    with Memory.open(place.path) as mine, Memory.open(str(folder / ".memoranda" / "memory.db")) as theirs:
        assert exported(mine) == exported(theirs)


def test_facts_of_every_kind(memory: Memory):
    facts = every(memory)
    assert 110 <= len(facts) <= 140
    badges = Counter(fact_badge(fact, NOON) for fact in facts)
    assert set(badges) == set(FACT_BADGES) - {"contradicted"}, "nothing writes a contradicted fact yet"
    assert min(badges["aging"], badges["fresh"]) >= 20 and min(badges.values()) >= 2
    assert {fact.domain for fact in facts} == set(DOMAINS)
    assert {fact.confidence for fact in facts} == {"high", "medium", "low"}
    origins = "user agent mcp:claude-code hook file import:notes talk:importer"
    assert {fact.origin for fact in facts} == set(origins.split())
    assert sum(bool(fact.tags) for fact in facts) >= 20
    assert any(fact.pinned and "allergic" in fact.fact for fact in facts)
    for language in (SPANISH, ENGLISH):
        assert sum(bool(language.search(fact.fact)) for fact in facts) >= 30
    doors = dict(memory.database.rows("SELECT DISTINCT actor, door FROM history ORDER BY door"))
    assert doors["mcp:claude-code"] == "mcp" and doors["import:notes"] == "cli" and doors["user"] == "app"


def test_a_first_walk_finds_what_it_needs(memory: Memory):
    """Aging facts of work to confirm, a wrong fact that another record gives away, the answer to "why sqlite"."""
    aging = [fact for fact in every(memory) if fact.domain == "work" and fact_badge(fact, NOON) == "aging"]
    assert len(aging) >= 8
    assert named(memory, "Team of four").status == "active" and "five people" in named(memory, "The team is").fact
    chain = memory.facts.chain(named(memory, "Team of four").id)
    assert [fact.fact.split(":")[0] for fact in chain] == ["Team of three", "Team of four"]
    why, *others = memory.search("why sqlite").hits
    assert {hit.kind for hit in others} == {"fact", "commit"}
    assert "Use SQLite, not PostgreSQL" in why.snippet and "one file" in why.snippet.lower()
    found = {hit.record.id for hit in memory.search("team").hits if hit.kind == "fact"}
    assert {named(memory, "Team of four").id, named(memory, "The team is five").id} <= found


def test_the_old_notes_can_be_taken_back_but_for_two(memory: Memory):
    """Fourteen imported facts after a checkpoint, and one proposed; the person corrected one and confirmed another."""
    notes = [fact for fact in every(memory) if fact.origin == "import:notes"]
    assert len(notes) == 14
    assert named(memory, "VAT in Spain is 18 %").status == "superseded"
    assert named(memory, "VAT in Spain is 21 %").supersedes == named(memory, "VAT in Spain is 18 %").id
    confirmed = [fact for fact in notes if fact.last_confirmed_at > fact.created_at]
    assert [fact.fact[:5] for fact in confirmed] == ["Elías"]
    steps = [step for step in memory.history.steps(limit=-1) if step.actor == "import:notes"]
    assert len(steps) == 15
    assert len({step.at[:15] for step in steps}) == 1, "a script takes seconds"
    assert checkpoint(memory, "before the old notes").seq < min(step.seq for step in steps)


def test_an_inbox_to_decide(memory: Memory):
    """Guesses in both languages: new, corrected, confirmed, told twice, against a rule, and one to be wary of."""
    waiting = memory.inbox.waiting()
    assert Counter(one.kind for one in waiting) == {"add": 6, "confirm": 1, "correct": 1, "merge": 1}
    assert any("importador" in one.text for one in waiting) and any("Team" in one.text for one in waiting)
    assert [one.citation for one in waiting if looks_like_order(one)] == ["P#6"]
    assert [memory.inbox.doubts(one) for one in waiting] == [[]] * 9, "the evidence stands"
    overruled = next(one for one in waiting if "RabbitMQ" in one.text)
    (match,) = find_decision_matches(memory.database, overruled.text)
    assert (match.decision.id, match.against) == (16, True)
    against = next(one for one in waiting if "viernes" in one.text)
    assert [like.how for like in find_similar_facts(memory.database, memory.facts, against.text)] == ["contradicts"]
    for one in waiting:
        memory.inbox.accept(one.id)
    assert memory.inbox.count_waiting() == 0 and named(memory, "Team of five: Nadia").origin == "mcp:claude-code"


def test_conversations_that_taught_something(memory: Memory):
    """A fact in Nadia's own words, a question with what she said as its evidence, summaries, and what was sent."""
    (learned,) = memory.facts.get_many(memory.facts.ids(NOON, origin="talk:importer"))
    assert (learned.fact, learned.evidence) == ("Los errores del importador se dicen en los dos idiomas", ("T#8",))
    (asked,) = [one for one in memory.inbox.waiting() if one.origin == "talk:importer"]
    assert asked.evidence[0].citation == "T#10" and asked.evidence[0].quote in memory.turns.get(10).text
    summaries = {
        session.id: len(Summaries(memory.database).active(session.id))
        for session in Sessions(memory.database).list_newest()
    }
    assert summaries == {"importer": 2, "faster-import": 2}
    sent = memory.context.sent_log
    assert {session: count for session, count, _ in sent.tokens_per_session()} == {"importer": 1, "faster-import": 2}
    assert 0.01 < (sent.useful_share() or 0) < 0.5, "some of it was cited"
    assert not extraction_queue.has_due_entries(memory.database, NOON)
    assert not duplicates.has_uncompared_facts(memory.database)


def test_decisions(memory: Memory):
    decisions = memory.decisions.get_many(memory.decisions.ids(statuses=("active", "superseded", "forgotten")))
    assert 30 <= len(decisions) <= 40
    assert {decision.status for decision in decisions} == {"active", "superseded", "forgotten"}
    assert {decision.impact for decision in decisions} == {"low", "medium", "high", "critical"}
    assert all(one.rationale and one.alternatives and one.phase for one in decisions if one.id != 4)
    assert sum(decision.context != "" for decision in decisions) >= 15
    by_id = {decision.id: decision for decision in decisions}
    rounding = by_id[21]
    assert by_id[by_id[rounding.supersedes].supersedes].title == "Round half up", "a chain of three"
    assert all(by_id[decision.supersedes].status == "superseded" for decision in decisions if decision.supersedes)


def test_the_journal(memory: Memory):
    rows = memory.database.rows
    for table, states in (("iterations", "completed abandoned active"), ("tasks", "pending in_progress done")):
        assert {status for (status,) in rows(f"SELECT status FROM {table}")} == set(states.split())
    assert memory.database.value("SELECT count(*) FROM tasks") == 10
    assert memory.database.value("SELECT count(*) FROM events") >= 20
    names = {found.name for found in memory.checkpoints.list_newest_first()}
    assert {"before refactor", "Monday, before the sprint"} <= names
    assert memory.database.value("SELECT count(*) FROM commits WHERE iteration_id IS NOT NULL") > 100


MOMENTS = [
    (datetime(2026, 11, 15, tzinfo=UTC) + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:00.000Z")
    for hours in (12, 24.1, 36, 47.9, 48.1, 57, 72, 100, 167)
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("now", MOMENTS)
def test_whenever_it_is_made(tmp_path: Path, now: str):
    """Nothing lies ahead, nothing goes back, Monday is a Monday of the last seven days, the rest came after it."""
    place = demo.build_demo(str(tmp_path), now)
    with Memory(place, "app", Clock(now)) as memory:
        times = [at for (at,) in memory.database.rows("SELECT at FROM history ORDER BY seq")]
        assert times == sorted(times) and times[-1] <= now
        assert memory.database.value("SELECT max(committed_at) FROM commits") <= now
        assert times[0] > (datetime.fromisoformat(now) - timedelta(days=360)).isoformat()
        monday = checkpoint(memory, "Monday, before the sprint")
        then = datetime.fromisoformat(monday.created_at)
        assert then.weekday() == 0
        assert timedelta(0) < datetime.fromisoformat(now) - then < timedelta(days=8)
        assert datetime.fromisoformat(now).weekday() != 0 or then.date() != datetime.fromisoformat(now).date()
        assert len([at for at in times if at > monday.created_at]) == 43
        assert memory.tasks.get(6).status == memory.tasks.get(8).status == "done"
        yesterday = (datetime.fromisoformat(now) - timedelta(hours=26)).isoformat()
        assert len([at for at in times if at > yesterday]) >= 8
        assert {decision.id for decision in memory.decisions.get_many([31, 32, 33, 34])} == {31, 32, 33, 34}


def test_what_changed_since_monday(memory: Memory):
    """An agent superseded one decision, forgot another and added three; facts and tasks moved on as they should.

    To go back for the decisions alone makes sense, and to go back for everything is possible.
    """
    monday = checkpoint(memory, "Monday, before the sprint")
    since = [step for step in memory.history.steps(limit=-1) if step.seq > monday.seq]
    changes = [change for step in since for change in memory.history.changes(step.seq)]
    touched = Counter(change.table for change in changes)
    assert set(touched) == {"facts", "decisions", "tasks", "commit_links", "proposals"} and touched["facts"] >= 15
    agent = {step.reason for step in since if step.actor == "mcp:claude-code"}
    assert {"decide D#31", "decide D#32", "decide D#33", "forget D#23"} <= agent
    memory.checkpoints.restore(monday.id)
    assert memory.decisions.get(18).status == memory.decisions.get(23).status == "active"
    assert not memory.decisions.get_many([31, 32, 33, 34])


def test_history_verifies_and_can_be_undone(memory: Memory):
    """Each step carries the digest of the one before; the newest word of the person can be taken back."""
    previous = b""
    columns = "seq, at, actor, door, reason, undoes, changes, rows_root, digest"
    for seq, *head, root, digest in memory.database.rows(f"SELECT {columns} FROM history ORDER BY seq"):
        leaves = memory.database.rows("SELECT leaf FROM history_row WHERE seq = ? ORDER BY n", (seq,))
        assert root == hashlib.sha256(b"".join(leaf for (leaf,) in leaves)).digest()
        assert digest == hashlib.sha256(previous + change_capture.encode_for_hash(seq, *head) + root).digest()
        previous = digest
    steps = memory.history.steps(limit=-1)
    assert len(steps) > 250 and [step.seq for step in steps] == list(range(len(steps), 0, -1))
    assert memory.history.undo().reason.startswith("task")


# its repository


def test_the_repository(folder: Path, memory: Memory):
    """Some 250 commits of three people, all of them in the timeline; git finds nothing amiss, and nothing to commit."""
    assert 235 <= int(git(folder, "rev-list", "--count", "HEAD")) <= 265
    assert git(folder, "log", "--format=%H").split() == git(folder, "log", "--all", "--format=%H").split()
    assert set(git(folder, "log", "--format=%an <%ae>").split("\n")) == set(DEMO_AUTHORS.values())
    assert git(folder, "status", "--porcelain") == ""
    git(folder, "fsck", "--strict", "--no-dangling")
    shas = {sha for (sha,) in memory.database.rows("SELECT sha FROM commits")}
    assert shas == set(git(folder, "log", "--format=%H").split())
    subjects = git(folder, "log", "--format=%s").split("\n")
    for language in (SPANISH, ENGLISH):
        assert sum(bool(language.search(subject)) for subject in subjects) >= 30
    assert sorted(path.name for path in folder.iterdir() if path.suffix != ".md") == sorted(
        ".git .gitignore .memoranda assets billing data docs locale migrations pyproject.toml tests".split()
    )


def test_its_code_is_code(folder: Path):
    for path in folder.rglob("*.py"):
        compile(path.read_text(encoding="utf-8"), str(path), "exec")
    assert len(list(folder.rglob("*.sql"))) == 8 and len(list(folder.rglob("*.md"))) >= 10


def test_commits_of_every_shape(folder: Path):
    def only(*words: str) -> str:
        (sha,) = git(folder, "log", "--format=%H", *words).split()
        return sha

    assert "billing/{money.py => amounts.py}" in git(folder, "show", "--stat", only("--diff-filter=R", "-M"))
    reverted = only("--grep=^perf: number invoices")
    assert reverted in git(folder, "show", "--format=%b", only("--grep=^Revert "))
    assert only("--merges") == only("--grep=^Merge branch 'pdf'")
    assert "Bin 0 -> " in git(folder, "show", "--stat", only("--", "assets/lamp.png"))
    assert (folder / "assets" / "lamp.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert git(folder, "show", "--format=", only("--grep=^Empty on purpose")) == ""


def test_trailers_and_links_name_the_right_decisions(folder: Path, memory: Memory):
    """A trailer's decision is there, was made before the commit, by hours or a day or two."""
    form = "--format=%(trailers:key=Decision,valueonly,separator=%x2C)%x09%cI%x09%s"
    trailers = [line.split("\t") for line in git(folder, "log", form).split("\n") if line.startswith("D#")]
    assert len(trailers) >= 25
    for cited, at, subject in trailers:
        decision = memory.decisions.get(int(cited.removeprefix("D#")))
        gap = datetime.fromisoformat(at) - datetime.fromisoformat(decision.decided_at)
        assert timedelta(0) < gap < timedelta(days=3), (subject, decision.title)
    assert memory.database.value("SELECT count(*) FROM commit_links") >= 20
    kinds = {kind for (kind,) in memory.database.rows("SELECT DISTINCT link_type FROM commit_links")}
    assert kinds == {"implements", "reverts", "relates"}


def test_no_secret_and_no_dead_end(memory: Memory):
    """Nothing had to be redacted, and every citation in a text can be opened."""
    from store.base.citations import find_citations
    from store.search import lookup

    text = "".join(export_text(memory.database))
    assert "[REDACTED" not in text
    for _, _, citation in find_citations(text):
        if citation.kind != "document":
            lookup.get_record(memory.database, citation)


# the verb


@pytest.fixture
def do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Do:
    """Runs one command in a folder; temporary places are below it."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.chdir(tmp_path)
    return runner(capsys)


def test_without_a_terminal_it_is_kept(do: Do, tmp_path: Path, monkeypatch):
    """It prints where it is and how to open it; the person's own memory is not made, let alone touched."""
    monkeypatch.setenv("MEMORANDA_DB", str(tmp_path / "mine.db"))
    status, out, err = do("demo")
    (place,) = (tmp_path / "temporary").iterdir()
    root = place / "billing-api"
    assert (status, err) == (0, "")
    assert out.startswith(f"A demo was made: {root}\nOpen it: cd {root} && memoranda\n")
    assert (root / ".memoranda" / "memory.db").exists() and not (tmp_path / "mine.db").exists()
    monkeypatch.delenv("MEMORANDA_DB")
    monkeypatch.chdir(root)
    assert "118 facts" in do()[1]


def test_in_a_folder_of_its_own(do: Do, tmp_path: Path):
    """A new or an empty one; one that holds anything, or is no folder, is left as it is."""
    (tmp_path / "empty").mkdir()
    for name in ("new/deep", "empty"):
        status, out, _ = do("demo", name, "--json")
        assert status == 0 and f'"{tmp_path}/{name}/billing-api"' in out
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    for name in ("full", "full/mine.txt", "empty"):
        status, out, err = do("demo", name)
        assert (status, out) == (1, "")
        assert err == f"{tmp_path}/{name} is not an empty folder. Name a new one, or leave FOLDER out.\n"
    assert os.listdir(tmp_path / "full") == ["mine.txt"]
    assert not os.listdir(tmp_path / "temporary")


def test_another_memory_cannot_be_named(do: Do, tmp_path: Path):
    status, _, err = do("--db", "mine.db", "demo")
    assert status == 2 and err.startswith("The demo makes a memory of its own.")
    assert sorted(os.listdir(tmp_path)) == ["temporary"] and not os.listdir(tmp_path / "temporary")


def test_without_git_it_says_so_and_leaves_nothing(do: Do, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert do("demo") == (1, "", "The demo needs git, and there is none here. Install git and try again.\n")
    assert not os.listdir(tmp_path / "temporary")


def test_it_is_not_built_over_anything(tmp_path: Path):
    (tmp_path / "billing-api").mkdir()
    with pytest.raises(StorageError, match="is there already"):
        demo.build_demo(str(tmp_path), NOON)


@contextmanager
def demo_at_terminal(folder: Path, *words: str) -> Iterator[Terminal]:
    """`memoranda demo` once its facts are seen; temporary places are in the folder."""
    environment = {"PYTHONPATH": str(ROOT), "TMPDIR": str(folder), "TZ": "UTC", "COLUMNS": "", "LINES": ""}
    environment["MEMORANDA_DB"] = str(folder / "my.db")
    with Terminal([*COMMAND, "demo", *words], environment, (120, 40)) as terminal:
        sees(terminal, "All 118")
        yield terminal


@pytest.mark.parametrize("words, kept", [((), False), (("--keep",), True), (("here",), True)])
def test_in_a_terminal_it_opens_and_goes(tmp_path: Path, monkeypatch, words, kept: bool):
    """The app opens on the demo; when it is left, the temporary place is gone, unless it was to be kept."""
    monkeypatch.chdir(tmp_path)
    with demo_at_terminal(tmp_path, *words) as terminal:
        terminal.write("3")
        sees(terminal, "wip: count")
        (place,) = tmp_path.iterdir()
        assert (place / "billing-api" / ".memoranda" / "memory.db").exists()
        terminal.write("q")
        assert ended(terminal) == 0
        said = terminal.output.decode().rpartition("\x1b[?1049l")[2]
        assert list(tmp_path.iterdir()) == ([place] if kept else [])
        assert (f"The demo is kept: {place}/billing-api" if kept else "Demo deleted, with its folder") in said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["a signal", "a closed terminal"])
def test_the_demo_goes_however_it_ends(tmp_path: Path, number: signal.Signals):
    """The status of the app is the command's, and the temporary place goes all the same."""
    with demo_at_terminal(tmp_path) as terminal:
        if number == signal.SIGHUP:
            terminal.hang_up()
        else:
            terminal.process.send_signal(number)
            ended(terminal)
        assert terminal.process.wait(timeout=60) == 128 + number
        assert not os.listdir(tmp_path)


async def test_in_the_app_it_says_how_to_open_it(tmp_path: Path):
    (tmp_path / "mine").mkdir()
    async with opened(tmp_path / "mine") as person:
        await person.command("demo somewhere")
        assert person.toasts[-1] == DEMO_HINT
    assert os.listdir(tmp_path) == ["mine"] and not (tmp_path / "mine" / "somewhere").exists()


@pytest.mark.parametrize("size", screen_text.SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_most_facts_can_be_read_whole(folder: Path, tmp_path: Path, size: tuple[int, int]) -> None:
    """No line of the list is cut; the preview shows the text under the cursor."""
    own = shutil.copytree(folder, tmp_path / folder.name)
    ours(own / ".memoranda" / "memory.db")
    async with opened(own, size) as person:
        assert isinstance(person.record, Fact) and person.record.fact in " ".join(person.preview)
        assert screen_text.characters(person.record_list)[1] >= screen_text.GOALS[size]
        assert screen_text.count_cut(person.record_list)[0] == 0
        for key in "1345":
            await person.press(key)
            cut, lines = screen_text.count_cut(person.record_list)
            assert cut <= screen_text.MOST_CUT * lines, key


def test_what_is_probably_meant_is_offered_first(memory: Memory) -> None:
    """Of the commits for a decision without its links, and of the facts that a fact may replace."""
    links = list(memory.database.rows("SELECT commit_id, decision_id FROM commit_links"))
    with memory.database.write("user", "without links") as write:
        write.execute("DELETE FROM commit_links")
    offered = [
        [offer.value.id for offer in offer_links(memory, [memory.decisions.get(number)], "")] for _, number in links
    ]
    found = sum(commit in some for (commit, _), some in zip(links, offered, strict=True))
    assert len(links) == 47 and found >= 41 and all(len(some) == OFFERED for some in offered)
    (five,) = memory.facts.get_many([104])
    assert five.fact.startswith("The team is five") and offer_facts(memory, [five], "")[0].text.startswith(
        "Team of four"
    )
