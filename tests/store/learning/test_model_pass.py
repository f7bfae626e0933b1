"""A model reads what rules have read: it only ever asks, once, with its evidence, and nothing is lost with it."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.cases import load_cases
from support.learned import active_texts, hear, say
from support.model_use import by_task
from support.ollama_server import OllamaServer

from store.base.clock import days_before
from store.base.errors import ModelFailed, NotFound
from store.base.models import Summary, Turn
from store.conversations import extraction_queue
from store.conversations.sessions import Sessions
from store.conversations.summaries import Summaries, SummaryFields, summarize_by_rule
from store.conversations.turns import NewTurn
from store.database.database import Lease
from store.doors.trust import get_unconfirmed_origin
from store.inbox.duplicates import propose_duplicates
from store.learning import model_pass, rule_pass
from store.learning import tasks as summarizers
from store.learning.model_pass import ModelPassResult
from store.librarian import chat as circuit_breaker
from store.memory import Memory
from store.upkeep import session_flush

CASES = load_cases(__file__)
NAME = "model:qwen2.5:3b-instruct"
BAKERY = "Mi viejo tiene una panadería en Salto"


class Mind:
    """What the server's model answers: the sentences that hold one of `facts`, what `says` has of a fact."""

    def __init__(self) -> None:
        self.facts: dict[str, str] = {}
        self.says: dict[str, str] = {}
        self.summary: dict[str, Any] = {}
        self.raw = ""
        self.meanwhile: Callable[[], None] = lambda: None

    def __call__(self, messages: list[dict[str, str]]) -> str:
        self.meanwhile()
        if self.raw:
            return self.raw
        shown = messages[-1]["content"].splitlines()
        if '"facts"' in messages[0]["content"]:
            found = [
                {"sentence": number, "domain": "work"}
                for number, line in enumerate(shown, 1)
                for word in self.facts
                if word in line
            ]
            return json.dumps({"facts": found})
        if '"answers"' in messages[0]["content"]:
            answers = [
                {"fact": number, "says": says}
                for number, line in enumerate(shown[1:], 1)
                for word, says in self.says.items()
                if word in line
            ]
            return json.dumps({"answers": answers})
        return json.dumps(self.summary)


@pytest.fixture
def mind() -> Mind:
    return Mind()


@pytest.fixture
def server(mind: Mind, monkeypatch: pytest.MonkeyPatch) -> Iterator[OllamaServer]:
    """A server whose model is the test's, and which every memory here asks."""
    server = OllamaServer(mind)
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    yield server
    server.close()


def read(memory: Memory, **how: Any) -> ModelPassResult:
    """Let rules read what waits, then the model."""
    rule_pass.run_rule_pass(memory)
    return model_pass.run_model_pass(memory, **how)


def entries(memory: Memory) -> list[tuple[int, str, int, str]]:
    return memory.database.rows("SELECT turn, task, attempts, error FROM pending_extraction ORDER BY id")


def for_facts(memory: Memory) -> list[tuple[int, str, int, str]]:
    """The entries that a model always has a question about."""
    return [entry for entry in entries(memory) if entry[1] == "model.extract_facts"]


def say_bakery(memory: Memory, mind: Mind) -> None:
    """A person says it, and the model finds it."""
    mind.facts = {"panadería": BAKERY}
    say(memory, f"{BAKERY}.")


def say_bakeries(memory: Memory, mind: Mind, names: str, joint: str | None = None) -> None:
    """Each of these people has a bakery, said in a turn of its own, or in one."""
    mind.facts = {name: f"{name} tiene una panadería en la calle {name}" for name in names.split()}
    said = [f"{fact}." for fact in mind.facts.values()]
    say(memory, *(said if joint is None else [joint.join(said)]))


def meanwhile(memory: Memory, mind: Mind, statement: str) -> None:
    """While the model thinks, another process purges with this statement."""

    def purge() -> None:
        other = Memory(memory.location, "cli", memory.database.clock, create=False)
        with other, other.database.write("user", "purge") as write:
            write.execute(statement)

    mind.meanwhile = purge


