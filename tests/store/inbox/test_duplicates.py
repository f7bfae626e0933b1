"""Facts that say the same, or cannot both hold: nominated, never acted on, and taken back as one."""

import itertools

import pytest
from rapidfuzz.fuzz import ratio
from support.cases import load_cases
from support.likeness import BY_MEANING, DEVELOPED, HELD
from support.tables import each

from store.inbox.duplicates import (
    DUPLICATES_ORIGIN,
    _may_be_one_thing,
    find_decision_matches,
    find_overruled_facts,
    find_similar_facts,
    join_fact_texts,
    propose_duplicates,
)
from store.inbox.inbox import DoubtfulProposal
from store.memory import Memory
from store.text.fence import is_suspicious
from store.text.similarity import compare_sentences, parse_sentence

CASES = load_cases(__file__)
WORDS = {"same": "same", "alike": "same", "contradicts": "contradicts", "": "apart"}


def judged(one: str, other: str) -> str:
    first, second = parse_sentence(one), parse_sentence(other)
    return WORDS[compare_sentences(first, second, ratio(first.plain, second.plain) / 100)]


def look(memory: Memory, **how: object):
    return propose_duplicates(memory.database, memory.facts, memory.inbox, memory.now, **how)


# cues


@each("one, other, says", DEVELOPED)
def test_cues_by_words_alone(one, other, says):
    assert judged(one, other) == judged(other, one) == says


def test_cues_hold_for_pairs_they_were_not_made_with():
    right = [pair for pair in HELD if judged(*pair[:2]) == judged(pair[1], pair[0]) == pair[2]]
    assert len(right) >= len(HELD) - 1


def test_what_has_nothing_to_do_with_each_other_is_left_alone():
    from store.embedding.model_registry import read_texts

    pairs = list(itertools.combinations(read_texts()[1], 2))
    assert [pair for pair in pairs if judged(*pair) != "apart"] == []


# a pass


def test_a_pass_asks_and_does_nothing_else(memory, clock):
    five, _ = memory.facts.remember("Team of 5")
    clock.advance(days=3)
    six, _ = memory.facts.remember("Team of 6")
    friday, _ = memory.facts.remember("Deploys on Fridays", pinned=True)
    same, _ = memory.facts.remember("Deploys on Friday, always")
    memory.facts.remember("Ana likes tea")
    memory.facts.remember("Eva likes tea")
    before = memory.facts.get_many(memory.facts.ids(memory.now))
    found = look(memory)
    assert (found.duplicates, found.contradictions, found.facts, found.meaning) == (1, 1, 6, False)
    assert memory.facts.get_many(memory.facts.ids(memory.now)) == before
    told = {one.kind: (one.target, one.others, one.origin) for one in memory.inbox.waiting()}
    assert told == {
        "supersede": (five, (f"F#{six}",), DUPLICATES_ORIGIN),
        "merge": (friday, (f"F#{same}",), DUPLICATES_ORIGIN),
    }
    assert memory.inbox.waiting()[0].evidence[0].quote in ("Team of 5", "Deploys on Fridays")

    assert look(memory).proposals == (), "what waits is not asked twice"
    memory.inbox.reject([memory.inbox.ids()[0]])
    assert look(memory).proposals == (), "nor what was refused"


def test_a_pass_is_taken_back_as_one(memory):
    for text in ("Team of 5", "Team of 6", "Deploys on Fridays", "Never deploys on Fridays"):
        memory.facts.remember(text)
    assert len(look(memory).proposals) == 2
    memory.history.undo()
    assert memory.inbox.count_waiting() == 0 and memory.inbox.ids(state="rejected") == []
    assert len(look(memory).proposals) == 2


def test_an_accepted_contradiction_supersedes_and_an_accepted_duplicate_merges(memory, clock):
    five, _ = memory.facts.remember("Team of 5")
    clock.advance(days=1)
    six, _ = memory.facts.remember("Team of 6")
    look(memory)
    assert memory.inbox.accept(memory.inbox.ids()[0]) == six
    assert memory.facts.get(five).status == "superseded" and memory.facts.get(six).supersedes == five


