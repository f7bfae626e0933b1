"""What a record is bound to is kept like all of it: undone, exported, purged; and never run by having come."""

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from conftest import Clock
from support.bound import PAY, BoundProject

from store.base.errors import Conflict, InvalidInput, NotFound
from store.doors import pack
from store.doors.mcp_tools import McpSession
from store.evidence.items import parse_item
from store.exchange import exporter
from store.exchange.importer import Import
from store.memory import Memory
from store.purge.proof import list_text_files, search_files


def states(memory: Memory) -> list[str]:
    return [one.state for one in memory.evidence.list_all_bound()]


def test_binding_is_a_step_that_is_undone_and_redone(project: BoundProject) -> None:
    memory = project.memory
    project.bind("src/pay.py:4-5", "src/pay.py::Fee")
    project.bind("src/pay.py", kind="decision")
    bound = [("F#1", "src/pay.py:4-5"), ("F#1", "src/pay.py::Fee"), ("D#1", "src/pay.py")]
    found = [(one.citation, one.item.typed_form, one.state) for one in memory.evidence.list_all_bound()]
    assert found == [(*one, "holds") for one in bound]
    memory.history.undo()
    assert [one.citation for one in memory.evidence.list_all_bound()] == ["F#1", "F#1"]
    memory.history.undo()
    assert memory.evidence.list_all_bound() == []
    assert memory.database.rows("SELECT * FROM evidence_looks") == [], "what was seen goes with it"
    memory.history.redo()
    assert states(memory) == ["", ""], "it is looked at again"


def test_age_and_evidence_are_two_axes(project: BoundProject, clock: Clock) -> None:
    project.bind("src/pay.py:4-5")
    project.bind("src/pay.py::Fee", kind="decision")
    project.put("src/pay.py", PAY.replace("sum", "max").replace("3", "4"))
    project.memory.evidence.verify()
    project.memory.facts.confirm([project.fact])
    assert project.memory.facts.get(project.fact).evidence_state == "changed", "a confirmation is no look at it"
    assert project.memory.decisions.get(project.decision).evidence_state == "changed"
    clock.advance(days=400)
    project.memory.evidence.bind_again("fact", project.fact)
    fact = project.memory.facts.get(project.fact)
    assert (fact.evidence_state, fact.last_confirmed_at[:4]) == ("holds", "2026"), "nor is a look a confirmation"


def test_what_is_there_now_is_taken(project: BoundProject) -> None:
    """By asking for it, and by binding the same place again."""
    project.bind("src/pay.py:4-5", "src/pay.py::Fee")
    moved = "# one\n" + PAY.replace("return 3", "return 4")
    project.put("src/pay.py", moved)
    assert [state for state, _ in project.seen()] == ["moved", "changed"]
    found = project.memory.evidence.bind_again("fact", project.fact)
    assert [one.item.typed_form for one in found] == ["src/pay.py:5-6", "src/pay.py::Fee"]
    assert [one.state for one in found] == ["holds", "holds"]
    (project.folder / "src" / "pay.py").unlink()
    with pytest.raises(Conflict, match="is gone"):
        project.memory.evidence.bind_again("fact", project.fact)
    project.put("src/pay.py", PAY.replace("sum", "max"))
    project.bind("src/pay.py:4-5", kind="decision")
    project.put("src/pay.py", PAY)
    project.bind("src/pay.py:4-5", kind="decision")
    assert states(project.memory)[-1] == "holds"


def test_taking_it_away(project: BoundProject) -> None:
    project.bind("src/pay.py:4-5", "src/pay.py", "https://example.org/a")
    left = project.memory.evidence.unbind("fact", project.fact, ["src/pay.py:4-5"], str(project.folder))
    assert [one.item.typed_form for one in left] == ["src/pay.py", "https://example.org/a"]
    with pytest.raises(InvalidInput, match="is not bound to"):
        project.memory.evidence.unbind("fact", project.fact, ["src/pay.py:4-5"], str(project.folder))
    assert project.memory.evidence.unbind("fact", project.fact, [], str(project.folder)) == []
    project.memory.history.undo()
    assert len(project.memory.evidence.list_all_bound()) == 2
    with pytest.raises(NotFound):
        project.memory.evidence.list_bound("fact", 99)