def flush(memory: Memory, cancelled: Callable[[], bool] = lambda: False) -> list[Summary]:
    """The summaries of the session `s`, made by the model where it answers."""
    with summarizers.turn_summarizer(memory, cancelled) as by:
        session_flush.flush_due_sessions(memory, by)
    return Summaries(memory.database).list_of_session("s")


def pressed_once_begun(server: OllamaServer) -> Callable[[], bool]:
    """A key that is pressed as soon as the server works at a question."""
    pressed = threading.Event()
    threading.Thread(target=lambda: (server.begun.wait(30), pressed.set())).start()
    return pressed.is_set


def set_mode(memory: Memory, mode: str = "smart") -> None:
    memory.config.find_value("agent.mode").value = mode  # type: ignore[union-attr]


# what it adds ---------------------------------------------------------------------------------------------------------


def test_a_model_finds_what_rules_do_not_and_asks(memory: Memory, mind: Mind, server: OllamaServer) -> None:
    mind.facts = {"panadería": BAKERY}
    (turn,) = say(memory, "Recordá que el build es lento. Mi viejo tiene una panadería en Salto.")
    assert rule_pass.run_rule_pass(memory).learned.facts
    assert memory.inbox.waiting() == [], "rules have nothing to ask"
    done = model_pass.run_model_pass(memory)
    assert active_texts(memory) == ["El build es lento"], "it makes no fact"
    (asked,) = memory.inbox.waiting()
    assert (asked.kind, asked.text, asked.origin) == ("add", "Mi viejo tiene una panadería en Salto", NAME)
    assert (asked.evidence[0].citation, asked.evidence[0].quote) == (f"T#{turn}", f"{BAKERY}.")
    assert asked.reason == "It states something lasting, as qwen2.5:3b-instruct reads it."
    assert asked.change["confidence"] == "medium"
    assert (done.read, done.asked, done.by, done.left) == (2, (asked.id,), "qwen2.5:3b-instruct", 0)
    assert entries(memory) == []
    assert memory.history.steps(limit=1)[0].reason == f"propose {asked.citation}: T#{turn}"
    number = memory.inbox.accept(asked.id)
    assert number and memory.facts.get(number).origin == NAME


def test_without_a_model_everything_is_as_before(memory: Memory) -> None:
    say(memory, f"{BAKERY}.")
    done = read(memory)
    assert (done.read, done.asked, done.by) == (0, (), "")
    assert extraction_queue.count_queued_turns(memory.database) == (0, 0), "nothing waits that anybody has to see"
    assert extraction_queue.count_queued_turns(memory.database, model=True) == (1, 0), "should a model come"


def test_what_tells_nothing_or_a_switch_forbids_is_not_kept_for_a_model(memory: Memory, server: OllamaServer) -> None:
    say(memory, "¿Qué hora es?", "Arreglá el test, por favor.", "Hola!", '"Trabajo en una fintech"')
    say(memory, "Trabajo en una fintech y me gusta el mate.", session="old", days=30)
    say(memory, "Trabajo en una fintech y me gusta el té.", session="theirs", origin="mcp:claude")
    read(memory)
    assert entries(memory) == [] and not server.asked
    set_mode(memory, "off")
    say(memory, f"{BAKERY}.")
    read(memory)
    assert entries(memory) == [] and not server.asked


def test_only_so_many_turns_wait_for_a_model_the_newest(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extraction_queue, "MOST_WAITING", 6)
    hear(memory, *(f"Mi viejo tiene {number} panaderías en Salto." for number in range(2, 12)))
    assert {turn for turn, *_ in entries(memory)} == {8, 9, 10}


def test_what_rules_found_is_not_asked_again(memory: Memory, mind: Mind, server: OllamaServer) -> None:
    mind.facts = {"fintech": "Trabaja en una fintech", "lento": "El build es lento"}
    hear(memory, "Recordá que el build es muy lento.", "Trabajo en una fintech, somos 5.")
    before = [one.text for one in memory.inbox.waiting()]
    model_pass.run_model_pass(memory)
    assert server.asked and [one.text for one in memory.inbox.waiting()] == [*before, "Trabajo en una fintech, somos 5"]


