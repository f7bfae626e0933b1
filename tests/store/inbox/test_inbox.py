"""The inbox: what others would have remembered waits for a person's word, rests on evidence, and can be taken back."""

import json

import pytest

from store.base.errors import Conflict, InvalidInput, NotFound, Purged
from store.conversations.turns import NewTurn
from store.inbox.inbox import DoubtfulProposal, InboxChoice, contains_quote
from store.inbox.proposals import ProposalQuestion
from store.memory import Memory
from store.purge.proof import search_files
from store.purge.registry import list_store_files as files_of
from store.records.facts import text_hash

AGENT = "mcp:claude-code"


@pytest.fixture
def said(memory: Memory) -> int:
    """A turn in which the person said something."""
    return memory.turns.add_turns("one", [NewTurn("user", "Ojo: soy alérgico al maní, ya lo sabés.")])[0]


def allergy(memory: Memory, turn: int, **more: object) -> int:
    change = {"fact": "Allergic to peanuts", "domain": "personal", "confidence": "high", "tags": ["health"], **more}
    evidence = [{"citation": f"T#{turn}", "quote": "soy alérgico al maní"}]
    return memory.inbox.propose("add", change, evidence=evidence, origin=AGENT, reason="the person said so")


def active(memory: Memory) -> list[str]:
    return [fact.fact for fact in memory.facts.get_many(memory.facts.ids(memory.now))]


# asking


def test_what_an_agent_proposes_is_no_fact(memory, said):
    number = allergy(memory, said)
    assert active(memory) == []
    assert [one.citation for one in memory.inbox.waiting()] == ["P#1"] and memory.inbox.count_waiting() == 1
    assert memory.search("peanuts").hits == [], "nobody finds what nobody accepted"
    waiting = memory.inbox.get(number)
    assert (waiting.text, waiting.origin, waiting.state) == ("Allergic to peanuts", AGENT, "waiting")
    assert waiting.evidence[0].quote == "soy alérgico al maní"
    assert memory.history.steps(limit=1)[0].actor == AGENT


def test_the_same_question_is_asked_once(memory, said):
    """However it is written, while it waits and after a no; another source may ask it."""
    number = allergy(memory, said)
    assert allergy(memory, said, fact="  allergic to PEANUTS. ") == number
    memory.inbox.reject([number])
    steps = memory.history.steps()
    assert allergy(memory, said) == number and memory.inbox.count_waiting() == 0
    assert memory.history.steps() == steps, "and leaves no step"
    assert memory.inbox.propose("add", {"fact": "Allergic to peanuts"}, origin="import:chat") != number


def test_what_is_known_is_asked_to_be_confirmed_and_again_when_it_was(memory, clock):
    fact, _ = memory.facts.remember("Team of 5")
    number = memory.inbox.propose("add", {"fact": "team of 5."}, origin=AGENT)
    waiting = memory.inbox.get(number)
    assert (waiting.kind, waiting.target) == ("confirm", fact)
    clock.advance(days=70)
    assert memory.inbox.accept(number) == fact
    assert memory.facts.get(fact).last_confirmed_at[:10] == clock.now[:10]
    assert memory.inbox.propose("add", {"fact": "Team of 5"}, origin=AGENT) != number


def test_what_cannot_be_meant_is_refused(memory):
    fact, _ = memory.facts.remember("Team of 5")
    gone, _ = memory.facts.remember("Uses Jenkins")
    memory.facts.forget([gone])
    for kind, change, target in (
        ("guess", {"fact": "x"}, None),
        ("add", {}, None),
        ("add", {"fact": "x", "mood": "good"}, None),
        ("add", {"fact": "x", "confidence": "sure"}, None),
        ("correct", {"fact": "x"}, None),
        ("merge", {"fact": "x"}, fact),
        ("merge", {"others": [fact]}, fact),
    ):
        with pytest.raises(InvalidInput):
            memory.inbox.propose(kind, change, target=target, origin=AGENT)
    with pytest.raises(NotFound):
        memory.inbox.propose("correct", {"fact": "x"}, target=99, origin=AGENT)
    with pytest.raises(Conflict):
        memory.inbox.propose("confirm", {}, target=gone, origin=AGENT)
    with pytest.raises(InvalidInput):
        memory.inbox.propose("add", {"fact": "x"}, evidence=[{"citation": "nowhere", "quote": ""}], origin=AGENT)
    assert memory.inbox.waiting() == []


