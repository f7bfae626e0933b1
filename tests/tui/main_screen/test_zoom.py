"""The preview alone, the list alone, and from heading to heading."""

import pytest
from support.screen import NARROW, WIDE, Person, opened
from support.stories import Story


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_the_preview_alone_goes_to_the_next_record(size: tuple[int, int], person: Person) -> None:
    await person.press("j")
    first = person.record
    await person.press("z")
    pane = person.main.pane.region
    assert (pane.x, pane.width) == (0, size[0]) and pane.height >= size[1] - 5
    assert not person.record_list.region
    await person.command("search.next")
    assert person.record is not None and first is not None and person.record.citation != first.citation
    await person.command("search.previous")
    assert person.record.citation == first.citation
    await person.press("escape")
    assert person.record_list.region and person.at == person.record_list.id
    assert person.record.citation == first.citation, "the selection is kept"


async def test_one_of_the_two_has_the_screen_until_another_pane(person: Person) -> None:
    """And tab goes from heading to heading."""
    # the list alone has the screen
    await person.command("list.alone")
    assert person.record_list.region.width == 120
    await person.command("list.alone")
    assert person.record_list.region.width < 90
    await person.start_again()
    # another pane shows both again
    await person.press("z", "3")
    assert person.place == "timeline" and person.record_list.region and person.at == person.record_list.id
    await person.start_again()
    # tab goes from heading to heading
    states = []
    for _ in range(3):
        await person.press("tab")
        states.append(person.preview[0].split()[-1])
    assert states == ["low", "aging", "pinned"]
    await person.press("j", "shift+tab")
    assert person.preview[0].endswith("pinned"), "to the start of its own group first"
    await person.press("shift+tab")
    assert person.preview[0].endswith("aging")


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_the_rule_between_list_and_preview_moves_and_stays(story: Story, size: tuple[int, int]) -> None:
    def share(person: Person) -> int:
        region = person.record_list.region
        return region.height if size == NARROW else region.width

    async with opened(story.folder, size=size) as person:
        before = share(person)
        await person.follow((":list.more",), (":list.more",))
        more = share(person)
        assert more > before
        await person.follow(*[(":list.less",)] * 20)
        assert 0 < share(person) < before
        await person.follow(*[(":list.more",)] * 20)
        most = share(person)
        assert more < most
    async with opened(story.folder, size=size) as person:
        assert share(person) == most, "it is kept"


async def test_a_record_is_wrapped_where_it_is_read_well_and_output_is_not(story: Story) -> None:
    async with opened(story.folder, size=(300, 80)) as person:
        await person.command("remember " + "a word and another " * 20)
        assert 60 < max(len(line) for line in person.preview[1:4]) <= 84
        await person.command("stats")
        await person.command("facts --all --status superseded")
        assert person.preview