@pytest.mark.parametrize(("said", "told", "again"), CASES["again"])
def test_what_was_rejected_is_not_asked_again_in_other_words_or_another_order(
    memory: Memory, mind: Mind, server: OllamaServer, said: str, told: str, again: bool
) -> None:
    """And what says something else of the same words is."""
    mind.facts = {said[:12]: said[:-1]}
    say(memory, said)
    memory.inbox.reject(list(read(memory).asked))
    assert memory.inbox.waiting() == [] and server.asked
    mind.facts = {told[:12]: told[:-1].removeprefix("Che, ")}
    say(memory, told, session="tuesday")
    assert bool(read(memory).asked) is again and len(server.asked) > 1


def test_what_an_undo_took_out_is_not_asked_again(memory: Memory, mind: Mind, server: OllamaServer) -> None:
    (turn,) = say(memory, f"{BAKERY}.")
    memory.facts.remember("Mi viejo tiene una panadería en Salto")
    memory.history.undo(memory.history.steps(limit=1)[0].seq)
    mind.facts = {"panadería": BAKERY}
    assert read(memory).asked == () and server.asked and turn


def test_what_is_known_is_not_asked(memory: Memory, mind: Mind, server: OllamaServer) -> None:
    memory.facts.remember("Mi viejo tiene una panadería en Salto")
    mind.facts = {"panadería": "Viejo tiene una panadería en Salto"}
    say(memory, "Che, mi viejo sigue con lo suyo, tiene una panadería en Salto.")
    assert read(memory).asked == ()


def test_a_fact_said_again_in_other_words_is_asked_about(memory: Memory, mind: Mind, server: OllamaServer) -> None:
    kimi, _ = memory.facts.remember("Kimi es el modelo principal del router de producción")
    other, _ = memory.facts.remember("Kimi cuesta caro")
    mind.says = {"router": "again", "caro": "nothing"}
    say(memory, "Sigo contento con Kimi en el router, rinde bárbaro.")
    read(memory)
    (asked,) = [one for one in memory.inbox.waiting() if one.target]  # the rule asks about the sentence itself
    assert (asked.kind, asked.target, asked.origin) == ("confirm", kimi, NAME)
    assert asked.reason == f"It says the same as F#{kimi}, as qwen2.5:3b-instruct reads it."
    assert memory.facts.get(kimi).last_confirmed_at == memory.facts.get(kimi).created_at, "nothing is confirmed by it"
    memory.inbox.reject([asked.id])
    say(memory, "Y sigo contento con Kimi en el router, rinde mucho.", session="tuesday")
    assert read(memory).asked == ()
    assert other


def test_what_no_longer_holds_is_asked_about(memory: Memory, mind: Mind, server: OllamaServer) -> None:
    kimi, _ = memory.facts.remember("Kimi es el modelo principal del router de producción")
    mind.says = {"router": "against"}
    say(memory, "Al final el router lo pasé a Qwen y Kimi quedó de respaldo.")
    read(memory)
    (asked,) = [one for one in memory.inbox.waiting() if one.kind == "supersede"]
    assert asked.target == kimi and memory.facts.get(kimi).status == "active"


# safety ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("said", CASES["hostile"])
def test_a_hostile_turn_is_not_even_shown(memory: Memory, mind: Mind, server: OllamaServer, said: str) -> None:
    mind.facts = {"": "Mi viejo tiene una panadería"}
    say(memory, said)
    read(memory)
    assert not any("facts" in asked["messages"][0]["content"] for asked in server.asked)
    assert not any(one.origin.startswith("model:") for one in memory.inbox.waiting())


def test_a_turn_perhaps_of_others_is_not_shown(memory: Memory, mind: Mind, server: OllamaServer) -> None:
    mind.facts = {"panadería": BAKERY}
    (turn,) = say(memory, "Mi viejo tiene una panadería en Salto.", origin="import:notes")
    with memory.database.write("agent", "extraction") as write:
        extraction_queue.enqueue_for_model(write, turn)
    assert read(memory).read and not server.asked and entries(memory) == []


