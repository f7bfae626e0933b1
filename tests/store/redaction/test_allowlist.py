"""Where secrets were cut, what a person says is none, and what was stored before a rule existed.

No secret stands in this file: see `support.secrets`.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.secrets import CONTEXTS, PASSWORD, TOKENS, hexa, label_of, word

from store.base.errors import InvalidInput, NotFound
from store.base.state_files import sign_bytes
from store.config import configuration as config
from store.conversations import hook_spool
from store.conversations.turns import NewTurn
from store.database.tombstones import count_removals
from store.database.values import Verbatim
from store.exchange import backups, exporter
from store.history import compression
from store.memory import Memory
from store.purge.secret_scan import scan_secrets, scrub_secrets
from store.records.table import count_redactions, list_redactions, take_redactions
from store.redaction import allowlist
from store.upkeep.checks import WRONG
from store.upkeep.doctor import examine

GITHUB = "ghp" + "_" + word(36)
STRIPE = "sk" + "_live_" + word(24)
CONTROL = "quetzalcoatlus"  # an ordinary word, written beside each secret: a look that misses it proves nothing

LOOK = """
import json, os, sys
folder, words = sys.argv[1], json.load(sys.stdin)
found = set()
for place, _, names in os.walk(folder):
    for name in names:
        with open(os.path.join(place, name), "rb") as file:
            data = file.read().lower()
        for word in words:
            if any(word.lower().encode(code) in data for code in ("utf-8", "utf-16-le", "utf-16-be")):
                found.add(word)
print(json.dumps(sorted(found)))
"""


def traces(folder: str, *words: str) -> list[str]:
    """Which of the words stand in some file of the folder; read by a child process, which holds no SQLite lock here."""
    command = [sys.executable, "-IS", "-c", LOOK, folder]
    done = subprocess.run(command, input=json.dumps(words), capture_output=True, text=True, check=True)
    found: list[str] = json.loads(done.stdout)
    return found


def folder(memory: Memory) -> str:
    return os.path.dirname(memory.location.path)


def unguarded(memory: Memory, *rules: str) -> None:
    """Let these rules through for what follows, as if they were not known yet."""
    for rule in rules:
        allowlist.add_allowance(rule)


def guarded() -> None:
    for entry in allowlist.list_allowances():
        allowlist.remove_allowance(*entry.split("=", 1))


# what the door notes ----------------------------------------------------------------------------------------------


def test_the_door_notes_where_a_secret_was_cut_and_never_what(memory: Memory) -> None:
    """Record, field, rule, how many, when, who and by which door; newest first; in no table a trace of the value."""
    memory.facts.remember(f"push with {GITHUB}", actor="agent", tags=["plain"])
    decision = memory.decisions.decide("Pay", f"by {STRIPE} or {STRIPE[:-1]}7", rationale=f"as {GITHUB}")
    event = memory.events.log("seen", payload={"deep": [{"at": f"x {GITHUB}"}]}, actor="mcp:claude")
    memory.turns.add_turns("s", [NewTurn("user", f"take {STRIPE}")], origin="hook")
    memory.facts.remember("nothing here")
    cuts = list_redactions(memory.database)
    assert [(cut.citation, cut.field, cut.rule, cut.count, cut.actor, cut.door) for cut in cuts] == [
        ("T#1", "text", "STRIPE_KEY", 1, "hook", "cli"),
        (f"E#{event}", "payload", "GITHUB_TOKEN", 1, "mcp:claude", "cli"),
        (f"D#{decision}", "rationale", "GITHUB_TOKEN", 1, "user", "cli"),
        (f"D#{decision}", "chosen", "STRIPE_KEY", 2, "user", "cli"),
        ("F#1", "fact", "GITHUB_TOKEN", 1, "agent", "cli"),
    ]
    assert cuts[-1].at == memory.facts.get(1).created_at
    assert list_redactions(memory.database, rule="STRIPE_KEY")[0].citation == "T#1"
    assert len(list_redactions(memory.database, 2)) == 2
    assert count_redactions(memory.database) == {"GITHUB_TOKEN": 3, "STRIPE_KEY": 3}
    assert traces(folder(memory), GITHUB[4:], STRIPE[8:], "push with") == ["push with"]


def test_a_place_is_noted_once_and_only_if_the_write_holds(memory: Memory) -> None:
    task = memory.tasks.add_task(f"rotate {GITHUB}")
    first = list_redactions(memory.database)[0].at
    memory.tasks.correct(task, f"rotate {GITHUB} today")
    with pytest.raises(ZeroDivisionError), memory.database.write("user", "test") as write:
        write.execute("UPDATE tasks SET text = ? WHERE id = ?", (STRIPE, task))
        assert 1 / 0
    (cut,) = list_redactions(memory.database)
    assert (cut.citation, cut.rule, cut.at) == ("A#1", "GITHUB_TOKEN", first)


def test_a_document_is_noted_by_its_lines(tmp_path: Path) -> None:
    """And by those it has now: what it had before it changed is no place any more."""
    notes = tmp_path / "memory" / "notes.md"
    notes.parent.mkdir()
    with Memory.open(str(tmp_path / ".memoranda" / "memory.db")) as memory:
        notes.write_text(f"# Keys\n\nthe key {GITHUB}\n")
        memory.documents.update_index()
        (cut,) = list_redactions(memory.database)
        assert (cut.citation, cut.rule) == ("memory/notes.md#L1-L3", "GITHUB_TOKEN")
        notes.write_text(f"# Keys\n\nfirst\n\nthe key {STRIPE}\n")
        os.utime(notes, (2_000_000_000, 2_000_000_000))
        memory.documents.update_index()
        assert [cut.rule for cut in list_redactions(memory.database)] == ["STRIPE_KEY"]
        assert memory.database.rows("SELECT rule FROM redactions") == [("STRIPE_KEY",)], "the old place is forgotten"
        notes.unlink()
        memory.documents.update_index()
        assert list_redactions(memory.database) == [] and count_redactions(memory.database) == {}


def test_no_secret_of_any_family_reaches_the_disk(memory: Memory) -> None:
    """One of every family, told to the door as a fact, deep in an event and as an argument of a credential's name."""
    bodies = []
    for secrets, _ in TOKENS.values():
        for secret in secrets[:1]:  # the others are cut as this one, which the tests of the rules show
            bodies.append(secret[-14:])
            memory.facts.remember(f"{CONTROL} {secret} there")
            memory.events.log("seen", payload={"a": [{"b": f"see {secret}"}]})
    for forms, secrets, _ in CONTEXTS.values():
        for secret in secrets[:1]:
            bodies += [secret[-8:]] if len(secret) >= 8 else []  # six digits stand in a megabyte by chance
            for form in forms:
                memory.facts.remember(f"{CONTROL}\n{form.format(secret)}")
    assert traces(folder(memory), CONTROL, *bodies) == [CONTROL]
    assert set(count_redactions(memory.database)) == {*TOKENS, *map(label_of, CONTEXTS)}
    exporter.save_export(memory.database, f"{folder(memory)}/export.json")
    export = Path(folder(memory), "export.json").read_text().lower()
    assert CONTROL in export and [body for body in bodies if body.lower() in export] == []