def test_what_changed_since_the_pass_is_not_merged_blindly(memory):
    one, _ = memory.facts.remember("Deploys on Fridays")
    memory.facts.remember("Deploys on Friday")
    look(memory)
    memory.facts.forget([one])
    with pytest.raises(DoubtfulProposal):
        memory.inbox.accept(memory.inbox.ids()[0])


def test_five_that_say_the_same_are_not_ten_questions(memory):
    for ending in ("", ", really", ", as agreed", ", all of us", ", every week"):
        memory.facts.remember(f"The team deploys on Fridays after lunch{ending}")
    assert len(look(memory).proposals) <= 5


def test_a_list_is_no_contradiction(memory):
    """Two facts that differ by a number may be a change; three are a list."""
    for number in (7, 8, 9):
        memory.facts.remember(f"Invoice series {number} is closed")
    assert look(memory).contradictions == 0


def test_what_a_text_is_like_is_known_without_a_model(memory):
    memory.facts.remember("El equipo somos cinco personas")
    memory.facts.remember("Deploys on Fridays")
    memory.facts.remember("Likes tea")
    (found,) = find_similar_facts(memory.database, memory.facts, "We never deploy on Fridays")
    assert (found.fact.fact, found.how) == ("Deploys on Fridays", "contradicts")
    assert find_similar_facts(memory.database, memory.facts, "somos 6 personas en el equipo")[0].how == "contradicts"
    assert find_similar_facts(memory.database, memory.facts, "the moon is far") == []
    assert find_similar_facts(memory.database, memory.facts, "…") == []


def test_old_facts_that_nobody_opens_are_proposed_as_one(memory, clock):
    texts = ("Jenkins builds take 20 minutes", "Jenkins runs on two agents", "Jenkins is updated by nobody")
    ids = [memory.facts.remember(text, domain="work")[0] for text in texts]
    memory.facts.remember("Jenkins has a mascot", domain="personal")
    clock.advance(days=100)
    fresh, _ = memory.facts.remember("Jenkins is to be replaced", domain="work")
    found = look(memory)
    assert found.clusters == 1
    (proposal,) = memory.inbox.get_many(found.proposals)
    assert proposal.text == "; ".join(texts)
    new = memory.inbox.accept(proposal.id)
    statuses = [memory.facts.get(number).status for number in (*ids, fresh, new)]
    assert statuses == [*["superseded"] * 3, *["active"] * 2]
    assert set(memory.facts.get(new).evidence) == {f"F#{number}" for number in ids}


def test_what_is_opened_is_not_put_away_and_a_model_may_say_it_better(memory, clock):
    ids = [memory.facts.remember(f"Jenkins {text}", domain="work")[0] for text in ("is slow", "has agents", "is old")]
    clock.advance(days=100)
    found = look(memory, summary=lambda texts: f"{len(texts)} things about Jenkins")
    assert memory.inbox.get_many(found.proposals)[0].text == "3 things about Jenkins"
    memory.history.undo()
    for _ in range(3):
        memory.search.log.count_opened([ids[0] * 16])
    assert look(memory).clusters == 0


def test_nothing_is_claimed_of_openings_that_nobody_counted(memory, clock):
    """Only where they were counted for as long as the facts are called old."""
    for text in ("is slow", "has agents", "is old"):
        memory.facts.remember(f"Jenkins {text}", domain="work")

    def reason():
        (proposal,) = memory.inbox.get_many(look(memory).proposals)
        memory.history.undo()
        return proposal.reason

    clock.advance(days=100)
    plain = "3 facts about one thing, not confirmed for 90 days: [F#1], [F#2], [F#3]."
    assert reason().replace("[", "").replace("]", "") == plain.replace("[", "").replace("]", "")
    memory.search.log.count_opened([1 * 16])
    clock.advance(days=80)
    assert "opened" not in reason()
    clock.advance(days=11)
    assert "not confirmed for 90 days, opened once at most since then: " in reason()