def test_a_writer_that_asks_twice_is_answered_once(memory):
    first = memory.inbox.propose("add", {"fact": "one"}, origin=AGENT, key="turn 7")
    memory.inbox.accept(first)
    assert memory.inbox.propose("add", {"fact": "one"}, origin=AGENT, key="turn 7") == first


# deciding


def test_an_accepted_fact_keeps_its_origin_and_its_evidence(memory, said):
    number = allergy(memory, said)
    fact = memory.facts.get(memory.inbox.accept(number))
    told = (fact.fact, fact.domain, fact.confidence, fact.tags)
    assert told == ("Allergic to peanuts", "personal", "high", ("health",))
    assert (fact.origin, fact.source, fact.evidence) == (AGENT, "inferred", (f"T#{said}",))
    assert (memory.inbox.get(number).state, memory.inbox.get(number).made) == ("accepted", fact.id)
    step = memory.history.steps(limit=1)[0]
    assert (step.actor, step.reason, step.changes) == ("user", "accept P#1 F#1", 2)
    with pytest.raises(Conflict):
        memory.inbox.accept(number)


def test_one_undo_lets_it_wait_again(memory, said):
    number = allergy(memory, said)
    memory.inbox.accept(number)
    memory.history.undo()
    assert active(memory) == [] and memory.inbox.get(number).state == "waiting"
    memory.history.redo()
    assert active(memory) == ["Allergic to peanuts"]
    memory.history.undo()
    memory.inbox.reject([number])
    memory.history.undo()
    assert memory.inbox.count_waiting() == 1


def test_in_a_persons_own_words_it_is_theirs(memory, said):
    fact = memory.facts.get(memory.inbox.accept(allergy(memory, said), "Allergic to peanuts and almonds"))
    assert (fact.fact, fact.confidence, fact.source) == ("Allergic to peanuts and almonds", "high", "explicit")
    assert fact.origin == AGENT


def test_what_would_correct_supersedes(memory):
    old, _ = memory.facts.remember("Team of 5", domain="work", tags=["people"], pinned=True)
    number = memory.inbox.propose("correct", {"fact": "Team of 6"}, target=old, origin=AGENT)
    fact = memory.facts.get(memory.inbox.accept(number))
    assert (fact.supersedes, fact.domain, fact.tags, fact.pinned) == (old, "work", ("people",), True)
    assert memory.facts.get(old).status == "superseded"
    memory.history.undo()
    assert active(memory) == ["Team of 5"]


def test_a_person_may_choose_what_it_supersedes_or_is_merged_with(memory, said):
    fact, _ = memory.facts.remember("Peanuts make them ill", evidence=["T#9"], tags=["food"])
    number = allergy(memory, said)
    assert memory.inbox.merge(number, fact) == fact
    merged = memory.facts.get(fact)
    assert (merged.evidence, merged.tags) == (("T#9", f"T#{said}"), ("food", "health"))
    memory.history.undo()
    new = memory.inbox.decide([InboxChoice(number, "supersede", None, fact)], whole=True).made[number]
    assert memory.facts.get(fact).status == "superseded" and memory.facts.get(new).supersedes == fact
    memory.history.undo()
    new = memory.inbox.merge(number, fact, "Peanuts: allergic, carries an EpiPen")
    assert active(memory) == ["Peanuts: allergic, carries an EpiPen"] and memory.facts.get(new).supersedes == fact


def test_to_forget_is_asked_too(memory):
    fact, _ = memory.facts.remember("Uses Jenkins")
    number = memory.inbox.propose("forget", {}, target=fact, origin=AGENT)
    assert memory.inbox.get(number).text == "Uses Jenkins"
    assert memory.inbox.accept(number) is None and active(memory) == []
    memory.history.undo()
    assert active(memory) == ["Uses Jenkins"]


def test_of_facts_that_are_merged_one_stays_and_knows_the_others(memory):
    one, _ = memory.facts.remember("Deploys on Fridays", tags=["ops"], evidence=["C#a1b2c3d"])
    two, _ = memory.facts.remember("Deploys happen on Friday", tags=["release"], pinned=True)
    number = memory.inbox.propose("merge", {"fact": "Deploys on Fridays", "others": [two]}, target=one, origin=AGENT)
    assert memory.inbox.accept(number) == one
    fact = memory.facts.get(one)
    assert active(memory) == ["Deploys on Fridays"] and fact.pinned
    assert (fact.evidence, fact.tags) == (("C#a1b2c3d", f"F#{two}"), ("ops", "release"))
    memory.history.undo()
    assert len(active(memory)) == 2
    new = memory.inbox.accept(number, "Deploys on Fridays, after lunch")
    assert active(memory) == ["Deploys on Fridays, after lunch"] and memory.facts.get(new).supersedes == one