def test_what_waits_for_the_next_process_says_what_was_cut(memory: Memory) -> None:
    """A hook's answer, by rule; what a person allows is left there too."""
    path = memory.database.path
    cuts = hook_spool.append_act(path, "remember", {"text": f"{GITHUB} or {STRIPE}"}, actor="hook")
    assert cuts == {"GITHUB_TOKEN": 1, "STRIPE_KEY": 1}
    assert hook_spool.append_act(path, "remember", {"text": "[REDACTED:GITHUB_TOKEN]"}, actor="hook") == {}
    unguarded(memory, "GITHUB_TOKEN")
    assert hook_spool.append_act(path, "remember", {"text": f"again {GITHUB}"}, actor="hook") == {}
    assert hook_spool.drain_spool(memory.database).done == 3
    assert memory.facts.get(3).fact == f"again {GITHUB}"


def test_what_a_connection_cut_is_told_once(memory: Memory) -> None:
    memory.facts.remember(f"push with {GITHUB}")
    with pytest.raises(ZeroDivisionError), memory.database.write("user", "test") as write:
        write.execute("UPDATE facts SET fact = ?", (STRIPE,))
        assert 1 / 0
    (cut,) = take_redactions(memory.database)
    assert (cut.citation, cut.field, cut.rule, cut.count) == ("F#1", "fact", "GITHUB_TOKEN", 1)
    assert take_redactions(memory.database) == []


# what is no secret ------------------------------------------------------------------------------------------------