@pytest.mark.parametrize("door", ["show", "context", "recover", "sent"])
def test_every_opening_is_counted(memory, door, tmp_path, capsys):
    """By a person on the command line, and by an agent that is sent a record or goes on from a checkpoint; a memory
    that may only be read is read all the same."""
    from tui.cli import run_command

    number, _ = memory.facts.remember("Jenkins is slow", pinned=True)
    decision = memory.decisions.decide("Cache", chosen="Redis")
    memory.checkpoints.take_checkpoint("before")
    at = ["--db", memory.database.path]
    if door == "show":
        run_command([*at, "show", "F#1"])
    elif door == "context":
        run_command([*at, "context", "is Jenkins slow?"])
    elif door == "sent":
        memory.context.sent_log.log_context(memory.context("is Jenkins slow?"))
    else:
        memory.checkpoints.recover()
    opened = dict(memory.database.rows("SELECT key, count FROM accesses"))
    assert opened == ({16 + 6: 1, decision * 16 + 1: 1} if door == "recover" else {number * 16: 1})
    assert memory.database.value("SELECT count(*) FROM history WHERE reason = 'access'") == 0


def test_a_summary_by_rule_holds_nothing_but_what_was_said():
    assert join_fact_texts(["Uses Jenkins.", "uses jenkins"]) == "uses jenkins"
    assert join_fact_texts(["The CI is slow.", "The CI runs nightly"]) == "The CI is slow; The CI runs nightly"
    assert join_fact_texts(["x" * 300, "y" * 300]) == ""


# with the real model


@pytest.fixture
def embedded(memory: Memory):
    """A function that embeds what the memory holds, by the model that comes with the package."""
    from store.upkeep import background_embedding

    def embed() -> None:
        done = background_embedding.embed_waiting(memory)
        assert done is not None and done.left == 0

    return embed


def test_a_model_sees_what_words_do_not(memory, embedded):
    for one, other, _ in BY_MEANING:
        memory.facts.remember(one)
        memory.facts.remember(other)
    embedded()
    found = look(memory)
    assert found.meaning
    told = {tuple(sorted(quote.quote for quote in one.evidence)): one.kind for one in memory.inbox.waiting()}
    kinds = {"same": "merge", "contradicts": "supersede"}
    right = [pair for pair in BY_MEANING if told.get(tuple(sorted(pair[:2]))) == kinds.get(pair[2])]
    assert len(right) >= 6, told
    wrong = [pair for pair in BY_MEANING if pair[2] == "apart" and tuple(sorted(pair[:2])) in told]
    assert wrong == []


def test_a_day_that_both_name_does_not_make_them_one(memory):
    """In one language two that say the same share a word beside it, or leave no doubt. In the demo these have .82 and
    .75."""
    for text in (
        "The famous cent was found on a Thursday",
        "The retro is on the last Thursday of the month",
        "Greta trabaja de martes a jueves",
        "Se despliega los martes y los jueves, antes de comer",
        "Deploy on Tuesdays and Thursdays, before lunch",
    ):
        memory.facts.remember(text)
    one, two, three, four, five = memory.facts.get_many([1, 2, 3, 4, 5])
    assert not _may_be_one_thing(one, two, 0.82) and not _may_be_one_thing(three, four, 0.75)
    assert _may_be_one_thing(four, five, 0.76), "two languages share no words"
    assert _may_be_one_thing(one, two, 0.92)


def test_a_model_does_not_unsay_the_cues(memory, embedded):
    """It gives most of these pairs more than .75: a no, a number, another name count all the same."""
    for one, other, says in DEVELOPED:
        if says != "same":
            memory.facts.remember(one)
            memory.facts.remember(other)
    embedded()
    look(memory)
    merges = [one for one in memory.inbox.waiting() if one.kind == "merge"]
    merged = {tuple(sorted(quote.quote for quote in one.evidence)) for one in merges}
    assert [pair for pair in DEVELOPED if pair[2] != "same" and tuple(sorted(pair[:2])) in merged] == []