def test_a_correction_rests_on_the_same(project: BoundProject) -> None:
    project.bind("src/pay.py:4-5")
    project.bind("src/pay.py::Fee", kind="decision")
    project.memory.facts.correct(project.fact, "Totals are sums of rows")
    project.memory.decisions.correct(project.decision, "A fee is a share")
    bound = [(one.citation, one.item.typed_form) for one in project.memory.evidence.list_all_bound()]
    assert bound == [("F#2", "src/pay.py:4-5"), ("D#2", "src/pay.py::Fee")]


def test_no_secret_is_kept_in_it(project: BoundProject) -> None:
    curl = "$ curl -H 'Authorization: Bearer ghp_" + "a1B2" * 9 + "'"
    for text in ("https://example.org/?key=AKIAQ7RM3XKD2WUZ5VTN", curl):
        with pytest.raises(InvalidInput, match="secret"):
            project.bind(text)
    assert project.memory.facts.get(project.fact).evidence == ()


def test_a_purge_leaves_nothing_of_it(project: BoundProject) -> None:
    project.put("zanzibar.txt", "one\n")
    project.bind("zanzibar.txt:1", "$ echo zanzibar")
    project.memory.evidence.verify()
    purge = project.memory.purge
    purge.run_plan(purge.plan([("fact", project.fact)]))
    assert project.memory.database.rows("SELECT * FROM evidence_looks") == []
    files = list_text_files(project.memory.database, project.memory.documents)
    assert [one.file for one in search_files(["zanzibar"], files) if one.found] == []


# running


@pytest.fixture
def mark(project: BoundProject) -> Path:
    return project.folder / "mark"


def test_nothing_runs_before_it_was_allowed(project: BoundProject, mark: Path) -> None:
    project.bind(f"$ touch {mark}; echo 3")
    evidence = project.memory.evidence
    assert [state for state, _ in project.seen()] == [""] and not mark.exists()
    ((one, known),) = evidence.list_runnable(evidence.list_all_bound())
    assert not known
    with pytest.raises(Conflict, match="not allowed"):
        evidence.run_item(one)
    assert not mark.exists()
    evidence.allow(one)
    assert evidence.run_item(one).state == "holds" and mark.exists()
    assert evidence.list_runnable(evidence.list_all_bound())[0][1], "allowed once"
    evidence.unbind("fact", project.fact, [], str(project.folder))
    project.memory.history.undo()
    assert not evidence.list_runnable(evidence.list_all_bound())[0][1], "what was taken away is asked about again"


def test_what_a_command_gives_is_compared(project: BoundProject) -> None:
    project.put("count", "3")
    project.bind("$ cat count; echo took 0.3s")
    evidence = project.memory.evidence
    one = evidence.list_all_bound()[0]
    evidence.allow(one)
    assert [evidence.run_item(one).state for _ in range(2)] == ["holds", "holds"]
    project.put("count", "4")
    assert evidence.run_item(one).state == "changed"
    assert project.memory.facts.get(project.fact).evidence_state == "changed"
    assert evidence.run_item(one).state == "changed", "it is compared with the first time, not with the last"
    evidence.bind_again("fact", project.fact)
    assert evidence.run_item(one).state == "holds"
    (project.folder / "count").unlink()
    failed = evidence.run_item(one)
    assert failed.state == "changed"
    project.bind("$ no-such-command-here")
    missing = evidence.list_bound("fact", project.fact)[1]
    evidence.allow(missing)
    assert evidence.run_item(missing).state == "gone"