def test_a_person_says_what_is_no_secret_and_takes_it_back(memory: Memory) -> None:
    """A ticket that looks like a key: its shape is allowed, at once, for this rule alone, until that is taken back."""
    ticket, key = "sk-ticket" + word(20), "sk-" + word(40)
    memory.facts.remember(f"see {ticket}")
    assert allowlist.add_allowance("sk_key", "sk-ticket*") == "SK_KEY=sk-ticket*"
    number, _ = memory.facts.remember(f"see {ticket} and {key}")
    assert memory.facts.get(number).fact == f"see {ticket} and [REDACTED:SK_KEY]"
    event = memory.events.log("x", payload={"token": ticket})
    assert memory.events.get(event).payload == {"token": ticket}
    assert "[REDACTED:SK_KEY]" in memory.facts.get(1).fact, "what was cut is gone"
    assert allowlist.remove_allowance("SK_KEY", "sk-ticket*") and allowlist.list_allowances() == ()
    number, _ = memory.facts.remember(f"again {ticket}")
    assert ticket not in memory.facts.get(number).fact
    with pytest.raises(NotFound):
        allowlist.remove_allowance("SK_KEY", "sk-ticket*")


def test_a_document_may_hold_what_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text(f"the sample {STRIPE}\n")
    allowlist.add_allowance("STRIPE_KEY")
    with Memory.open(str(tmp_path / ".memoranda" / "memory.db")) as memory:
        memory.documents.update_index()
        assert memory.search(STRIPE, meaning=False).total == 1


def test_only_the_persons_own_file_allows(tmp_path: Path) -> None:
    """A project's file comes with a checkout: what it says does not count, and is told."""
    with Memory.open(str(tmp_path / ".memoranda" / "memory.db")) as memory:
        path = config.project_settings_path(memory.location) or ""
        Path(path).write_text('[redaction]\nallow = ["GITHUB_TOKEN"]\n')
        os.chmod(path, 0o600)
        memory.facts.remember(GITHUB)
        assert memory.facts.get(1).fact == "[REDACTED:GITHUB_TOKEN]"
        assert any("only your own file sets it" in problem for problem in memory.config.problems)


def test_a_file_that_cannot_be_read_allows_nothing(memory: Memory) -> None:
    allowlist.add_allowance("GITHUB_TOKEN")
    Path(config.user_settings_path()).write_text("this is [ no TOML")
    memory.facts.remember(GITHUB)
    assert memory.facts.get(1).fact == "[REDACTED:GITHUB_TOKEN]"


@pytest.mark.parametrize(
    ("rule", "shape"), [("NO_SUCH_RULE", ""), ("SK_KEY", "*"), ("SK_KEY", "s*k"), ("SK_KEY", "a,b"), ("SK_KEY", "a\nb")]
)
def test_what_would_allow_too_much_or_nothing_is_refused(rule: str, shape: str) -> None:
    with pytest.raises(InvalidInput):
        allowlist.add_allowance(rule, shape)
    assert allowlist.list_allowances() == ()


few = st.text("ab*", max_size=8)


@given(few, st.text("ab", max_size=8))
def test_a_shape_means_what_a_star_always_meant(shape: str, value: str) -> None:
    pattern = ".*".join(map(re.escape, shape.split("*")))
    assert allowlist._has_shape(value, shape) == bool(re.fullmatch(pattern, value))


# what was stored before a rule existed ----------------------------------------------------------------------------


@pytest.fixture
def leaky(memory: Memory) -> Memory:
    """A memory whose first writers met no rule for GitHub's and Stripe's tokens."""
    unguarded(memory, "GITHUB_TOKEN", "STRIPE_KEY")
    memory.facts.remember(f"{CONTROL} push with {GITHUB}", tags=["keys"], evidence=[f"said: {STRIPE}"])
    memory.facts.remember("the team is five")
    memory.facts.correct(1, f"{CONTROL} push with {GITHUB}, from home")
    memory.tasks.add_task(f"pay by {STRIPE}")
    memory.events.log("seen", payload={"a": [GITHUB]})
    memory.turns.add_turns("s", [NewTurn("user", f"take {STRIPE}"), NewTurn("assistant", "thanks")], origin="hook")
    memory.commits.log("a1" * 20, message=f"Use {GITHUB}")
    with memory.database.write("user", "test") as write:
        write.insert("queries", text=f"where is {GITHUB}", at=Verbatim(write.at))
    guarded()
    return memory


