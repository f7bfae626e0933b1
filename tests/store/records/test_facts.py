"""Facts: remembered once, confirmed, corrected, pinned, forgotten; and listed in the order a person asks for."""

from functools import partial

import pytest
from conftest import tried
from hypothesis import given
from hypothesis import strategies as st
from support.cases import load_cases
from support.tables import refuses

from store.base.errors import Conflict, InvalidInput, NotFound, Unsupported
from store.base.models import Fact
from store.base.vocabulary import CONFIDENCES, DOMAINS
from store.memory import Memory
from store.records import facts as ageing
from store.records.facts import FACT_SORTS, MAX_FACT_CHARACTERS, text_hash

CASES = load_cases(__file__)


def remember(memory: Memory, text: str, **details: object) -> int:
    number, new = memory.facts.remember(text, **details)  # type: ignore[arg-type]
    assert new
    return number


def everything(memory: Memory) -> list[tuple[object, ...]]:
    """Every row of facts and every step of history, to say that nothing at all has changed."""
    rows = memory.database.rows("SELECT * FROM facts ORDER BY id")
    return [*rows, *memory.database.rows("SELECT seq, reason FROM history ORDER BY seq")]


# remember ------------------------------------------------------------------------------------------------------------


def test_a_fact_is_kept_as_it_was_said(memory: Memory, clock) -> None:
    """What is read back is what was said, with who said it and when."""
    told = {"domain": "personal", "confidence": "medium", "source": "inferred", "importance": 0.9, "pinned": True}
    more = {"evidence": ["C#a1b2c3d"], "tags": ["salud", "salud", "maría"], "actor": "mcp:claude"}
    fact = memory.facts.get(remember(memory, "  María es alérgica al maní ", **told, **more))
    known = {"id": 1, "scope": "project", "status": "active", "supersedes": None, "origin": "mcp:claude"}
    known |= {"fact": "María es alérgica al maní", "evidence": ("C#a1b2c3d",), "tags": ("salud", "maría")}
    assert fact == Fact(**told, **known, created_at=clock.now, last_confirmed_at=clock.now)
    assert fact.citation == "F#1"


@pytest.mark.parametrize("again", CASES["saying_it_again_confirms_it"])
def test_saying_it_again_confirms_it(memory: Memory, clock, again: str) -> None:
    """Other capitals, spaces, widths or final punctuation are the same fact: one row, its clock started again."""
    first = remember(memory, "The team is five")
    clock.advance(days=70)
    assert memory.facts.remember(again) == (first, False)
    fact = memory.facts.get(first)
    assert (fact.fact, fact.last_confirmed_at) == ("The team is five", clock.now)
    assert fact.created_at < fact.last_confirmed_at
    assert memory.history.steps(limit=1)[0].reason == "confirm F#1"


@pytest.mark.parametrize(("one", "other"), CASES["what_only_looks_alike_is_another_fact"])
def test_what_only_looks_alike_is_another_fact(memory: Memory, one: str, other: str) -> None:
    """Accents, digits and signs carry meaning: "mani" is not "maní"."""
    remember(memory, one)
    remember(memory, other)
    assert len(memory.facts.ids(memory.now)) == 2


def test_an_accent_typed_as_two_characters_is_the_same_accent(memory: Memory) -> None:
    """A Mac writes "í" as i and an accent; it is still maní."""
    first = remember(memory, "tiene maní")
    assert memory.facts.remember("tiene mani\u0301") == (first, False)


@given(st.text(), st.sampled_from(["{}", " {} ", "{}.", "{}!!", "{} ,"]))
def test_final_punctuation_and_spaces_never_matter(text: str, around: str) -> None:
    """The normal form holds for any text that says something; case folding is idempotent."""
    if any(character.isalnum() for character in text):
        assert text_hash(around.format(text.strip())) == text_hash(text.strip())


def test_remembering_again_can_pin_and_never_unpins(memory: Memory) -> None:
    """`remember --pin` of something known pins it; saying it without the option takes nothing away."""
    number = remember(memory, "Ana is allergic to nuts")
    assert memory.facts.remember("ana is allergic to nuts", pinned=True) == (number, False)
    assert memory.facts.get(number).pinned
    memory.facts.remember("Ana is allergic to nuts")
    assert memory.facts.get(number).pinned


def test_what_was_forgotten_can_be_remembered_anew(memory: Memory) -> None:
    """A forgotten fact does not swallow the same words said again."""
    first = remember(memory, "We deploy on Fridays")
    memory.facts.forget([first])
    assert remember(memory, "We deploy on Fridays") != first


