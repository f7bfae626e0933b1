"""Where a person is after what they did: at the next row, the list they asked for, the record before, a line's end."""

from support.screen import Person

from store.base.vocabulary import pack_key


async def test_what_was_done_leads_to_what_is_next(person: Person) -> None:
    def is_at(fact: int) -> bool:
        return person.record_list.cursor_key == pack_key("fact", fact)

    await person.follow(
        ("y", "Confirmed F#2", lambda: is_at(6)),
        ("space", lambda: is_at(7)),
        ("y", "Confirmed F#6", lambda: is_at(7)),  # which was marked: the cursor was not on it
        (":list tasks --all", "1 done shown", "write the migration"),
        (":list tasks", "1 done hidden", "!write the migration"),
        ("3", "Decisions"),
    )
    await person.put_cursor(pack_key("decision", 1))
    await person.follow(
        ("enter right enter", lambda: person.record.citation.startswith("C#")),
        ("backspace", lambda: person.record.citation == "D#1"),
        (":search llama", lambda: person.app.focused.cursor_position == len("llama")),
    )