def test_a_scan_finds_them_in_every_place_and_says_none_of_them(leaky: Memory) -> None:
    """Records, journal, history, searches; the text of the rules alone."""
    leaks = scan_secrets(leaky.database)
    assert {(leak.citation, leak.field, leak.rule, leak.seq) for leak in leaks} == {
        ("F#1", "fact", "GITHUB_TOKEN", 0),
        ("F#1", "evidence", "STRIPE_KEY", 0),
        ("F#3", "fact", "GITHUB_TOKEN", 0),
        ("F#3", "evidence", "STRIPE_KEY", 0),
        ("A#1", "text", "STRIPE_KEY", 0),
        ("E#1", "payload", "GITHUB_TOKEN", 0),
        ("T#1", "text", "STRIPE_KEY", 0),
        ("C#a1a1a1a", "message", "GITHUB_TOKEN", 0),
        ("a search", "text", "GITHUB_TOKEN", 0),
        ("F#1", "fact", "GITHUB_TOKEN", 1),
        ("F#1", "evidence", "STRIPE_KEY", 1),
        ("F#3", "fact", "GITHUB_TOKEN", 3),
        ("F#3", "evidence", "STRIPE_KEY", 3),
        ("A#1", "text", "STRIPE_KEY", 4),
    }
    assert all(leak.count == 1 for leak in leaks)


def test_what_is_allowed_is_no_leak(leaky: Memory) -> None:
    unguarded(leaky, "GITHUB_TOKEN")
    assert {leak.rule for leak in scan_secrets(leaky.database)} == {"STRIPE_KEY"}


def test_a_scrub_leaves_no_byte_and_everything_else(leaky: Memory) -> None:
    """Gone from every file; the records are there, found by their other words, and noted; the same fact is known by its
    new text; steps are taken back as before, without the secret that one of them held."""
    assert set(traces(folder(leaky), GITHUB[4:], STRIPE[8:])) == {GITHUB[4:], STRIPE[8:]}
    steps = len(leaky.history.steps())
    with leaky.database.write("worker", "test") as write:  # the vector of a text that is gone
        write.execute("INSERT INTO embeddings(digest, vector, used_at) VALUES (x'00', x'00', '')")
    assert scrub_secrets(leaky.database, scan_secrets(leaky.database))
    assert traces(folder(leaky), GITHUB[4:], STRIPE[8:], CONTROL) == [CONTROL]
    assert scan_secrets(leaky.database) == []
    assert leaky.facts.get(3).fact == f"{CONTROL} push with [REDACTED:GITHUB_TOKEN], from home"
    assert leaky.facts.get(3).evidence == ("said: [REDACTED:STRIPE_KEY]",)
    assert leaky.events.get(1).payload == {"a": ["[REDACTED:GITHUB_TOKEN]"]}
    assert [hit.citation for hit in leaky.search("push home", meaning=False).hits] == ["F#3"]
    assert leaky.search(GITHUB, meaning=False).total == 0
    assert ("F#3", "GITHUB_TOKEN") in {(cut.citation, cut.rule) for cut in list_redactions(leaky.database)}
    assert leaky.database.value("SELECT count(*) FROM embeddings") == 0
    assert len(leaky.history.steps()) == steps, "a step would hold what was cut"
    assert leaky.facts.remember(f"{CONTROL} push with {GITHUB}, from home") == (3, False)
    leaky.history.undo(2)
    assert leaky.database.value("SELECT count(*) FROM facts") == 2
    leaky.database.rows("INSERT INTO corpus_fts(corpus_fts) VALUES ('integrity-check')")
    assert leaky.database.value("SELECT count(*) FROM history_row WHERE purged = 1 AND salt IS NOT NULL") == 0


def test_whoever_holds_some_in_view_can_tell_that_something_went(leaky: Memory) -> None:
    before = count_removals(leaky.database)
    assert scrub_secrets(leaky.database, []) and scan_secrets(leaky.database)
    assert count_removals(leaky.database) == before, "nothing was cut"
    scrub_secrets(leaky.database, scan_secrets(leaky.database))
    assert count_removals(leaky.database) == before + 1


def test_the_index_of_a_large_memory_keeps_no_word_either(leaky: Memory) -> None:
    """A word of a large, old segment of the index would stay there until chance merged it away."""
    leaky.turns.add_turns("long", [NewTurn("user", f"{hexa(8)} of {n}") for n in range(3000)], origin="user")
    leaky.facts.remember("a word that comes later")
    assert scrub_secrets(leaky.database, scan_secrets(leaky.database))
    assert traces(folder(leaky), GITHUB[4:], STRIPE[8:], CONTROL) == [CONTROL]


