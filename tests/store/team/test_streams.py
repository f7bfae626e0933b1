"""What a stream holds of what a person no longer shares, and of what is merged again after it was rewritten."""

import pytest
from support.team import TUESDAYS, Join

from store.team.collect import ShareChoice


@pytest.mark.parametrize("choice", [ShareChoice(), ShareChoice(("work",)), ShareChoice((), True)])
def test_new_words_of_what_is_shared_no_more_stay_here(join: Join, choice: ShareChoice) -> None:
    """The words that were shared stay where they are; what a person corrects later is theirs alone."""
    ana = join("Ana")
    fact, queue = ana.remember(TUESDAYS), ana.memory.decisions.decide("Queue", "NATS")
    ana.sync()
    ana.choose(choice)
    ana.memory.facts.correct(fact, "Releases are cut on Thursdays")
    ana.memory.decisions.decide("Queue", "RabbitMQ", supersedes=queue)
    ana.sync()
    assert ("Thursdays" in ana.view(), "RabbitMQ" in ana.view()) == (bool(choice.domains), choice.decisions)


def test_after_a_stream_was_rewritten_all_of_every_stream_is_known(join: Join) -> None:
    ana = join("Ana")
    ana.remember(TUESDAYS)
    gone = ana.remember("The staging host is called mejillon")
    ana.sync()
    ana.purge(gone)
    ana.erase_purged()
    ana.sync()
    assert "mejillon" not in ana.view() and TUESDAYS in ana.view()