def test_an_unknown_domain_becomes_a_tag(memory: Memory) -> None:
    """`general` with the word as a tag; a known one in capitals is known; an empty one leaves no empty tag."""
    cooking = memory.facts.get(remember(memory, "Salt last", domain=" Cooking ", tags=["kitchen"]))
    assert (cooking.domain, cooking.tags) == ("general", ("kitchen", "cooking"))
    work = memory.facts.get(remember(memory, "Ships on Tuesday", domain="Work"))
    assert (work.domain, work.tags) == ("work", ())
    empty = memory.facts.get(remember(memory, "Nothing special", domain="  "))
    assert (empty.domain, empty.tags) == ("general", ())


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": ""},
        {"text": " \n\t"},
        {"text": "x" * (MAX_FACT_CHARACTERS + 1)},
        {"text": "ok", "confidence": "certain"},
        {"text": "ok", "source": "gossip"},
        {"text": "ok", "scope": "galaxy"},
        {"text": "ok", "importance": 1.01},
        {"text": "ok", "importance": -0.01},
        {"text": "ok", "importance": float("nan")},
        {"text": "ok", "evidence": [float("inf")]},
    ],
)
def test_what_cannot_be_meant_is_refused_and_nothing_is_kept(memory: Memory, wrong: dict) -> None:
    """Limits and closed lists: a sentence for the person, and a memory as it was."""
    with pytest.raises(InvalidInput):
        memory.facts.remember(**wrong)
    assert everything(memory) == []


def test_a_fact_of_exactly_the_limit_is_kept_and_a_longer_one_is_refused_without_its_text(memory: Memory) -> None:
    """The limit itself is allowed, in characters and not in bytes."""
    assert len(memory.facts.get(remember(memory, "ñ" * MAX_FACT_CHARACTERS)).fact) == MAX_FACT_CHARACTERS
    with pytest.raises(InvalidInput) as refused:
        memory.facts.remember("mipalabra " * MAX_FACT_CHARACTERS)
    assert "mipalabra" not in str(refused.value)
    assert "20,000" in str(refused.value)


def test_global_facts_are_refused_with_a_sentence(memory: Memory) -> None:
    """A project keeps none: they are the personal memory's, and the sentence says how they get there."""
    with pytest.raises(Unsupported, match=r"kept in your personal memory\. memoranda remember --scope global"):
        memory.facts.remember("Prefers tabs", scope="global")
    assert everything(memory) == []


# correct -------------------------------------------------------------------------------------------------------------


def test_a_correction_supersedes_and_inherits(memory: Memory, clock) -> None:
    """The new fact takes the old one's place with all that was said about it; the old one stays, linked."""
    details = {"domain": "work", "importance": 0.8, "pinned": True, "tags": ["team"], "evidence": ["I#1"]}
    old = remember(memory, "The team is five", **details)
    clock.advance(days=10)
    new = memory.facts.correct(old, "The team is six")
    before, after = memory.facts.get(old), memory.facts.get(new)
    assert (before.status, before.fact) == ("superseded", "The team is five")
    assert (after.status, after.supersedes, after.fact) == ("active", old, "The team is six")
    assert (after.domain, after.importance, after.pinned) == ("work", 0.8, True)
    assert (after.tags, after.evidence) == (("team",), ("I#1",))
    assert after.last_confirmed_at == after.created_at == clock.now
    assert memory.facts.ids(memory.now) == [new]


def test_only_a_persons_correction_is_explicit(memory: Memory) -> None:
    """A person's word is high and explicit; an agent's keeps the confidence there was and is inferred."""
    number = remember(memory, "Uses Postgres", confidence="low", source="inferred", actor="agent")
    by_agent = memory.facts.correct(number, "Uses MySQL", actor="agent")
    fact = memory.facts.get(by_agent)
    assert (fact.confidence, fact.source, fact.origin) == ("low", "inferred", "agent")
    fact = memory.facts.get(memory.facts.correct(by_agent, "Uses SQLite"))
    assert (fact.confidence, fact.source, fact.origin) == ("high", "explicit", "user")


def test_a_correction_may_mend_capitals_alone(memory: Memory) -> None:
    """The same fact, better written, is a correction and not a duplicate of itself."""
    number = remember(memory, "we use sqlite")
    assert memory.facts.get(memory.facts.correct(number, "We use SQLite.")).fact == "We use SQLite."


