"""Whatever three people do, in whatever order they exchange: afterwards all see the same, and nothing was lost."""

from __future__ import annotations

import contextlib
import random
import subprocess
from pathlib import Path

import pytest
from support.children import begun
from support.team import Join, Person

from store.base.errors import MemorandaError
from store.inbox.inbox import InboxChoice
from store.purge.proof import list_text_files, search_files
from store.team.exchange import Team
from store.team.stream import identity_writer

ROUNDS = 10
STEPS = 40


def act(person: Person, dice: random.Random, number: int, said: set[str], purged: list[str]) -> None:
    """Do one thing that a person does; note what was said, and what was purged."""
    memory = person.memory
    active = memory.facts.ids(memory.now)
    kind = dice.choices(("remember", "correct", "confirm", "forget", "purge", "undo", "decide", "sync", "leave"),
                        (10, 8, 4, 4, 2, 2, 10, 12, 1))[0]  # fmt: skip
    text = f"Service number {number} is owned by team {dice.randrange(100)}"
    if kind == "sync":
        person.sync()
    elif kind == "leave":
        with Team(memory) as team:
            team.start_anew()
    elif kind == "decide":
        for proposal in memory.inbox.waiting():
            if dice.random() < 0.7:
                verb = dice.choice(("accept", "accept", "reject"))
                memory.inbox.decide([InboxChoice(proposal.id, verb)], anyway=True)
    elif kind == "remember" or not active:
        person.remember(text)
        said.add(text)
    elif kind == "correct":
        memory.facts.correct(dice.choice(active), text)
        said.add(text)
    elif kind == "confirm":
        memory.facts.confirm([dice.choice(active)])
    elif kind == "forget":
        memory.facts.forget([dice.choice(active)])
    elif kind == "undo":
        memory.history.undo()
    else:
        chosen = memory.facts.get(dice.choice(active))
        plan = memory.purge.plan([("fact", chosen.id)])
        with Team(memory) as team:
            own = all(team.you_label(identity_writer(place.citation)) for place in team.shared_places(plan))
        memory.purge.run_plan(plan)
        if own:  # of another's the author is asked, and who accepted a change keeps it
            purged += [one.text for one in plan.going if one.table == "facts"]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("round", range(ROUNDS))
def test_everybody_sees_the_same_in_the_end(join: Join, seed: int, round: int) -> None:
    dice = random.Random(seed)
    people = [join(name) for name in ("Ana", "Bob", "Cleo")]
    said: set[str] = set()
    purged: list[str] = []
    for number in range(STEPS):
        try:
            act(dice.choice(people), dice, number, said, purged)
        except MemorandaError:
            pass  # an undo that clashes, a correction that says what is there
    for turn in range(3):
        for person in people:
            warnings = person.sync().warnings
            if turn == 0:  # a stream that one sees first after it was rewritten, while another saw it before, is noted
                warnings = [one for one in warnings if "its stream was rewritten, as after a purge." not in one]
            assert warnings == []
    for person in people:  # what changed was compared alone: all of it compared comes to the same
        with Team(person.memory) as team:
            team.choose(team.choice)
        assert person.sync().sent == 0, person.name
    views = [person.view() for person in people]
    assert views[0] == views[1] == views[2]
    for person in people:
        files = list_text_files(person.memory.database, person.memory.documents)
        found = [one for one in search_files(purged, files) if one.found]
        assert purged == [] or found == [], person.name
    for person in people:
        with Team(person.memory) as team:
            shared = {str(one.shown_value("fact")) for one in team._file.all_records() if one.status != "purged"}
        assert shared <= said


KILLED = """
import sys
from store.memory import Memory
from store.team.exchange import Team
from store.team.stream import identity_writer as author_of
with Memory.open(sys.argv[1]) as memory, Team(memory) as team:
    print("ready", flush=True)
    team.exchange()
"""


@pytest.mark.sampled(6)
@pytest.mark.parametrize("round", range(6))
def test_an_exchange_that_is_killed_goes_on_at_the_next(join: Join, tmp_path: Path, seed: int, round: int) -> None:
    dice = random.Random(seed)
    ana, bob = join("Ana"), join("Bob")
    for number in range(30):
        ana.remember(f"Service number {number} is owned by team {number % 7}")
        bob.remember(f"Host number {number} is in room {number % 5}")
    ana.sync()
    for _ in range(4):
        child = begun(KILLED, tmp_path / "Bob" / "memory.db")
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(timeout=dice.uniform(0, 0.25))
        child.kill()
        child.communicate()
    bob.sync(), ana.sync(), bob.sync()
    assert ana.view() == bob.view() and ana.view().count("\n") == 60
    assert len(bob.waiting()) == len(ana.waiting()) == 30, "nothing is asked twice"