def test_many_are_decided_in_one_step_and_what_cannot_be_waits(memory, said):
    first = allergy(memory, said)
    fact, _ = memory.facts.remember("Team of 5")
    second = memory.inbox.propose("correct", {"fact": "Team of 6"}, target=fact, origin=AGENT)
    third = memory.inbox.propose("add", {"fact": "Likes tea"}, origin="import:chat")
    memory.facts.correct(fact, "Team of 7")
    choices = [(first, "accept"), (second, "accept"), (third, "reject")]
    done = memory.inbox.decide([InboxChoice(*choice) for choice in choices])
    assert list(done.made) == [first] and done.rejected == (third,) and list(done.left) == [second]
    assert isinstance(done.left[second], DoubtfulProposal)
    assert memory.inbox.origins() == [(AGENT, 1)]
    memory.history.undo()
    assert memory.inbox.ids() == [third, second, first] and memory.inbox.ids(origin="import:chat") == [third]


# evidence


def test_evidence_is_looked_at_again(memory, said, tmp_path):
    """A turn that was purged, a file whose line is another now: it waits, says so, and shows both."""
    notes = tmp_path / "MEMORY.md"
    notes.write_text("# Notes\n\nThe staging server is called tirana.\n")
    memory.documents.update_index()
    quote = {"citation": "MEMORY.md#L3", "quote": "staging server is called tirana"}
    number = memory.inbox.propose("add", {"fact": "Staging is tirana"}, evidence=[quote], origin="file")
    assert memory.inbox.doubts(memory.inbox.get(number)) == []
    notes.write_text("# Notes\n\nSome line before.\nThe staging server is called  Tirana.\n")
    assert memory.inbox.doubts(memory.inbox.get(number)) == [], "it may have moved"
    notes.write_text("# Notes\n\nThe staging server is called lima.\n")
    with pytest.raises(DoubtfulProposal) as told:
        memory.inbox.accept(number)
    assert told.value.doubts[0].then == quote["quote"] and "lima" in told.value.doubts[0].now
    assert "tirana" not in str(told.value), "errors hold no record's text"
    assert active(memory) == [] and memory.inbox.count_waiting() == 1
    assert memory.inbox.accept(number, anyway=True)

    number = allergy(memory, said)
    memory.purge.run_plan(memory.purge.plan([("turn", said)]))
    with pytest.raises(DoubtfulProposal, match="is not there any more"):
        memory.inbox.accept(number)


def test_evidence_that_no_longer_holds_is_told(memory):
    """A fact that was forgotten, a decision that another took the place of, say what they said, and mean it no more."""
    fact, _ = memory.facts.remember("The database is Postgres")
    chosen = memory.decisions.decide("Cache", "Redis")
    for citation, quote in ((f"F#{fact}", "database is Postgres"), (f"D#{chosen}", "Redis")):
        evidence = [{"citation": citation, "quote": quote}]
        number = memory.inbox.propose("add", {"fact": f"As {citation} says"}, evidence=evidence, origin=AGENT)
        assert memory.inbox.doubts(memory.inbox.get(number)) == []
    memory.facts.forget([fact])
    memory.decisions.decide("Cache", "a file", supersedes=chosen)
    for number, says in ((1, "F#1 is forgotten since"), (2, "D#1 is superseded since")):
        with pytest.raises(DoubtfulProposal, match=says):
            memory.inbox.accept(number)


def test_a_target_that_changed_is_told_with_what_took_its_place(memory):
    old, _ = memory.facts.remember("Team of 5")
    number = memory.inbox.propose("correct", {"fact": "Team of 6"}, target=old, origin=AGENT)
    memory.facts.confirm([old])
    assert memory.inbox.doubts(memory.inbox.get(number)) == [], "confirmed, it says the same"
    new = memory.facts.correct(old, "Team of 7")
    with pytest.raises(DoubtfulProposal) as told:
        memory.inbox.accept(number)
    assert (told.value.doubts[0].then, told.value.doubts[0].now) == ("Team of 5", "Team of 7")
    fact = memory.facts.get(memory.inbox.accept(number, anyway=True))
    assert fact.supersedes == new, "what holds today steps aside, and not what did then"