def test_a_fact_takes_the_place_of_another_that_is_there(memory: Memory) -> None:
    old, new, third = (remember(memory, text) for text in ("The team is four", "The team is five", "It rains"))
    memory.facts.replace(old, new)
    assert memory.facts.get(old).status == "superseded" and memory.facts.get(new).supersedes == old
    with pytest.raises(Conflict):
        memory.facts.replace(old, third)
    memory.history.undo()
    assert memory.facts.get(old).status == "active" and memory.facts.get(new).supersedes is None


def test_the_chain_is_the_same_from_any_of_its_links(memory: Memory) -> None:
    """Oldest first, forwards and backwards, and no fact of another chain among them."""
    remember(memory, "Something else")
    first = remember(memory, "v1")
    chain = [first, second := memory.facts.correct(first, "v2"), memory.facts.correct(second, "v3")]
    remember(memory, "Something else again")
    for number in chain:
        assert [fact.id for fact in memory.facts.chain(number)] == chain
    with pytest.raises(NotFound):
        memory.facts.chain(99)
    number, _ = memory.facts.remember("round and round")
    memory.database.connection.execute("UPDATE facts SET supersedes = id WHERE id = ?", (number,))
    assert [fact.id for fact in memory.facts.chain(number)] == [number]


def test_corrections_that_make_no_sense_are_refused_with_the_next_step(memory: Memory) -> None:
    """Identical, already known, forgotten, superseded, missing, empty: each says what to do, and changes nothing."""
    five = remember(memory, "The team is five")
    friday = remember(memory, "We deploy on Fridays")
    gone = remember(memory, "We use CVS")
    memory.facts.forget([gone])
    old = remember(memory, "v1")
    new = memory.facts.correct(old, "v2")
    before = everything(memory)
    correct = memory.facts.correct
    refuses(InvalidInput, r"F#1 says exactly that\. Confirm it", correct, five, " The team is five ")
    refuses(Conflict, rf"F#{friday} says that already\. Forget F#{five}", correct, five, "we deploy on fridays.")
    refuses(Conflict, r"forgotten already\. Undo", correct, gone, "We use Git")
    refuses(Conflict, rf"is superseded\. F#{new} took its place", correct, old, "v3")
    refuses(NotFound, r"no fact F#99\. List them", correct, 99, "v3")
    refuses(InvalidInput, "empty", correct, five, "  ")
    assert everything(memory) == before


# many at once --------------------------------------------------------------------------------------------------------


def test_confirming_starts_the_clocks_again(memory: Memory, clock) -> None:
    """Stale facts are fresh after one key; the others keep their age."""
    numbers = [remember(memory, f"fact {n}") for n in range(3)]
    clock.advance(days=200)
    assert memory.facts.count_by_state(memory.now)["stale"] == 3
    memory.facts.confirm(numbers[:2])
    counts = memory.facts.count_by_state(memory.now)
    assert (counts["fresh"], counts["stale"]) == (2, 1)
    first, second, third = memory.facts.get_many(numbers)
    assert first.last_confirmed_at == second.last_confirmed_at > third.last_confirmed_at == third.created_at


def test_pinned_facts_do_not_age_until_unpinned(memory: Memory, clock) -> None:
    """Pin, wait a year, unpin: fresh the whole year, stale from then on."""
    number = remember(memory, "Ana is allergic to nuts")
    memory.facts.pin([number])
    clock.advance(days=365)
    assert memory.facts.count_by_state(memory.now)["fresh"] == 1
    memory.facts.pin([number], False)
    assert memory.facts.count_by_state(memory.now)["stale"] == 1


def test_forgetting_hides_and_undo_brings_back(memory: Memory) -> None:
    """Out of the list and still there, status and all; one undo for all that were forgotten together."""
    numbers = [remember(memory, f"fact {n}") for n in range(3)]
    memory.facts.forget(numbers[:2])
    assert memory.facts.ids(memory.now) == numbers[2:]
    assert memory.facts.get(numbers[0]).status == "forgotten"
    memory.history.undo()
    assert memory.facts.ids(memory.now) == numbers


