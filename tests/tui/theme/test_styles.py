"""What is on the screen can be read in every theme, and told apart without any colour."""

from pathlib import Path

import pytest
from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from support.screen import Person, opened
from support.stories import Story
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from store.config.configuration import user_settings_path
from tui.actions.plans import PLAN_SIGNS
from tui.render.lines import FACT_BADGES, KIND_GLYPHS, TASK_GLYPHS
from tui.theme import styles
from tui.theme.glyphs import ascii_table
from tui.theme.line_filters import ColorlessFilter, OwnColorsFilter
from tui.theme.styles import HIGH_CONTRAST, LEAST_CONTRAST
from tui.widgets.record_list import RecordList

THEMES = {**BUILTIN_THEMES, **{theme.name: theme for theme in HIGH_CONTRAST}}
MIXED = sorted(name for name, theme in THEMES.items() if not theme.ansi)
OWN = ("ansi-dark", "ansi-light")
ROWS: tuple[tuple[str, ...], ...] = ((), ("cursor",), ("cursor-blurred",), ("flash",), ("flash", "cursor"))


def variables(theme: str) -> dict[str, str]:
    known = THEMES[theme]
    return styles.readable_colors(theme, {**known.to_color_system().generate(), **known.variables})


def mixed(colour: RichColor | None) -> Color:
    assert colour is not None and colour.triplet is not None
    return Color(*colour.triplet)


@pytest.mark.parametrize("theme", MIXED)
def test_every_look_can_be_read_on_every_ground(theme: str) -> None:
    found = variables(theme)
    ground, colour = Color.parse(found["background"]), Color.parse(found["foreground"])
    for row in ROWS:
        for name in ("", *styles.LOOKS):
            style = styles.combine_looks((*row, name), found, ground, colour)
            seen = styles.contrast(mixed(style.color), mixed(style.bgcolor))
            assert seen >= 4.5, f"{name or 'text'} on {row} in {theme}: {seen:.1f}"


@pytest.mark.parametrize("theme", MIXED)
def test_what_the_bars_say_can_be_read(theme: str) -> None:
    found = variables(theme)
    back = Color.parse(found["background"])
    for name in ("dim", "foreground", "text-accent", "text-warning", "text-error", "text-success", "text-secondary"):
        for ground in ("background", "surface", "panel"):
            seen = styles.contrast(Color.parse(found[name]), back + Color.parse(found[ground]))
            assert seen >= 4.5, f"{name} on {ground} in {theme}: {seen:.1f}"
    for name in ("footer-key-foreground", "footer-description-foreground"):
        seen = styles.contrast(Color.parse(found[name]), back + Color.parse(found["footer-background"]))
        assert seen >= 4.5, f"{name} in {theme}: {seen:.1f}"


@pytest.mark.parametrize("theme", [theme.name for theme in HIGH_CONTRAST])
def test_a_theme_of_high_contrast_is_one(theme: str) -> None:
    """Every text that is not dimmed on purpose, on every ground without a cursor."""
    found = variables(theme)
    for name in ("foreground", "text-accent", "text-warning", "text-error", "text-success", "text-primary"):
        for ground in ("background", "surface", "panel"):
            seen = styles.contrast(Color.parse(found[name]), Color.parse(found[ground]))
            assert seen >= LEAST_CONTRAST, (name, ground)


async def test_the_themes_are_light_dark_and_of_high_contrast(person: Person) -> None:
    names = person.app.available_themes
    assert {theme.dark for theme in HIGH_CONTRAST} == {True, False}
    for theme in ("textual-dark", "textual-light", *OWN, *(theme.name for theme in HIGH_CONTRAST)):
        assert theme in names
        person.app.theme = theme
        await person.settle()
        assert person.app.theme == theme and person.sees("Stale 2")