def test_only_what_was_named_is_cut(leaky: Memory) -> None:
    """A person may take some and leave others."""
    scrub_secrets(leaky.database, [leak for leak in scan_secrets(leaky.database) if leak.citation == "A#1"])
    assert {leak.citation for leak in scan_secrets(leaky.database)} >= {"F#1", "F#3"}
    assert "A#1" not in {leak.citation for leak in scan_secrets(leaky.database)}


def test_while_another_program_reads_the_log_it_says_so(leaky: Memory) -> None:
    """A reader in the middle of a transaction keeps the log; once it is through, the log is wiped."""
    other = apsw.Connection(leaky.location.path)
    other.execute("BEGIN")
    assert other.execute("SELECT count(*) FROM facts").get
    leaky.database.connection.set_busy_timeout(1)
    assert not scrub_secrets(leaky.database, scan_secrets(leaky.database))
    assert GITHUB[4:] in traces(folder(leaky), GITHUB[4:])
    other.execute("COMMIT")
    other.close()
    assert leaky.database.checkpoint_wal()
    assert traces(folder(leaky), GITHUB[4:], STRIPE[8:]) == []


def test_a_scan_of_a_clean_memory_finds_nothing_and_reads_all_pages(memory: Memory) -> None:
    for _ in range(3):
        memory.turns.add_turns(hexa(8), [NewTurn("user", f"word {n}") for n in range(700)], origin="user")
    assert scan_secrets(memory.database) == []
    unguarded(memory, "CURL_USER")
    memory.turns.add_turns("last", [NewTurn("user", f"curl -u ada:{PASSWORD} https://x")], origin="user")
    guarded()
    assert [(leak.citation, leak.rule) for leak in scan_secrets(memory.database)] == [("T#2101", "CURL_USER")]


def test_backups_and_packed_history_are_scrubbed_too(leaky: Memory) -> None:
    """Ours, beside the memory; they are still whole by their own measure. And rows of history that were packed."""
    made = backups.make_backup(leaky.database)
    assert made is not None and compression.pack_history(leaky.database, 0, 0, least=1) >= 1
    found = scan_secrets(leaky.database)
    assert any(leak.seq for leak in found)
    assert scrub_secrets(leaky.database, found)
    assert scan_secrets(leaky.database) == [] and backups.verify_backup(leaky.database) == (made.path, "")
    assert traces(folder(leaky), GITHUB[4:], STRIPE[8:], CONTROL) == [CONTROL]
    with Memory.open(made.path) as copy:
        assert scan_secrets(copy.database) == [] and copy.facts.get(3).fact.startswith(CONTROL)
    location = leaky.location
    assert [one for one in examine(location) if one.state == WRONG and one.subject in ("history", "records")] == []


def test_what_waits_in_the_spool_is_scrubbed_too(memory: Memory) -> None:
    """A line that a hook left before the rule was known, one that was kept aside, and neighbours that stay as they
    are, to the byte; what comes in later is the rest."""
    path = memory.database.path
    hook_spool.append_act(path, "remember", {"text": "before ñ"}, actor="hook", key="k1")
    hook_spool.append_act(path, "remember", {"text": "push with HERE"}, actor="hook", key="k2")
    file = Path(path).parent / "spool" / "memory.db.jsonl"
    whole = file.read_text()
    line = whole.splitlines()[1].rpartition("\t")[0].replace("HERE", GITHUB)
    file.write_text(f"{whole.splitlines()[0]}\n{line}\t{sign_bytes(line.encode())}\n")
    Path(hook_spool.broken_lines_path(path)).write_bytes(f"not JSON, {STRIPE}\n".encode() + b"no text: \xff\n")
    leaks = scan_secrets(memory.database)
    found = sorted((leak.citation, leak.rule, leak.count) for leak in leaks)
    assert found == [("spool", "GITHUB_TOKEN", 1), ("spool", "STRIPE_KEY", 1)]
    assert scrub_secrets(memory.database, leaks)
    assert scan_secrets(memory.database) == []
    assert traces(folder(memory), GITHUB[4:], STRIPE[8:], "push with") == ["push with"]
    (taken,) = file.parent.glob("*.taken*")
    assert taken.read_text().splitlines()[0] == whole.splitlines()[0]
    assert Path(hook_spool.broken_lines_path(path)).read_bytes().endswith(b"\nno text: \xff\n")
    assert hook_spool.drain_spool(memory.database).done == 2
    texts = [text for (text,) in memory.database.rows("SELECT fact FROM facts ORDER BY id")]
    assert texts == ["before ñ", "push with [REDACTED:GITHUB_TOKEN]"]