@pytest.mark.parametrize("raw", CASES["answers"])
def test_a_models_words_write_and_call_nothing(memory: Memory, mind: Mind, server: OllamaServer, raw: str) -> None:
    known, _ = memory.facts.remember("La panadería de Salto cierra los lunes de enero")
    mind.raw = raw
    say(memory, f"{BAKERY}.")
    before = memory.facts.get(known)
    read(memory)
    assert memory.facts.get(known) == before and len(active_texts(memory)) == 1
    for asked in memory.inbox.waiting():
        assert asked.origin == NAME and asked.target in (None, known)
        assert asked.evidence[0].quote == "Mi viejo tiene una panadería en Salto."
    assert not any("autoriza" in one.text or "obey" in one.text for one in memory.inbox.waiting())


def test_a_secret_in_what_a_model_says_is_cut(memory: Memory, mind: Mind, server: OllamaServer) -> None:
    """It was cut from the turn before, and what the model was shown holds none."""
    token = "ghp_" + "Zq7Xv2Lk9Rt4Wm1Bn8Pc5Hd3Jf6Gs0Ya2UeQ"
    mind.facts = {"panadería": f"Mi viejo tiene una panadería en Salto {token}"}
    say(memory, f"Mi viejo tiene una panadería en Salto y el token es {token}.")
    read(memory)
    assert token not in json.dumps(server.asked)
    assert not any(token in one.text for one in memory.inbox.waiting())