def test_a_colour_that_can_be_read_stays_what_it_was() -> None:
    black, blue = Color(0, 0, 0), Color(80, 160, 255)
    assert styles.readable_color(blue, (black,), 4.5) == blue
    assert styles.contrast(Color(255, 255, 255), black) == pytest.approx(21)


@pytest.mark.parametrize("theme", OWN)
def test_an_ansi_theme_takes_the_terminals_own_colours_for_every_look(theme: str) -> None:
    found = variables(theme)
    default = Color.parse("ansi_default")
    for row in ROWS:
        for name in styles.LOOKS:
            style = styles.combine_looks((*row, name), found, default, default)
            for colour in (style.color, style.bgcolor):
                assert colour is not None and (colour.is_default or (colour.number is not None and colour.number < 16))
            if style.reverse and "cursor" in row:
                assert style.color is not None and style.color.is_default and not style.dim
    assert styles.combine_looks(("dim",), found, default, default).dim
    assert styles.combine_looks(("cursor",), found, default, default).reverse


def test_the_filters_leave_no_colour_or_only_the_sixteen() -> None:
    back = Color(0, 0, 0)
    meta = Style.from_meta({"option": 3})
    styled = Style.parse("bold underline #778899 on #102030") + meta
    [bare] = ColorlessFilter().apply([Segment("x", styled)], back)
    assert bare.style is not None and bare.style.color is None and bare.style.bgcolor is None
    assert bare.style.bold and bare.style.underline and bare.style.meta == {"option": 3}
    [own] = OwnColorsFilter().apply([Segment("x", styled)], back)
    assert own.style is not None and own.style.color is not None and own.style.color.number in range(16)
    assert own.style.meta == {"option": 3}
    [same] = OwnColorsFilter().apply([Segment("x", Style.parse("#010101 on #020202"))], back)
    assert same.style is not None and same.style.color is not None and same.style.color.is_default


def colours(person: Person) -> set[str]:
    """The colours that the screen's cells are written in, as Rich calls them."""
    found = set()
    for strip in person.strips:
        for line_filter in person.app.get_line_filters():
            strip = strip.apply_filter(line_filter, Color(0, 0, 0))
        for segment in strip:
            if segment.style is not None:
                found |= {colour.name for colour in (segment.style.color, segment.style.bgcolor) if colour is not None}
    return found


SCREENS = (
    *(("space", "space", "f"), ("3", "enter"), ("5", "5"), ("escape", "question_mark"), ("escape", "ctrl+p")),
    *(("escape", "2", "2", "o"), ("escape", "escape", "ctrl+a", "F"), ("escape", "#"), ("escape", "slash", "c")),
    *(("escape", "colon", *view, "enter") for view in ("settings", "health", "agents")),
)


@pytest.mark.parametrize("theme", OWN)
async def test_every_screen_of_an_ansi_theme_is_in_its_own_colours(theme: str, person: Person) -> None:
    person.app.theme = theme
    await person.settle()
    for keys in SCREENS:
        await person.press(*keys)
        assert not [name for name in colours(person) if name.startswith("#")]