@pytest.mark.parametrize("verb", ["confirm", "forget", "pin", "unpin"])
def test_many_at_once_is_all_of_them_or_none(memory: Memory, clock, verb: str) -> None:
    """One that is missing or forgotten among many: the error names it, and not one of the others is touched."""
    numbers = [remember(memory, f"fact {n}", pinned=verb == "unpin") for n in range(3)]
    memory.facts.forget(numbers[1:2])
    act = getattr(memory.facts, verb) if verb != "unpin" else partial(memory.facts.pin, pinned=False)
    clock.advance(days=1)
    before = everything(memory)
    refuses(NotFound, "F#99", act, [numbers[0], 99])
    refuses(Conflict, "F#2 is forgotten already", act, [numbers[0], numbers[2], numbers[1]])
    refuses(InvalidInput, verb, act, [])
    assert everything(memory) == before
    act([numbers[0], numbers[2]])
    assert everything(memory) != before
    assert memory.history.steps(limit=1)[0].reason == f"{verb} F#1 F#3"


def test_confirming_a_superseded_fact_points_to_its_successor(memory: Memory) -> None:
    """What took its place is named, so that the person's next key is the right one."""
    old = remember(memory, "v1")
    new = memory.facts.correct(old, "v2")
    for act in (memory.facts.confirm, memory.facts.pin):
        with pytest.raises(Conflict, match=f"F#{new} took its place"):
            act([old])


def test_history_names_ten_of_many(memory: Memory) -> None:
    """A reason stays one line, however many facts were marked."""
    memory.facts.forget([remember(memory, f"fact {n}") for n in range(13)])
    assert memory.history.steps(limit=1)[0].reason.endswith("F#9 F#10 +3")


# lists ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def shelf(memory: Memory, clock) -> dict[str, int]:
    """Five facts of different age, domain, confidence and author, confirmed in another order than made."""
    facts: dict[str, int] = {}
    for name, text, details in (
        ("zeta", "zeta deploys itself", {"domain": "work", "confidence": "low"}),
        ("Alpha", "Alpha is the codename", {"domain": "projects", "confidence": "medium"}),
        ("beta", "beta testers get cake", {"domain": "work", "actor": "agent"}),
        ("nuts", "Ana is allergic to nuts", {"domain": "personal", "pinned": True}),
        ("Omega", "Omega ended", {}),
    ):
        facts[name] = remember(memory, text, **details)  # type: ignore[arg-type]
        clock.advance(days=20)
    memory.facts.confirm([facts["beta"]])
    memory.facts.confirm([facts["zeta"]])
    return facts


@pytest.mark.parametrize(("sort", "order"), CASES["every_order_is_what_its_name_says"])
def test_every_order_is_what_its_name_says(memory: Memory, clock, shelf: dict[str, int], sort: str, order: str) -> None:
    """All the orders there are over the same shelf; `state` puts what needs a person first."""
    assert set(FACT_SORTS) == {"oldest", "newest", "domain", "text", "state"}, "there are no other orders"
    clock.advance(days=40)  # Alpha: 120 days, stale; zeta: 40, low; Omega: 60, aging; nuts: pinned; beta: 40, fresh
    assert memory.facts.ids(memory.now, sort=sort) == [shelf[name] for name in order.split()]


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ({"domain": "work"}, "beta zeta"),
        ({"origin": "agent"}, "beta"),
        ({"state": ageing.AGE_STATES.index("stale")}, "Alpha"),
        ({"state": ageing.AGE_STATES.index("low")}, "zeta"),
        ({"state": ageing.AGE_STATES.index("fresh")}, "nuts beta"),
        ({"words": "ALLERGIC to"}, "nuts"),
        ({"words": "ÁLLERGIC  to"}, "nuts"),
        ({"words": "%"}, ""),
        ({"domain": "work", "words": "cake", "origin": "agent"}, "beta"),
        ({"domain": "preferences"}, ""),
        ({"limit": 2}, "Alpha nuts"),
        ({"limit": 2, "offset": 3}, "beta zeta"),
        ({"offset": 4}, "zeta"),
        ({"statuses": ("forgotten",)}, "gone new"),
        ({"statuses": ("superseded", "forgotten"), "sort": "text"}, "gone new old"),
        ({"statuses": ()}, ""),
    ],
)
def test_a_filter_keeps_what_it_says(memory: Memory, clock, shelf: dict[str, int], filters: dict, names: str) -> None:
    """Each filter alone, some together, and pages that continue one another."""
    clock.advance(days=40)
    shelf["gone"] = remember(memory, "gone with the wind")
    shelf["old"] = remember(memory, "old news")
    memory.facts.forget([shelf["gone"], memory.facts.correct(shelf["old"], "new news")])
    shelf["new"] = shelf["old"] + 1
    assert memory.facts.ids(memory.now, **filters) == [shelf[name] for name in names.split()]