def test_it_asks_what_is_looked_at(memory: Memory, mind: Mind, server: OllamaServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(model_pass, "MOST_MODEL_PROPOSALS", 3)
    say_bakeries(memory, mind, "Ana Bruno Carla Diego Elena")
    read(memory)
    assert len(memory.inbox.waiting()) == 3
    asked = len(server.asked)
    assert not model_pass.is_model_due(memory) and model_pass.run_model_pass(memory).read == 0
    assert len(server.asked) == asked
    memory.inbox.reject(memory.inbox.ids())
    assert model_pass.run_model_pass(memory).read > 0, "the rest waited"


@pytest.mark.parametrize(("most", "waits"), [(30, 4), (4, 60)])
def test_what_one_turn_tells_too_much_is_asked_when_there_is_room(
    memory: Memory, mind: Mind, server: OllamaServer, monkeypatch: pytest.MonkeyPatch, most: int, waits: int
) -> None:
    monkeypatch.setattr(model_pass, "MOST_PROPOSED", most)
    monkeypatch.setattr(model_pass, "MOST_MODEL_PROPOSALS", waits)
    say_bakeries(memory, mind, "Ana Bruno Carla Diego Elena Fabio", joint=" ")
    done = read(memory)
    assert len(done.asked) == 4 == len(memory.inbox.waiting()) and done.left == 1
    first = [one.text for one in memory.inbox.waiting()]
    memory.inbox.reject(memory.inbox.ids())
    assert len(model_pass.run_model_pass(memory).asked) == 2 and entries(memory) == []
    assert {*first, *(one.text for one in memory.inbox.waiting())} == set(mind.facts.values())


# what may go wrong ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["html", "length", "no done", "hangs"])
def test_after_three_failures_a_model_gives_up(memory: Memory, clock: Any, server: OllamaServer, fault: str) -> None:
    memory.config.find_value("agent.patience").value = 0.2  # type: ignore[union-attr]
    hear(memory, "Recordá que el build es lento. Mi viejo tiene una panadería en Salto.")
    pending_then = entries(memory)
    server.fault = fault
    for attempt in range(1, 4):
        circuit_breaker.reset_breakers()
        assert model_pass.run_model_pass(memory).failed
        circuit_breaker.reset_breakers()
        model_pass.run_model_pass(memory)
        assert {tried for _, _, tried, _ in entries(memory)} <= {0, attempt}
        clock.advance(days=0.1)
    assert not model_pass.is_model_due(memory)
    assert extraction_queue.count_queued_turns(memory.database, model=True)[1] == 1
    assert len(pending_then) == 2 and active_texts(memory) == ["El build es lento"]
    assert "panadería" in memory.turns.get(1).text
    assert all(error in ("broken", "cut", "slow") for *_, error in entries(memory)), "its kind, and none of its words"
    server.fault = ""
    memory.config.find_value("agent.patience").value = 30  # type: ignore[union-attr]
    extraction_queue.retry_given_up(memory.database)
    assert model_pass.run_model_pass(memory).read, "somebody mended it and asks for another try"


@pytest.mark.parametrize("fault", ["busy", "bad gateway"])
def test_what_is_no_turns_fault_costs_it_no_try(memory: Memory, server: OllamaServer, fault: str) -> None:
    hear(memory, f"{BAKERY}.")
    before = for_facts(memory)
    server.fault = fault
    done = model_pass.run_model_pass(memory)
    assert for_facts(memory) == before and done.failed == 0 and "busy" in done.trouble


def test_a_server_that_went_costs_no_try_and_is_left_alone(memory: Memory, server: OllamaServer) -> None:
    hear(memory, f"{BAKERY}.")
    before = for_facts(memory)
    assert model_pass.is_model_due(memory)
    server.close()
    model_pass.run_model_pass(memory)
    assert for_facts(memory) == before and not model_pass.is_model_due(memory)


@pytest.mark.parametrize("fault", ["hangs", "hangs midway"])
def test_a_key_stops_it_at_once_and_nothing_is_lost(memory: Memory, server: OllamaServer, fault: str) -> None:
    hear(memory, f"{BAKERY}.")
    before = for_facts(memory)
    server.fault = fault
    done = model_pass.run_model_pass(memory, cancelled=pressed_once_begun(server))
    assert (done.asked, done.failed, done.trouble) == ((), 0, "") and for_facts(memory) == before
    assert server.left.wait(30)
    assert by_task(memory.database) == [], "and it is no failure of the model"


def test_a_turn_that_was_purged_is_never_sent(memory: Memory, server: OllamaServer) -> None:
    hear(memory, "Recordá que mi viejo tiene una panadería en Salto. Mi tía hace tortas para la panadería.")
    assert model_pass.is_model_due(memory)
    plan = memory.purge.plan([("fact", 1)])
    memory.purge.run_plan(plan, range(len(plan.places)))
    set_mode(memory)
    model_pass.run_model_pass(memory)
    assert "tiene una panadería" not in json.dumps(server.asked, ensure_ascii=False)


def test_a_turn_purged_while_the_model_thinks_leaves_nothing(memory: Memory, mind: Mind, server: OllamaServer) -> None:
    (turn,) = say(memory, f"{BAKERY}.")
    mind.facts = {"panadería": BAKERY}

    rule_pass.run_rule_pass(memory)
    meanwhile(memory, mind, f"DELETE FROM turns WHERE id = {turn}")
    model_pass.run_model_pass(memory)
    assert server.asked and memory.inbox.waiting() == []


def test_two_processes_ask_once(memory: Memory, mind: Mind, server: OllamaServer) -> None:
    hear(memory, f"{BAKERY}.")
    other = Lease(memory.database, model_pass.MODEL_LEASE)
    assert other.acquire()
    assert model_pass.run_model_pass(memory).read == 0 and not server.asked
    other.release()
    assert model_pass.run_model_pass(memory).read == 2


def test_who_lost_the_lease_writes_nothing(memory: Memory, mind: Mind, server: OllamaServer, clock: Any) -> None:
    say_bakery(memory, mind)
    rule_pass.run_rule_pass(memory)

    def another_takes_it() -> None:
        clock.advance(milliseconds=60_000)
        with Memory.open(memory.location.path, "cli", memory.database.clock) as other:
            assert Lease(other.database, model_pass.MODEL_LEASE).acquire()

    mind.meanwhile = another_takes_it
    done = model_pass.run_model_pass(memory)
    assert done.asked == () and memory.inbox.waiting() == [] and for_facts(memory), "it is the other's now"


def test_turns_that_others_ingest_while_it_thinks_are_theirs(memory: Memory, mind: Mind, server: OllamaServer) -> None:
    """No transaction is open while a model thinks: every other writer goes on."""

    def write() -> None:
        with Memory.open(memory.location.path, "mcp", memory.database.clock) as other:
            other.facts.remember("El mate va sin azúcar")

    hear(memory, f"{BAKERY}.")
    mind.meanwhile = write
    assert model_pass.run_model_pass(memory).read == 2 and "El mate va sin azúcar" in active_texts(memory)


# summaries ------------------------------------------------------------------------------------------------------------


def talk(memory: Memory, count: int = 12) -> None:
    for number in range(count):
        memory.turns.add_turns(
            "s", [NewTurn("user", f"Vamos con la opción {number} del despliegue."), NewTurn("assistant", "Listo.")]
        )


def test_summaries_are_the_models_where_there_is_one(memory: Memory, mind: Mind, server: OllamaServer) -> None:
    mind.summary = {"topic": 1}
    talk(memory)
    made = flush(memory)
    assert made and {one.origin for one in made} == {NAME}


def test_a_summary_that_nobody_waits_for_is_made_another_time(memory: Memory, mind: Mind, server: OllamaServer) -> None:
    memory.config.find_value("flush.messages").value = 0  # type: ignore[union-attr]
    talk(memory)
    server.fault = "hangs"
    assert flush(memory, pressed_once_begun(server)) == []
    session_flush.flush_due_sessions(memory)
    assert {one.origin for one in Summaries(memory.database).list_of_session("s")} == {"agent"}


def test_where_the_model_fails_the_rules_summary_stands(memory: Memory, mind: Mind, server: OllamaServer) -> None:
    talk(memory)
    server.fault = "html"
    made = flush(memory)
    assert made and {one.origin for one in made} == {"agent"}
    (counted,) = by_task(memory.database)
    assert counted.fell_back == len(made)


def test_old_talk_and_more_than_a_few_are_summed_up_by_rule(
    memory: Memory, mind: Mind, server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summarizers, "MOST_MODEL_SUMMARIES", 1)
    talk(memory)
    mind.summary = {"topic": 1}
    with summarizers.turn_summarizer(memory, lambda: False) as by:
        session_flush.flush_due_sessions(memory, by)
        memory.turns.add_turns("old", [NewTurn("user", "Vamos con lo viejo.", at=days_before(memory.now, 2))] * 9)
        Summaries(memory.database).summarize_due("old", by=by)
    assert len(server.asked) == 1


def test_words_purged_meanwhile_are_in_no_summary(memory: Memory, mind: Mind, server: OllamaServer) -> None:
    talk(memory)

    mind.summary = {"topic": 1}
    meanwhile(memory, mind, "UPDATE turns SET text = '[purged]' WHERE number = 1")
    assert not any("opción 0" in one.topic.casefold() for one in flush(memory) if one.first == 1)


def test_a_flush_by_itself_is_done_by_rule_where_its_model_is_broken_off(memory: Memory) -> None:
    """What one has said stays; sessions that need no flush wait for the model."""
    asked = 0

    def twice(turns: Sequence[Turn]) -> SummaryFields:
        nonlocal asked
        asked += 1
        if asked > 2:
            raise ModelFailed("stopped", "The question was cancelled.")
        return summarize_by_rule(turns)._replace(by="qwen")

    memory.config.find_value("flush.messages").value = 0  # type: ignore[union-attr]
    talk(memory)
    assert session_flush.flush_due_sessions(memory, twice) == 0
    assert len(Summaries(memory.database).list_of_session("s")) == 2, "what came is kept"
    memory.config.find_value("flush.messages").value = 10  # type: ignore[union-attr]
    memory.turns.add_turns("short", [NewTurn("user", f"Vamos con la parte {number}.") for number in range(9)])
    assert session_flush.flush_due_sessions(memory, twice) == 1 and asked == 4
    assert [one.origin for one in Summaries(memory.database).list_of_session("s")][:3] == [
        "model:qwen",
        "model:qwen",
        "agent",
    ]
    assert (
        Summaries(memory.database).find_due_turns("s", all_of_it=True)
        == Summaries(memory.database).list_of_session("short")
        == []
    )
    assert memory.database.value("SELECT count(*) FROM checkpoints") == 1
    assert not session_flush.is_flush_due(memory, Sessions(memory.database).get("s"))


# while a person waits -------------------------------------------------------------------------------------------------


def old_facts(memory: Memory) -> None:
    """Three facts about one thing, old, that nobody opens."""
    clock = memory.database.clock
    now, clock.now = clock.now, days_before(clock.now, 100)  # type: ignore[attr-defined]
    for text in ("Jenkins tarda 20 minutos", "Jenkins tiene dos agentes", "Jenkins no manda correos"):
        memory.facts.remember(text)
    clock.now = now  # type: ignore[attr-defined]


@pytest.mark.parametrize(("mode", "asks"), [("fast", False), ("smart", True)])
def test_a_model_is_asked_before_an_answer_only_where_a_person_wants_it(
    memory: Memory, mind: Mind, server: OllamaServer, mode: str, asks: bool
) -> None:
    set_mode(memory, mode)
    mind.raw = json.dumps({"fact": 0})
    old_facts(memory)
    with summarizers.fact_summarizer(memory) as summary:
        propose_duplicates(memory.database, memory.facts, memory.inbox, memory.now, summary=summary)
    (asked,) = [one for one in memory.inbox.waiting() if one.kind == "merge"]
    assert asked.text.count(";") == 2 and bool(server.asked) is asks
    mind.raw = json.dumps({"words": ["Jenkins", "tarda"]})
    turns = memory.turns.get_many(say(memory, "Otra vez lo mismo: Jenkins tarda una eternidad."))
    assert (summarizers.name_snapshot(memory, turns, "2026-11-21") == "2026-11-21-jenkins-tarda") is asks


@pytest.mark.parametrize(("mode", "fault", "asks"), [("fast", "", False), ("smart", "", True), ("smart", "busy", True)])
def test_facts_of_a_context_are_in_a_models_order_only_where_a_person_wants_it(
    memory: Memory, mind: Mind, server: OllamaServer, mode: str, fault: str, asks: bool
) -> None:
    """It puts them in another order, those that nobody is to see stay out, and where it fails the search's stands."""
    for text in ("Jenkins tarda 20 minutos", "Jenkins tiene dos agentes", "Jenkins no manda correos"):
        memory.facts.remember(text)
    muted = memory.facts.remember("Jenkins corre en el sótano")[0]
    memory.mutes.mute([muted])
    searched = memory.context("¿Qué sabemos de Jenkins?")
    set_mode(memory, mode)
    mind.raw, server.fault = json.dumps({"order": [3, 4, 0]}), fault
    with summarizers.context_ranker(memory) as rank:
        built = memory.context("¿Qué sabemos de Jenkins?", rank=rank)
    assert bool(server.asked) is asks
    before, after = [[one.fact.id for one in each.considered] for each in (searched, built)]
    if mode == "smart" and not fault:
        assert after == [before[2], before[0], before[1], muted] and built.ranked_by == "qwen2.5:3b-instruct"
        assert built.text.index(f"[F#{before[2]}]") < built.text.index(f"[F#{before[0]}]")
    else:
        assert after == before and built.ranked_by == "rules"


@pytest.mark.parametrize("does", ["correct", "forget", "purge"])
def test_a_fact_that_changes_while_the_model_sums_up_costs_its_question_alone(
    memory: Memory, mind: Mind, server: OllamaServer, does: str
) -> None:
    set_mode(memory)
    old_facts(memory)
    for text in ("Deploys on Fridays", "Deploys on Friday, always"):
        memory.facts.remember(text)

    def change() -> None:
        mind.meanwhile = lambda: None
        with Memory(memory.location, "cli", memory.database.clock, create=False) as other:
            if does == "correct":
                other.facts.correct(3, "Jenkins manda correos los lunes")
            elif does == "forget":
                other.facts.forget([3])
            else:
                plan = other.purge.plan([("fact", 3)])
                other.purge.run_plan(plan, range(len(plan.places)))

    mind.meanwhile = change
    mind.raw = json.dumps({"fact": 0})
    with summarizers.fact_summarizer(memory) as summary:
        found = propose_duplicates(memory.database, memory.facts, memory.inbox, memory.now, summary=summary)
    assert server.asked and "Deploys" in memory.inbox.waiting()[0].text
    assert len(found.proposals) == len(memory.inbox.waiting()) == 1 and found.left == 0
    assert memory.database.rows("SELECT 1 FROM proposals WHERE evidence GLOB '*correos*'") == []


def test_what_is_purged_while_it_is_named_is_in_no_snapshot(memory: Memory, mind: Mind, server: OllamaServer) -> None:
    set_mode(memory)
    say(memory, "La clave de la clínica es morsa violeta.", "Plantamos el jardín de la clínica.", session="s")

    meanwhile(memory, mind, "DELETE FROM turns WHERE id = 1")
    mind.raw = json.dumps({"words": ["clave", "morsa", "violeta"]})
    done = session_flush.clear_session(memory, "s")
    with open(done.path, encoding="utf-8") as file:
        text = file.read()
    assert server.asked and "jardín" in text and done.messages == 1
    assert "morsa" not in text + done.path

    mind.meanwhile = lambda: None
    say(memory, "Plantamos tomates en el jardín.", session="t")
    mind.raw = json.dumps({"words": ["tomates", "jardín"]})
    assert "tomates-jardin" in session_flush.clear_session(memory, "t").path, "else the model names it"


def test_where_all_of_it_is_purged_nothing_is_cleared(memory: Memory, mind: Mind, server: OllamaServer) -> None:
    set_mode(memory)
    say(memory, "La clave de la clínica es morsa violeta.", session="s")

    meanwhile(memory, mind, "DELETE FROM turns")
    with pytest.raises(NotFound):
        session_flush.clear_session(memory, "s")
    assert server.asked and not list(Path(memory.location.path).parent.parent.rglob("snapshots/*.md"))


def test_a_person_waits_for_no_cold_model(memory: Memory, mind: Mind, server: OllamaServer) -> None:
    set_mode(memory)
    server.loaded.clear()
    turns = memory.turns.get_many(say(memory, "Otra vez lo mismo: Jenkins tarda una eternidad."))
    assert summarizers.name_snapshot(memory, turns, "2026-11-21").startswith("2026-11-21-otra-vez")
    assert server.loads == 0 and not server.asked


def test_what_comes_in_in_bulk_is_summed_up_by_rule_and_the_rest_is_left_to_the_model(
    memory: Memory, mind: Mind, server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(memory, 6)
    memory.turns.add_turns("long", [NewTurn("user", f"Vamos con la opción {number} del plan.") for number in range(60)])
    session_flush.flush_after_import(memory)
    assert Summaries(memory.database).list_of_session("s") == []
    assert len(Summaries(memory.database).list_of_session("long")) > summarizers.MOST_MODEL_SUMMARIES
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    session_flush.flush_after_import(memory)
    assert Summaries(memory.database).list_of_session("s"), "without a model all of it is"
    assert not server.asked


# decisions


def test_a_decision_that_was_told_waits_as_a_decision_each_part_quoted(memory: Memory, server: OllamaServer) -> None:
    said = "Al final usamos SQLite, más simple que Postgres."

    def answer(messages: list[dict[str, str]]) -> str:
        if "chosen:" in messages[0]["content"]:
            parts = {"chosen": "SQLite", "alternatives": ["postgres", "Oracle"], "rationale": "es más rápido"}
            return json.dumps(parts)
        return json.dumps({"facts": [], "answers": []})

    server.say = answer
    (turn,) = memory.turns.add_turns("monday", [NewTurn("user", said)])
    rule_pass.run_rule_pass(memory)
    assert [one.change.get("decision") for one in memory.inbox.waiting()] == [None], "its words do not part it"
    model_pass.run_model_pass(memory)
    (asked,) = memory.inbox.waiting()
    told = asked.change["decision"]
    assert (told["chosen"], told["alternatives"], told["rationale"]) == ("SQLite", ["Postgres"], "")
    (quote,) = asked.evidence
    assert (asked.text, quote.citation, quote.quote) == (said.rstrip("."), f"T#{turn}", said)
    assert memory.inbox.accept(asked.id) is None
    decision = memory.decisions.get(1)
    assert (decision.chosen, decision.alternatives, decision.title) == ("SQLite", ("Postgres",), said.rstrip("."))
    assert decision.origin.startswith("model:")
    assert decision.confirmed_at and not get_unconfirmed_origin(decision), "whoever accepts it confirms it"
    memory.history.undo()
    assert [one.id for one in memory.inbox.waiting()] == [asked.id], "it is taken back in one step"