@pytest.mark.parametrize("status", ["forgotten", "superseded"])
@pytest.mark.parametrize("how", ["forget", "confirm", "merge", "merged by the person", "superseded by the person"])
def test_a_fact_that_no_longer_holds_is_not_decided_on(memory, how, status):
    """Neither forgotten, confirmed, merged nor replaced, even where the person accepts it anyway."""
    old, _ = memory.facts.remember("Team of 5")
    other, _ = memory.facts.remember("The team is 5 people")
    changes = {"forget": {}, "confirm": {}, "merge": {"fact": "Team of 5", "others": [other]}}
    kind, target = (how, old) if how in changes else ("add", None)
    number = memory.inbox.propose(kind, changes.get(how, {"fact": "A team of five"}), target=target, origin=AGENT)
    if status == "forgotten":
        memory.facts.forget([old])
    else:
        memory.facts.correct(old, "Team of 7")
    with pytest.raises(Conflict, match=rf"F#{old} is {status}\."):
        if how == "superseded by the person":
            memory.inbox.decide([InboxChoice(number, "supersede", None, old)], whole=True)
        elif target is None:
            memory.inbox.merge(number, old)
        else:
            memory.inbox.accept(number, anyway=True)
    assert memory.facts.get(old).status == status and memory.inbox.ids() == [number]


def test_a_target_that_was_purged_is_told(memory):
    old, _ = memory.facts.remember("Team of 5")
    number = memory.inbox.propose("correct", {"fact": "Team of 6"}, target=old, origin=AGENT)
    memory.purge.run_plan(memory.purge.plan([("fact", old)]))
    with pytest.raises(DoubtfulProposal, match="F#1, which it is about, is not there any more"):
        memory.inbox.accept(number)
    assert memory.facts.get(memory.inbox.accept(number, anyway=True)).fact == "Team of 6"


def test_with_a_fact_its_proposal_is_purged_and_does_not_come_back(memory, said, tmp_path):
    fact = memory.inbox.accept(allergy(memory, said))
    memory.purge.run_plan(memory.purge.plan([("fact", fact)]))
    assert memory.inbox.get(1).text == "[purged]"
    with pytest.raises(Purged):
        allergy(memory, said)


def test_a_proposal_is_purged_like_a_fact_and_its_text_cannot_be_proposed_again(memory, said):
    number = allergy(memory, said)
    other = memory.inbox.propose("add", {"fact": "Likes tea"}, origin=AGENT, reason="the person said so")
    memory.purge.run_plan(memory.purge.plan([("proposal", number)]))
    assert memory.inbox.ids() == [other] and memory.inbox.get(other).reason == "the person said so"
    with pytest.raises(Purged):
        allergy(memory, said)


def test_in_the_past_it_still_waited(memory, said):
    from store.upkeep.as_of import PastMemory, point_in_time, read_past

    allergy(memory, said)
    then = memory.now
    memory.inbox.accept(1)
    past = PastMemory(memory.location, "cli", read_past(memory, point_in_time(memory, then)))
    assert past.inbox.count_waiting() == 1 and past.inbox.get(1).state == "waiting"
    past.close()


# what was asked before


def test_what_no_longer_holds_may_be_asked_again(memory):
    """A team of 5, of 6, of 7, and of 6 again: an old yes is no answer to that."""
    fact, _ = memory.facts.remember("Team of 5")
    for text in ("Team of 6", "Team of 7", "Team of 6"):
        number = memory.inbox.propose("supersede", {"fact": text}, target=fact, origin=AGENT)
        assert memory.inbox.propose("supersede", {"fact": text}, target=fact, origin=AGENT) == number
        assert memory.inbox.ids() == [number]
        fact = memory.inbox.accept(number)
    assert active(memory) == ["Team of 6"]
    tea = memory.inbox.propose("add", {"fact": "Likes tea"}, origin=AGENT)
    fact = memory.facts.correct(memory.inbox.accept(tea), "Likes coffee")
    assert memory.inbox.propose("add", {"fact": "Likes tea"}, origin=AGENT) != tea