def test_a_command_that_does_not_end_is_ended(project: BoundProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("store.evidence.items.COMMAND_SECONDS", 0.3)
    project.bind("$ sleep 60 & yes", "$ exec sleep 60")
    evidence = project.memory.evidence
    for one in evidence.list_all_bound():
        evidence.allow(one)
        ran = evidence.run_item(one)
        assert (ran.state, "did not end" in ran.says) == ("changed", True)


@pytest.fixture
def site() -> Iterator[tuple[str, dict[str, tuple[int, str]]]]:
    """A web server: its address, and what it answers at each path: (status, body or where to)."""
    pages: dict[str, tuple[int, str]] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = pages.get(self.path, (404, ""))
            self.send_response(status)
            if status in (301, 302):
                self.send_header("location", body)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *given: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", pages
        server.shutdown()
        thread.join()


def test_addresses(project: BoundProject, site: tuple[str, dict[str, tuple[int, str]]]) -> None:
    address, pages = site
    pages["/a"] = (200, "<p>Limit: 5</p><script>let nonce = 1</script>")
    project.bind(f"{address}/a")
    evidence = project.memory.evidence
    one = evidence.list_all_bound()[0]
    evidence.allow(one)
    assert evidence.run_item(one).state == "holds"
    for status, body, state, place in (
        (200, "<p>Limit:  5</p><script>let nonce = 2</script>", "holds", ""),
        (200, "<p>Limit: 6</p>", "changed", ""),
        (301, "/b", "moved", "/b"),
        (410, "", "gone", ""),
        (503, "", "", ""),
    ):
        pages["/a"] = (status, body)
        ran = evidence.run_item(one)
        assert (ran.state, ran.place) == (state, place), (status, body)


def test_what_is_allowed_is_so_for_one_folder_and_one_text(project: BoundProject, tmp_path: Path) -> None:
    project.bind("$ true")
    evidence = project.memory.evidence
    evidence.allow(evidence.list_all_bound()[0])
    project.bind("$ true ")
    with Memory.open(str(tmp_path / "other" / ".memoranda" / "memory.db")) as other:
        fact = other.facts.remember("True is true")[0]
        other.evidence.bind("fact", fact, ["$ true"], str(tmp_path))
        assert [known for _, known in other.evidence.list_runnable(other.evidence.list_all_bound())] == [False]


def test_a_memory_of_no_project_has_addresses_and_commands(tmp_path: Path) -> None:
    with Memory.open(str(tmp_path / "notes.db")) as memory:
        fact = memory.facts.remember("True is true")[0]
        with pytest.raises(InvalidInput, match="of no project"):
            memory.evidence.bind("fact", fact, ["notes.txt"], str(tmp_path))
        (one,) = memory.evidence.bind("fact", fact, ["$ true"], str(tmp_path))
        assert [seen.state for seen in memory.evidence.verify()] == [""]
        memory.evidence.allow(one)
        assert memory.evidence.run_item(one).state == "holds"
        memory.evidence.bind_again("fact", fact)
        memory.evidence.unbind("fact", fact, [], str(tmp_path))
        memory.history.undo()
        assert [known for _, known in memory.evidence.list_runnable(memory.evidence.list_all_bound())] == [False]


def test_an_export_carries_it_and_no_permission(project: BoundProject, tmp_path: Path) -> None:
    project.bind("src/pay.py:4-5", "$ true", "C#" + project.git("rev-parse", "HEAD"))
    project.bind("src/pay.py::Fee", kind="decision")
    evidence = project.memory.evidence
    one = next(one for one in evidence.list_all_bound() if one.item.type == "command")
    evidence.allow(one)
    evidence.run_item(one)
    path = tmp_path / "export.json"
    path.write_text("".join(exporter.export_text(project.memory.database)))
    assert "evidence_looks" not in path.read_text()
    for name in ("empty", "full"):
        with Memory.open(str(tmp_path / name / ".memoranda" / "memory.db")) as other:
            if name == "full":
                other.facts.remember("Something else")
                other.decisions.decide("Other", "Something")
            for _ in range(2):
                with Import(other.database, str(path)) as brought:
                    brought.apply_import()
            bound = other.evidence.list_all_bound()
            assert [str(one.item) for one in bound] == [str(one.item) for one in evidence.list_all_bound()]
            assert [known for _, known in other.evidence.list_runnable(bound)] == [False]
            with pytest.raises(Conflict, match="not allowed"):
                other.evidence.run_item(next(one for one in bound if one.item.type == "command"))


def test_an_agent_reads_it_and_binds_nothing(project: BoundProject, clock: Clock) -> None:
    project.bind("src/pay.py:4-5")
    project.put("src/pay.py", PAY.replace("sum", "max"))
    project.memory.evidence.verify()
    session = McpSession(project.memory.location, clock=clock)
    answer = session.call_tool("memory_get", {"citation": "F#1"}, None, "claude-code")
    session.close()
    assert answer.data["evidence_state"] == "changed"
    assert "what it rests on changed" in answer.text
    assert any("src/pay.py" in one for one in answer.data["evidence"])


def test_an_agent_is_told_what_it_is_sent_rests_on(project: BoundProject) -> None:
    project.memory.facts.pin([project.fact])
    project.bind("src/pay.py:4-5")
    said = "what it rests on is gone"
    assert said not in pack.build_start_pack(project.memory, "claude-code", "s").text
    (project.folder / "src" / "pay.py").unlink()
    project.memory.evidence.verify()
    assert f"{said}) Totals are plain sums" in pack.build_start_pack(project.memory, "claude-code", "s").text
    assert f"[F#1] ({said}) Totals are plain sums" in project.memory.context("totals").text


def test_a_search_narrows_to_what_rests_on_something_that_changed(project: BoundProject) -> None:
    project.memory.facts.remember("Totals are never cached")
    project.bind("src/pay.py:4-5", "src/pay.py::Fee")
    project.bind("src/pay.py", kind="decision")
    project.put("src/pay.py", PAY.replace("sum", "max"))
    project.memory.evidence.verify()

    def found(query: str) -> list[str]:
        return sorted(hit.citation for hit in project.memory.search(query).hits)

    assert found("is:changed") == ["D#1", "F#1"]
    assert found("totals is:changed") == ["F#1"]
    assert (found("is:holds"), found("is:gone")) == (["F#1"], []), "of several pieces one may hold"


def test_a_stamp_differs_when_a_look_may_see_something_else(project: BoundProject) -> None:
    evidence = project.memory.evidence
    assert evidence.stamp() == ()
    seen = [evidence.stamp()]
    acts = [partial(project.bind, "src/pay.py:4-5"), partial(project.put, "src/pay.py", PAY + "# more\n")]
    for act in (*acts, partial(project.commit, "more"), (project.folder / "src" / "pay.py").unlink, evidence.verify):
        act()
        assert evidence.stamp() not in seen
        seen.append(evidence.stamp())


def test_a_look_writes_only_what_is_new(project: BoundProject) -> None:
    project.bind("src/pay.py:4-5")
    before = project.memory.database.value("PRAGMA data_version"), project.memory.history.steps(limit=1)
    project.put("src/pay.py", PAY.replace("sum", "max"))
    project.memory.evidence.verify()
    assert project.memory.history.steps(limit=1) == before[1], "what was seen is no step of history"
    rows = project.memory.database.rows("SELECT * FROM evidence_looks")
    project.memory.evidence.verify()
    assert project.memory.database.rows("SELECT * FROM evidence_looks") == rows


@pytest.mark.parametrize(
    "text",
    ["T#5", "notes.md#L3", "src/../x @- ~" + "0" * 24, "/etc/passwd @- ~" + "0" * 24, ".git/config @- ~" + "0" * 24,
     "a:b", "$ ", "https", "a#L5-L2 @- ~" + "0" * 24, "$ a\nb"],
)  # fmt: skip
def test_other_evidence_is_not_looked_at(text: str) -> None:
    assert parse_item(text) is None


def test_evidence_that_is_no_list_of_texts_does_no_harm(project: BoundProject) -> None:
    strange = json.dumps(["T#1", 5, None, {"a": "$ x"}, "$ echo 1"])
    project.memory.database.connection.execute("UPDATE facts SET evidence = ? WHERE id = 1", (strange,))
    assert [one.item.typed_form for one in project.memory.evidence.list_bound("fact", 1)] == ["$ echo 1"]