async def test_without_colour_every_screen_has_none(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(story.folder) as person:
        for keys in SCREENS:
            await person.press(*keys)
            assert colours(person) == set()
        assert person.app.theme == "ansi-dark"


async def test_rows_and_filters_can_be_told_without_colour(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cursor, mark and both, with the focus and without: six different letters, in plain ones too. A filter by its
    cross, and inverse."""
    assert len(set(RecordList.GUTTER[:4])) == 4
    assert len(set(RecordList.GUTTER)) == 6
    assert len({glyph.translate(ascii_table()) for glyph in RecordList.GUTTER}) == 6
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(story.folder) as person:
        await person.press("space")
        assert [row[0] for row in person.rows[:3]] == ["✓", "▸", " "]
        await person.press("k")
        assert [row[0] for row in person.rows[:2]] == ["»", " "]
        await person.press("enter")
        assert person.at == "preview" and [row[0] for row in person.rows[:2]] == ["›", " "]
        await person.press("escape", "escape", "2")
        assert "Stale 2 ×" in person.title and "Low 2 ×" not in person.title
        segments = [one for strip in person.strips for one in strip if one.style is not None and one.style.reverse]
        assert ["Stale" in one.text for one in segments].count(True) == 1


def test_badges_and_signs_differ_without_colour() -> None:
    kinds = [glyph for kind, glyph in KIND_GLYPHS.items() if kind != "global"]  # a fact, which says so in words
    for glyphs in ([glyph for glyph, _ in FACT_BADGES.values()], kinds, list(TASK_GLYPHS.values())):
        assert len({glyph.translate(ascii_table()) for glyph in glyphs}) == len(glyphs)
    assert {sign.translate(ascii_table()) for sign, _ in PLAN_SIGNS.values()} == {"+", "-", "~"}


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_pane_with_the_keys_can_be_told_without_colour(size: tuple[int, int], person: Person) -> None:
    """A list by its cursor, the preview by its edge; and the title that is bold is one."""
    edge = "━" if size[0] == 80 else "┃"
    assert any(line.startswith("▸") for line in person.lines) and not any(edge in line for line in person.lines)
    await person.press("enter")
    assert any(edge in line for line in person.lines) and any(line.startswith("▹") for line in person.lines)


async def test_a_theme_chosen_right_before_the_end_is_kept(story: Story) -> None:
    """`test_actions` chooses one in the box."""
    async with opened(story.folder) as person:
        person.app.theme = "gruvbox"
        person.app.exit()
    assert Path(user_settings_path()).read_text() == 'theme = "gruvbox"\n'


def configured(text: str, path: Path | None = None) -> None:
    target = path or Path(user_settings_path())
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    target.chmod(0o600)


async def test_a_theme_that_is_not_there_is_said_with_the_nearest(story: Story) -> None:
    configured("theme = 'gruvbocks'\n")
    async with opened(story.folder) as person:
        assert person.app.theme == "textual-dark"
        assert person.toasts == ["There is no theme “gruvbocks”. Did you mean gruvbox? :theme.choose shows them all."]
    assert Path(user_settings_path()).read_text() == "theme = 'gruvbocks'\n"  # it is theirs to mend


async def test_where_the_projects_file_wins_a_choice_says_so(story: Story) -> None:
    file = Path(story.location.path).parent / "config.toml"
    configured("theme = 'dracula'\n", file)
    async with opened(story.folder) as person:
        assert person.app.theme == "dracula"
        person.app.theme = "nord"
        await person.until(lambda: person.toasts)
        said = f"nord is kept in your file, but {file} says “dracula”, which counts at a start here."
        assert person.toasts == [said] and person.app.theme == "nord"
    async with opened(story.folder) as person:
        assert person.app.theme == "dracula"


async def test_a_theme_chosen_without_colour_is_kept(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    async with opened(story.folder) as person:
        person.app.theme = "solarized-light"
        await person.until(lambda: person.toasts)
        assert person.app.theme == "ansi-light"
        assert person.toasts == ["solarized-light is kept; it cannot be shown here, for NO_COLOR is set."]
    assert Path(user_settings_path()).read_text() == 'theme = "solarized-light"\n'


async def test_without_motion_nothing_moves_by_itself(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.widgets.record_list.FLASH_SECONDS", 0.01)
    configured("motion = 'none'\n")
    async with opened(story.folder) as person:
        assert person.app.animation_level == "none"
        await person.press("slash")
        assert not person.app.focused.cursor_blink  # type: ignore[union-attr]
        await person.press("escape")
        facts = person.record_list
        facts.flash(facts.rows.key(1))  # type: ignore[union-attr]
        await person.pilot.pause()  # until no timer as short as a flash runs
        assert facts._flashing
        await person.press("j")
        assert not facts._flashing
        await person.command("config motion full")
        assert person.app.animation_level == "full"