def test_one_text_for_two_facts_is_two_questions(memory):
    one, _ = memory.facts.remember("Deploys are on Friday")
    two, _ = memory.facts.remember("Ana signs off")
    change = {"fact": "Nobody knows"}
    asked = [memory.inbox.propose("correct", change, target=fact, origin=AGENT) for fact in (one, two)]
    asked += [memory.inbox.propose("add", change, origin=AGENT)]
    asked += [memory.inbox.propose("supersede", change, target=one, origin=AGENT)]
    assert len({*asked}) == 4


def test_a_no_stands_until_the_person_says_the_thing_itself(memory, clock):
    number = memory.inbox.propose("add", {"fact": "Likes tea"}, origin=AGENT)
    before = memory.now
    clock.advance(days=1)
    memory.inbox.reject([number])
    clock.advance(days=1)

    def again(said: str) -> bool:
        question = ProposalQuestion("add", {"fact": "Likes tea"}, origin="talk:one", said=said, anyone=True)
        return memory.inbox.propose_all([question], "talk:one") != [number]

    assert not again("") and not again(before) and again(memory.now)


def test_what_a_person_forgot_is_not_asked_back(memory):
    number = memory.inbox.propose("add", {"fact": "Likes tea"}, origin=AGENT)
    memory.facts.forget([memory.inbox.accept(number)])
    assert memory.inbox.propose("add", {"fact": "Likes tea"}, origin=AGENT) == number
    assert memory.inbox.count_waiting() == 0


def test_a_question_is_about_what_it_says_it_is_about(memory):
    fact, _ = memory.facts.remember("Peanuts make them ill")
    with pytest.raises(InvalidInput):
        memory.inbox.propose("add", {"fact": "The sea is green"}, target=fact, origin=AGENT)
    for kind in ("confirm", "forget"):
        change, why = {"fact": "It was almonds"}, "They said:"
        waiting = memory.inbox.get(memory.inbox.propose(kind, change, target=fact, origin=AGENT, reason=why))
        assert (waiting.text, waiting.reason) == ("Peanuts make them ill", "They said: “It was almonds”")


# what a yes does


def test_a_question_to_merge_is_answered_by_merging(memory):
    one, _ = memory.facts.remember("Deploys on Fridays")
    two, _ = memory.facts.remember("Deploys happen on Friday")
    other, _ = memory.facts.remember("Ana signs off")
    number = memory.inbox.propose("merge", {"fact": "Deploys on Fridays", "others": [two]}, target=one, origin=AGENT)
    with pytest.raises(InvalidInput, match="proposes to merge F#1, F#2"):
        memory.inbox.merge(number, other)
    assert memory.inbox.merge(number, two) == one
    assert sorted(active(memory)) == ["Ana signs off", "Deploys on Fridays"]


def test_a_question_to_forget_is_answered_by_yes_or_no_alone(memory):
    fact, _ = memory.facts.remember("Uses Jenkins")
    number = memory.inbox.propose("forget", {}, target=fact, origin=AGENT)
    for wrong in (
        lambda: memory.inbox.accept(number, "Uses GitHub"),
        lambda: memory.inbox.merge(number, fact),
        lambda: memory.inbox.decide([InboxChoice(number, "supersede", None, fact)], whole=True),
    ):
        with pytest.raises(InvalidInput, match="asks to forget"):
            wrong()
    assert active(memory) == ["Uses Jenkins"] and memory.inbox.count_waiting() == 1


def test_a_fact_that_says_so_already_takes_over_what_the_other_had(memory):
    old, _ = memory.facts.remember("Team of 5", pinned=True, evidence=["T#9"], tags=["people"])
    memory.mutes.mute([old])
    known, _ = memory.facts.remember("Team of 6", confidence="low", scope="session")
    number = memory.inbox.propose("supersede", {"fact": "team of 6"}, target=old, origin=AGENT)
    assert memory.inbox.accept(number) == known
    fact = memory.facts.get(known)
    assert (fact.supersedes, fact.pinned, fact.confidence, fact.scope) == (old, True, "high", "project")
    assert (fact.evidence, fact.tags) == (("T#9",), ("people",)) and memory.mutes.filter_muted_facts([known])
    memory.history.undo()
    assert not memory.facts.get(known).pinned and memory.mutes.filter_muted_facts([known, old]) == {old}


def test_a_fact_of_one_session_does_not_swallow_the_projects(memory):
    one, _ = memory.facts.remember("We meet in the big room", scope="session", confidence="low")
    two, _ = memory.facts.remember("We meet in the big room on Mondays")
    made = memory.facts.get(memory.inbox.join_facts(one, [two], "We meet in the big room each Monday"))
    assert (made.scope, made.confidence) == ("project", "high")