def test_many_keeps_the_order_asked_and_leaves_out_what_is_not_there(memory: Memory) -> None:
    """A screen asks for the rows it shows, and rows may have gone since."""
    numbers = [remember(memory, f"fact {n}") for n in range(3)]
    assert [fact.id for fact in memory.facts.get_many([numbers[2], 99, numbers[0], 2**70])] == [numbers[2], numbers[0]]
    refuses(NotFound, "F#99", memory.facts.get, 99)
    refuses(InvalidInput, "active, superseded", memory.facts.ids, memory.now, statuses=("gone",))


@tried(3)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(CONFIDENCES), st.integers(0, 200), st.booleans(), st.sampled_from(["", "forget", "correct"])
        ),
        max_size=12,
    )
)
def test_the_counts_agree_with_the_rule_fact_by_fact(memory: Memory, clock, lives: list) -> None:
    """What the sidebar says is what `ageing.state` says of each fact, and the filter by state finds as many."""
    for confidence, days, pinned, end in lives:
        number, _ = memory.facts.remember(f"{clock.now} {confidence}", confidence=confidence, pinned=pinned)
        if end:
            memory.facts.forget([number]) if end == "forget" else memory.facts.correct(number, f"{clock.now} {days}")
        clock.advance(days=days)
    now = memory.now
    expected = dict.fromkeys((*ageing.AGE_STATES, "active", "superseded", "contradicted", "forgotten", "pinned"), 0)
    for fact in memory.facts.get_many([row[0] for row in memory.database.rows("SELECT id FROM facts")]):
        expected[fact.status] += 1
        if fact.status == "active":
            expected[ageing.age_state(now, fact.last_confirmed_at, fact.confidence, fact.pinned)] += 1
            expected["pinned"] += fact.pinned
    assert memory.facts.count_by_state(now) == expected
    for index, state in enumerate(ageing.AGE_STATES):
        assert len(memory.facts.ids(now, state=index)) == expected[state]


# speed ---------------------------------------------------------------------------------------------------------------


def plan_of(memory: Memory, act) -> str:  # type: ignore[no-untyped-def]
    """How SQLite would run the last statement of `act`: its own words."""
    connection, said = memory.database.connection, []
    connection.exec_trace = lambda cursor, sql, bindings: said.append((sql, bindings)) or True
    try:
        act()
    finally:
        connection.exec_trace = None
    sql, bindings = said[-1]
    return "\n".join(row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", bindings))


def test_the_default_list_and_the_counts_are_read_from_an_index(memory: Memory) -> None:
    """100,000 facts open at once because nothing is sorted: `facts_age` has them in order."""
    plan = plan_of(memory, lambda: memory.facts.ids(memory.now, limit=100))
    assert "INDEX facts_age" in plan
    assert "TEMP B-TREE" not in plan
    # and the trace sees the difference: this order has no index
    assert "TEMP B-TREE" in plan_of(memory, lambda: memory.facts.ids(memory.now, sort="text"))
    plan = plan_of(memory, lambda: memory.facts.count_by_state(memory.now))
    looked = [line for line in plan.splitlines() if "facts" in line]
    assert looked and all("COVERING INDEX" in line for line in looked), plan


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_list_of_one_domain_uses_its_index(memory: Memory, domain: str) -> None:
    """Choosing a domain in the sidebar reads that domain only, whatever the domain."""
    assert "facts_domain" in plan_of(memory, lambda: memory.facts.ids(memory.now, domain=domain))


def test_what_came_into_a_state_and_what_was_learned_lately(memory: Memory, clock) -> None:
    """Of 30 days and of 12 weeks; what was forgotten since was learned all the same."""
    for days in (200, 170, 100, 70, 20, 3):
        clock.advance(days=-days)
        memory.facts.remember(f"{days} days ago")
        clock.advance(days=days)
    memory.facts.forget([6])
    now = memory.now
    assert memory.facts.count_state_changes(now, 30) == {"fresh": 1, "aging": 1, "low": 0, "stale": 1}
    assert memory.facts.count_by_state(now)["stale"] == 1 and memory.facts.count_by_state(now)["aging"] == 3
    learned = memory.facts.count_learned(now, 12)
    assert len(learned) == 12 and sum(learned) == 3
    assert (learned[-1], learned[-3], learned[-11]) == (1, 1, 1)
