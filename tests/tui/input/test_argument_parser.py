"""The reader of arguments: every usual way of writing them, and a sentence for every unusual one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cases import load_cases

from tui.input.arguments import Argument, ParsedArguments, UsageError, help_text, parse_arguments
from tui.input.verb_table import FORMER_WORDS, MODULES, find_verb, list_verbs

PAINT = (
    Argument("wall", "one", "WALL", "what to paint"),
    Argument("coats", "maybe", "N", "how many coats", 1, whole=True),
    Argument("colour", "value", "COLOUR", "which colour", "white"),
    Argument("tool", "list", "TOOL", "what to paint with"),
    Argument("limit", "value", "LITRES", "how much paint", 10, whole=True),
    Argument("dry", "flag", "", "say what would be done"),
)
SAY = (Argument("text", "many", "TEXT", "what to say"), Argument("to", "value", "WHOM", "to whom", required=True))
LOOK = (Argument("words", "any", "WORDS", "what to look for"),)


def paint(*words: str) -> dict[str, object]:
    return vars(parse_arguments("paint", PAINT, words))


def refused(verb: str, arguments: tuple[Argument, ...], *words: str) -> str:
    with pytest.raises(UsageError) as caught:
        parse_arguments(verb, arguments, words)
    assert caught.value.exit_status == 2
    assert caught.value.code == "usage"
    return str(caught.value)


# forms --------------------------------------------------------------------------------------------------------------


def test_what_is_not_given_has_its_default():
    assert paint("north") == {"wall": "north", "coats": 1, "colour": "white", "tool": [], "limit": 10, "dry": False}


@pytest.mark.parametrize(
    "words",
    [
        ("north", "2", "--colour", "red", "--tool", "brush", "--tool", "roll", "--limit", "3", "--dry"),
        ("--dry", "--limit=3", "--tool=brush", "--colour=red", "--tool=roll", "north", "2"),
        ("--colour=red", "north", "--tool", "brush", "2", "--dry", "--tool=roll", "--limit=3"),
        tuple("--colour green --colour red --tool=brush --tool=roll --limit=3 --dry -- north 2".split()),
    ],
)
def test_order_and_spelling_do_not_matter(words):
    """`--name VALUE` or `--name=VALUE`, before the words, between or after them; of one said twice the last counts."""
    given = {"wall": "north", "coats": 2, "colour": "red", "tool": ["brush", "roll"], "limit": 3, "dry": True}
    assert paint(*words) == given


@pytest.mark.parametrize("value", ["", "=", "a=b", "--dry", "-1", "--", "«rojo»", "two words", "line\nline"])
def test_a_value_may_be_any_text(value):
    """An option takes the next word whatever it is: an empty one, one with an equals sign, one that looks like one."""
    assert paint("north", "--colour", value)["colour"] == value
    assert paint("north", f"--colour={value}")["colour"] == value


def test_after_two_dashes_everything_is_text():
    looked = vars(parse_arguments("look", LOOK, ["a", "--", "--words", "--", "--help"]))
    assert looked == {"words": ["a", "--words", "--", "--help"]}


def test_one_dash_is_no_option():
    """`remember -5 degrees outside` is a text: short options do not exist."""
    assert vars(parse_arguments("look", LOOK, ["-5", "-v", "-"])) == {"words": ["-5", "-v", "-"]}


def test_many_is_at_least_one_and_any_may_be_none():
    assert vars(parse_arguments("look", LOOK, [])) == {"words": []}
    said = vars(parse_arguments("say", SAY, ["hello", "--to", "Ana", "there"]))
    assert said == {"text": ["hello", "there"], "to": "Ana"}
    assert refused("say", SAY, "--to", "Ana") == "say wants TEXT…: what to say. See `memoranda say --help`."


def test_many_leave_a_word_to_each_that_stands_behind():
    """`tag ID… TAG`: the last word is the tag, and one word alone is no fact."""
    tag = (Argument("ids", "many", "ID", "which"), Argument("tag", "one", "TAG", "what"))
    assert parse_arguments("tag", tag, ["1", "2", "x"]).__dict__ == {"ids": ["1", "2"], "tag": "x"}
    assert parse_arguments("tag", tag, ["1", "--", "--x"]).__dict__ == {"ids": ["1"], "tag": "--x"}
    assert refused("tag", tag, "x").startswith("tag wants ID…: which.")
    assert refused("tag", tag).startswith("tag wants ID…: which.")


def test_calls_do_not_share_their_lists():
    """A default list is a new one for each call: what one command appends, the next must not see."""
    first = parse_arguments("paint", PAINT, ["north"])
    first.tool.append("brush")
    assert paint("north")["tool"] == []


def test_what_no_verb_asked_for_is_an_error_of_ours():
    with pytest.raises(AttributeError):
        ParsedArguments(colour="red").color  # noqa: B018


@given(st.lists(st.text()), st.lists(st.text()), st.text())
def test_any_text_comes_through_whole(tools, words, colour):
    """Whatever the texts are, written `--name=VALUE` and after `--` each arrives as it was typed, in its order."""
    arguments = (*PAINT[2:4], *LOOK)
    typed = [f"--colour={colour}", *(f"--tool={tool}" for tool in tools), "--", *words]
    assert vars(parse_arguments("paint", arguments, typed)) == {"colour": colour, "tool": tools, "words": words}


# whole numbers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["1", "007", "999999999999999999"])
def test_a_whole_number_is_one(word):
    assert paint("north", word)["coats"] == int(word)
    assert paint("north", f"--limit={word}")["limit"] == int(word)


@pytest.mark.parametrize("word", ["", "0", "-1", "+1", "1.5", "1e3", "ten", "٣", "1_000", " 1", "9" * 19])
def test_anything_else_is_refused(word):
    """Nothing (`--limit 0`) is no useful limit, and no number may be larger than SQLite's."""
    assert refused("paint", PAINT, "north", word) == "N is a whole number, from 1 on."
    assert refused("paint", PAINT, "north", "--limit", word) == "--limit is a whole number, from 1 on."