def test_a_mute_is_handed_on(memory):
    """Whatever takes the place of a muted fact; an undo it if it is wrong."""
    first, _ = memory.facts.remember("Likes peanuts")
    memory.mutes.mute([first])
    second = memory.facts.correct(first, "Likes peanuts a lot")
    asked = memory.inbox.propose("correct", {"fact": "Likes big peanuts"}, target=second, origin=AGENT)
    third = memory.inbox.accept(asked)
    other, _ = memory.facts.remember("Likes large peanuts")
    fourth = memory.inbox.join_facts(other, [third], "Likes big peanuts, a lot")
    assert memory.mutes.filter_muted_facts([first, second, third, other, fourth]) == {first, second, third, fourth}
    memory.history.undo()
    assert not memory.mutes.filter_muted_facts([fourth])


# purged


def test_no_digest_of_a_purged_text_is_left(memory):
    """Neither of its own text nor of what it was about, in the table and in its history; nor a plain one anywhere."""
    old, _ = memory.facts.remember("The launch code is kept by Ana")
    about = memory.inbox.propose("supersede", {"fact": "Nobody keeps it"}, target=old, origin=AGENT)
    memory.inbox.reject([about])
    words = memory.inbox.propose("add", {"fact": "Bea says: the launch code is kept by Ana"}, origin=AGENT)
    apart = memory.inbox.propose("add", {"fact": "Likes tea"}, origin=AGENT)
    plan = memory.purge.plan([("fact", old)])
    memory.purge.run_plan(plan)
    digests = "SELECT asked, based_on FROM proposals WHERE id = ?"
    assert memory.database.row(digests, (about,)) == memory.database.row(digests, (words,)) == ("", "")
    assert memory.database.row(digests, (apart,)) != ("", "")
    sql = "SELECT before, after FROM history_row WHERE tbl = 'proposals' AND pk IN ('[1]', '[2]')"
    states = [state for row in memory.database.rows(sql) for state in row if state]
    held = [json.loads(state).get("asked", "") for state in states]
    assert held and set(held) == {""}
    assert [one for one in search_files(plan.texts, files_of(memory.database.path)) if one.found] == []
    assert memory.history.undo() and memory.inbox.get(about).state in ("waiting", "rejected")


def test_a_digest_is_no_plain_one_and_the_proof_finds_a_plain_one(memory, tmp_path):
    memory.inbox.propose("add", {"fact": "The launch code is kept by Ana"}, origin=AGENT)
    plain = text_hash("The launch code is kept by Ana")
    assert memory.database.value("SELECT asked FROM proposals") != plain
    (tmp_path / "left").write_text(f"x{plain}y")
    assert search_files(["The launch code is kept by Ana"], [str(tmp_path / "left")])[0].found == ("digest",)


def test_a_proposal_of_which_nothing_is_left_waits_no_more(memory):
    emptied = memory.inbox.propose("add", {"fact": "The launch code is kept by Ana."}, origin=AGENT)
    partly = memory.inbox.propose("add", {"fact": "Bea says: the launch code is kept by Ana"}, origin=AGENT)
    fact, _ = memory.facts.remember("The launch code  is kept by Ana")
    memory.purge.run_plan(memory.purge.plan([("fact", fact)]))
    assert memory.inbox.ids() == [partly] and memory.inbox.get(emptied).state == "rejected"
    for how in (memory.inbox.accept, lambda one: memory.inbox.accept(one, anyway=True)):
        with pytest.raises(Conflict, match="were purged"):
            how(partly)
    assert active(memory) == []
    memory.inbox.accept(partly, "Bea says that Ana keeps something")
    assert active(memory) == ["Bea says that Ana keeps something"]


@pytest.mark.parametrize(
    "quote, text, holds",
    [
        ("port 80", "We deploy on port 80.", True),
        ("port 80", "We deploy on port 8080 now.", False),
        ("team of 5", "a team of 50", False),
        ("We  Deploy on\nport 80!", "first: we deploy on port 80", True),
        ("«sí», dijo", "y «sí», dijo ella", True),
        ("art of it", "part of it", False),
    ],
)
def test_a_quote_stands_only_whole(quote: str, text: str, holds: bool) -> None:
    assert contains_quote(quote, text) is holds