# injections


@each("text", CASES["orders"])
def test_what_looks_like_an_order_is_flagged(text):
    assert is_suspicious(text)


def test_what_people_remember_is_not_flagged():
    from store.embedding.model_registry import read_texts

    pairs, unrelated = read_texts()
    texts = [*unrelated, *(half for pair in pairs for half in pair)]
    texts += ["The system prompts for a password at start", "Never push to main", "Use 👩‍💻 in the docs"]
    assert [text for text in texts if is_suspicious(text)] == []


# decisions


@pytest.fixture
def decided(memory: Memory, clock) -> Memory:
    """A memory with some decisions."""
    decide = memory.decisions.decide
    context = "Deployment may not depend on an external service."
    decide("Use SQLite, not PostgreSQL", "SQLite, WAL", context=context, alternatives=["DuckDB"])
    decide("Kubernetes for deployment", "Kubernetes", alternatives=["Docker Compose", "Nomad"])
    decide("Cache in memory", "a dict with a limit", alternatives=["Redis 8", "memcached"])
    decide("Primary LLM", "Kimi K2.5")
    decide("Deploy on Fridays", "Fridays after lunch", alternatives=["Whenever it is green"])
    decide("Un proceso por cliente", "Un proceso", alternatives=["Un hilo por cliente"])
    clock.advance(days=1)
    return memory


@pytest.mark.parametrize(("text", "decision", "how"), CASES["decisions"])
def test_what_speaks_against_a_decision_or_says_it_again(decided: Memory, text: str, decision: int, how: str):
    assert [(one.decision.id, one.how) for one in find_decision_matches(decided.database, text)] == [(decision, how)]


@pytest.mark.parametrize("text", CASES["only_named"])
def test_what_only_names_an_option_is_left_alone(decided: Memory, text: str):
    assert find_decision_matches(decided.database, text) == []


def test_a_decision_that_does_not_hold_any_more_is_met_by_nothing(decided: Memory):
    decided.decisions.forget([2])
    assert find_decision_matches(decided.database, "Deploy with Docker Compose") == []


def test_a_pass_asks_about_facts_that_a_later_decision_overruled(decided: Memory, clock):
    """Not about pinned ones, nor about what the person said since; and once."""
    decided.facts.remember("We use PostgreSQL for billing")
    clock.advance(days=1)
    decided.decisions.decide("Billing moves to SQLite", "SQLite", alternatives=["PostgreSQL"])
    decided.facts.remember("The cache is memcached")
    found = look(decided)
    assert (found.against_decisions, found.duplicates, found.contradictions) == (1, 0, 0)
    (asked,) = decided.inbox.waiting()
    assert (asked.kind, asked.target, asked.evidence[1].citation) == ("forget", 1, "D#7")
    assert "decided later" in asked.reason and decided.facts.get(1).status == "active"
    decided.inbox.reject([asked.id])
    assert look(decided).proposals == ()
    decided.facts.confirm([1])
    assert look(decided).against_decisions == 0
    clock.advance(days=1)
    decided.decisions.decide("No server of our own", "SQLite", alternatives=["PostgreSQL for billing"])
    decided.facts.pin([1])
    assert look(decided).against_decisions == 0


@pytest.mark.parametrize(
    ("text", "against"),
    [
        ("A PDF takes 0.18 s now, 2.3 s with LaTeX", False),  # the decision's own figures
        ("A PDF is made with LaTeX", True),
        ("A PDF is made with LaTeX in 4 s", True),
    ],
)
def test_who_gives_the_figures_of_a_decision_does_not_contradict_it(memory: Memory, text: str, against: bool) -> None:
    memory.facts.remember(text)
    why = "Anybody can change the template, and it takes 0.18 s.", "LaTeX takes 1.1 GB and 2.3 s an invoice."
    memory.decisions.decide("PDF from HTML, not LaTeX", "An HTML renderer", rationale=why[0], context=why[1])
    assert bool([*find_overruled_facts(memory.database, memory.facts)]) is against