# errors -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words, sentence",
    [
        ((), "paint wants WALL: what to paint. See `memoranda paint --help`."),
        (("a", "2", "b"), "paint does not know what to do with “b”. See `memoranda paint --help`."),
        (("a", "--color", "red"), "paint has no option “--color”; it has: --colour, --tool, --limit, --dry. "),
        (("a", "--col", "red"), "paint has no option “--col”; it has: --colour, --tool, --limit, --dry. "),
        (("a", "--wall", "b"), "paint has no option “--wall”; it has: --colour, --tool, --limit, --dry. "),
        (("a", "--colour"), "--colour wants a value: --colour COLOUR. See `memoranda paint --help`."),
        (("a", "--dry=yes"), "--dry takes no value."),
        (("a", "--=x"), "paint has no option “--”; it has: --colour, --tool, --limit, --dry. "),
    ],
)
def test_each_mistake_has_its_sentence(words, sentence):
    assert refused("paint", PAINT, *words).startswith(sentence)


def test_a_required_option_is_asked_for():
    assert refused("say", SAY, "hello") == "say wants --to WHOM. See `memoranda say --help`."


def test_an_unknown_option_says_how_to_write_such_a_text():
    assert refused("look", LOOK, "--verbose").endswith("it has: none. Put -- before a text that starts so.")


@pytest.mark.parametrize("word", ["--\x1b]0;owned\x07", "--\u202eevil", "--" + "x" * 1000, "--a\nb"])
def test_what_is_quoted_back_is_short_and_harmless(word):
    """The words of a command may come from a script's variable: they are shown, never obeyed."""
    said = refused("look", LOOK, word)
    assert said.isprintable() and len(said) < 200


# help ---------------------------------------------------------------------------------------------------------------


def test_help_lists_every_argument_with_its_help():
    """In 80 columns; a long name has a line of its own."""
    lines = help_text("paint", "Paint a wall", PAINT).split("\n")
    assert lines[0] == "memoranda paint WALL [N] [--colour COLOUR] [--tool TOOL …] [--limit LITRES]"
    assert lines[1] == "    [--dry]" and lines[3] == "Paint a wall."
    assert [line.split("  ")[1] for line in lines[5:]] == [
        *("WALL", "N", "--colour COLOUR", "--tool TOOL", "--limit LITRES", "--dry"),
        *("--db PATH", "--json"),
    ]
    for argument, line in zip(PAINT, lines[5:], strict=False):
        assert line.endswith(f"  {argument.help}")
    assert help_text("say", "Say it", SAY).startswith("memoranda say TEXT… --to WHOM\n")
    assert help_text("look", "Look", LOOK).startswith("memoranda look [WORDS…]\n")
    long = Argument("w", "many", "|".join(["a long name"] * 4), "word " * 30)
    lines = help_text("look", "Look", [long]).split("\n")
    assert all(len(line) <= 80 for line in lines[1:]) and lines[5].strip() == f"{'word ' * 13}".strip()


# the table ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", list_verbs(), ids=lambda verb: verb.name)
def test_the_table_can_be_read(verb):
    """Each verb's arguments are unmistakable: one of the words takes several at the most, and no two have one name."""
    names = [argument.name for argument in verb.arguments]
    loose = [argument for argument in verb.arguments if not argument.option]
    assert len(set(names)) == len(names)
    assert not {"json", "db", "help"} & set(names), "these go anywhere and belong to no verb"
    several = [place for place, argument in enumerate(loose) if argument.form in ("many", "any")]
    assert len(several) <= 1
    assert all(argument.form == "one" for place in several for argument in loose[place + 1 :])
    assert all(argument.help and not argument.help.endswith(".") for argument in verb.arguments)
    assert verb.summary[0].isupper() and not verb.summary.endswith(".")


def test_a_former_word_is_no_command_and_names_one():
    assert not set(FORMER_WORDS) & set(MODULES)
    assert {words.split()[0] for words in FORMER_WORDS.values()} <= set(MODULES)


@pytest.mark.parametrize("typed, verb, rest", load_cases(__file__)["typed"])
def test_a_typed_line_finds_its_verb(typed, verb, rest):
    """The `:` bar takes verbs and slash commands alike, with or without the slash."""
    found = find_verb(typed.split())
    assert found is not None
    assert (found[0].name, found[1]) == (verb, rest)


@pytest.mark.parametrize("typed", ["", "/", "memory", "/memory dance", "nonsense"])
def test_what_is_no_verb_finds_none(typed):
    assert find_verb(typed.split()) is None
