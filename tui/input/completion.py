"""Complete a command line, for Tab in the `:` bar, by the table of verbs.

Shell completion is made from the same table, below."""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from store.base.errors import InvalidInput
from store.config.settings import KEYS_PREFIX, SETTINGS
from tui.input.arguments import Argument, Verb
from tui.input.file_verbs import ALLOW_WORD
from tui.input.key_table import KEYS
from tui.input.verb_table import MEMORY_WORD, PREFIX_WORDS, find_verb, list_verbs

GLOBAL_OPTIONS = (
    Argument("db", "value", "PATH", "another memory file", file=True),
    Argument("json", "flag", "", "one object or list, for scripts"),
    Argument("help", "flag", "", "its arguments"),
)
"""The options that every verb accepts."""
_KIND_VALUES = {"bool": ("true", "false"), "int": (), "text": (), "choice": ()}


@dataclass(slots=True, eq=False, repr=False)
class Completion:
    """One candidate: the whole word, and its description in a line."""

    text: str
    help: str


def split_line(text: str) -> tuple[list[str], str]:
    """Split a line into (the words before, the word being typed); the last is empty after a space."""
    head, space, current = text.rpartition(" ")
    try:
        return shlex.split(head + space), current
    except ValueError:  # an apostrophe without a closing one is an ordinary character
        return head.split(), current


def complete_line(
    words: list[str], current: str, everywhere: tuple[Argument, ...] = GLOBAL_OPTIONS
) -> list[Completion]:
    """Return the completions of `current` after `words` (without `memoranda`), in the table's order.

    Empty where any text, number or file name is allowed. Slash commands are completed as in the `:` bar, which has no
    global options (`everywhere`)."""
    rest = _without_db(words)
    if rest is None:
        return []  # a file name
    found = find_verb(rest)
    if found is not None:
        return _complete_arguments(*found, current, everywhere)
    if rest:
        return _complete_second(rest, current)
    return _complete_option(everywhere, current) if current.startswith("-") else _complete_verb(current)


def common_prefix(texts: list[str]) -> str:
    """Return the common prefix of all texts."""
    if not texts:
        return ""
    low, high = min(texts), max(texts)
    same = 0
    while same < min(len(low), len(high)) and low[same] == high[same]:
        same += 1
    return low[:same]


def _without_db(words: list[str]) -> list[str] | None:
    """Return the words without the global options; None if the next word is the value of --db."""
    rest: list[str] = []
    coming = iter(words)
    for word in coming:
        if word == "--":
            return [*rest, word, *coming]
        if word == "--db":
            if next(coming, None) is None:
                return None
        elif word not in ("--json", "--look") and not word.startswith("--db="):
            rest.append(word)
    return rest


def _complete_verb(current: str) -> list[Completion]:
    """Return the verbs, and the word that may stand before any; with a slash if one was typed."""
    slash = "/" if current.startswith("/") else ""
    named = {verb.name: verb.summary for verb in list_verbs()} | {MEMORY_WORD: "may stand before any command"}
    return [Completion(slash + name, help) for name, help in named.items() if f"{slash}{name}".startswith(current)]


def _complete_second(words: list[str], current: str) -> list[Completion]:
    """Return the verbs that may follow `memory`."""
    if len(words) > 1 or words[0].removeprefix("/").lower() not in PREFIX_WORDS:
        return []
    return [Completion(verb.name, verb.summary) for verb in list_verbs() if verb.name.startswith(current)]


def _complete_arguments(
    verb: Verb, words: list[str], current: str, everywhere: tuple[Argument, ...]
) -> list[Completion]:
    """Return the verb's options and values that may follow its `words`."""
    options = {f"--{argument.name}": argument for argument in (*verb.arguments, *everywhere) if argument.option}
    given: set[str] = set()
    loose = 0
    coming = iter(words)
    for word in coming:
        if word == "--":
            return _complete_value(_positional_at(verb, loose + len(list(coming))), current)
        if not word.startswith("--"):
            loose += 1
            continue
        name, equals, _ = word.partition("=")
        given.add(name)
        option = options.get(name)
        if option and option.form != "flag" and not equals and next(coming, None) is None:
            return _complete_value(option, current)
    if verb.name == "config" and loose < 2 and not current.startswith("-"):
        return _complete_setting(words, loose, current)
    name, equals, value = current.partition("=")
    if equals and name in options:
        return [
            Completion(f"{name}={candidate.text}", candidate.help)
            for candidate in _complete_value(options[name], value)
        ]
    found = [] if current.startswith("-") else _complete_value(_positional_at(verb, loose), current)
    if found or (current and not current.startswith("-")):
        return found
    free = (option for name, option in options.items() if name not in given or option.form == "list")
    return _complete_option(free, current)


def _complete_setting(words: list[str], place: int, current: str) -> list[Completion]:
    """Return `allow`, the names of settings, and of keys after `keys.`; after a name, its possible values."""
    if place:
        known = {setting.name: setting for setting in SETTINGS}
        found = [known[word] for word in words if word in known]
        texts = [
            (text, setting.meaning) for setting in found for text in setting.choices or _KIND_VALUES[setting.kind]
        ]
    else:
        texts = [(ALLOW_WORD, "let what reaches outside of the project count, in the project's file as it is now")]
        texts += [(setting.name, setting.meaning) for setting in SETTINGS]
        if current.startswith(KEYS_PREFIX):
            texts += [(f"{KEYS_PREFIX}{key.id}", key.help) for key in KEYS]
    return [Completion(text, help) for text, help in texts if text.startswith(current)]


def _complete_option(options: Iterable[Argument], current: str) -> list[Completion]:
    """Return the options whose names begin with `current`."""
    return [
        Completion(f"--{option.name}", option.help) for option in options if f"--{option.name}".startswith(current)
    ]


def _positional_at(verb: Verb, place: int) -> Argument | None:
    """Return the positional argument that the word at this place belongs to, not counting options."""
    for argument in verb.arguments:
        if not argument.option:
            if not place or argument.form in ("many", "any"):
                return argument
            place -= 1
    return None


def _complete_value(argument: Argument | None, current: str) -> list[Completion]:
    """Return the common values of an argument that begin with `current`."""
    if argument is None:
        return []
    return [Completion(word, argument.help) for word in argument.choices if word.startswith(current)]


# Completion scripts for bash, zsh and fish, generated from the table of verbs.
#
# They do not run `memoranda` at each Tab, which would be slow.


def completion_script(shell: str) -> str:
    """Return the completion script of a shell. Raise InvalidInput."""
    made = {"bash": _bash_script, "zsh": _zsh_script, "fish": _fish_script}.get(shell)
    if made is None:
        raise InvalidInput("Completion is there for bash, zsh and fish.", "memoranda completion bash")
    return made()


def _arguments_to_offer(verb: Verb, last: str) -> list[tuple[str, Argument]]:
    """Return the verb's positional arguments that have choices, each with its position; `last` if it may be
    repeated."""
    loose = [argument for argument in verb.arguments if not argument.option]
    return [
        (last if argument.form in ("many", "any") else str(place), argument)
        for place, argument in enumerate(loose)
        if argument.choices or argument.file
    ]


# bash: no descriptions; must run in version 3.2, which macOS has ------------------------------------------------------

_BASH = r"""# Completion of memoranda for bash.
_memoranda() {
    local current=${COMP_WORDS[COMP_CWORD]} verb='' expects='' given=' ' dashes='' offered='' files='' place=0 at word
    COMPREPLY=()
    for ((at = 1; at < COMP_CWORD; at++)); do
        word=${COMP_WORDS[at]}
        if [[ -n $expects ]]; then
            [[ $word == '=' ]] || expects=''
        elif [[ -n $dashes ]]; then
            place=$((place + 1))
        elif [[ $word == -- ]]; then
            dashes=1
        elif [[ $word == --* ]]; then
            given="$given$word "
            case "$verb $word" in
            @VALUES@) expects=$word ;;
            esac
        elif [[ -z $verb ]]; then
            verb=$word
        else
            place=$((place + 1))
        fi
    done
    [[ $current == '=' ]] && current=''
    if [[ -n $expects ]]; then
        case "$verb $expects" in
        @CHOICES@
        *' --db') files=1 ;;
        esac
    elif [[ $current == -* && -z $dashes ]]; then
        case "$verb" in
        '') offered='@EVERYWHERE@ --version' ;;
        @OPTIONS@
        *) offered='@EVERYWHERE@' ;;
        esac
        local left=''
        for word in $offered; do
            case "$verb $word" in
            @REPEATED@) left="$left $word" ;;
            *) [[ $given == *" $word "* ]] || left="$left $word" ;;
            esac
        done
        offered=$left
    elif [[ -z $verb ]]; then
        offered='@VERBS@'
    else
        case "$verb $place" in
        @PLACES@
        esac
    fi
    if [[ -n $files ]]; then
        compopt -o filenames 2>/dev/null
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current")
    elif [[ -n $offered ]]; then
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$offered" -- "$current")
    fi
}
complete -F _memoranda memoranda"""


def _bash_script() -> str:
    """Return the completion script for bash."""
    taking, choices, options, repeated, places = ["*' --db'"], [], [], [], []
    everywhere = _option_names(GLOBAL_OPTIONS)
    for verb in list_verbs():
        mine = [argument for argument in verb.arguments if argument.option]
        if mine:
            options.append(f"{verb.name}) offered='{_option_names(mine)} {everywhere}' ;;")
        taking += [f"'{verb.name} --{option.name}'" for option in mine if option.form != "flag"]
        repeated += [f"'{verb.name} --{option.name}'" for option in mine if option.form == "list"]
        choices += [
            f"'{verb.name} --{option.name}') offered='{' '.join(option.choices)}' ;;"
            for option in mine
            if option.choices
        ]
        for pattern, argument in _arguments_to_offer(verb, "*"):
            gives = "files=1" if argument.file else f"offered='{' '.join(argument.choices)}'"
            places.append(f"'{verb.name} '{pattern}) {gives} ;;")
    filled = _BASH.replace("@EVERYWHERE@", everywhere).replace(
        "@VERBS@", " ".join(verb.name for verb in list_verbs())
    )
    filled = filled.replace("@VALUES@", " | ".join(taking)).replace("@REPEATED@", " | ".join(repeated))
    for name, lines in (("CHOICES", choices), ("OPTIONS", options), ("PLACES", places)):
        filled = filled.replace(f"@{name}@", "\n        ".join(lines))
    return filled


def _option_names(options: Iterable[Argument]) -> str:
    """Return the names of options, separated by spaces."""
    return " ".join(f"--{option.name}" for option in options)


# zsh -----------------------------------------------------------------------------------------------------------------


_ZSH = r"""#compdef memoranda
# Completion of memoranda for zsh.
_memoranda() {
    local context state state_descr line ret=1
    typeset -A opt_args
    local -a verbs everywhere
    verbs=(
        @VERBS@
    )
    everywhere=(@EVERYWHERE@)
    _arguments -C $everywhere '--version[its version]' '1: :->verb' '*:: :->rest' && ret=0
    case $state in
    verb) _describe verb verbs && ret=0 ;;
    rest)
        case $words[1] in
        @ARGUMENTS@
        *) _arguments -S $everywhere && ret=0 ;;
        esac ;;
    esac
    return ret
}
if [[ $funcstack[1] == _memoranda ]]; then _memoranda "$@"; else compdef _memoranda memoranda; fi"""


def _zsh_script() -> str:
    """Return the completion script for zsh."""
    verbs = [_quote_shell(f"{verb.name}:{_escape_colons(verb.summary)}") for verb in list_verbs()]
    arguments = [
        f"{verb.name}) _arguments -S $everywhere {' '.join(_zsh_arguments(verb))} && ret=0 ;;"
        for verb in list_verbs()
        if verb.arguments
    ]
    filled = _ZSH.replace("@EVERYWHERE@", " ".join(map(_zsh_option, GLOBAL_OPTIONS)))
    return filled.replace("@VERBS@", "\n        ".join(verbs)).replace("@ARGUMENTS@", "\n        ".join(arguments))


def _zsh_arguments(verb: Verb) -> list[str]:
    """Return the specifications of a verb's arguments for zsh."""
    place, specs = 0, []
    for argument in verb.arguments:
        if argument.option:
            specs.append(_zsh_option(argument))
        else:
            place += 1
            start = "*" if argument.form in ("many", "any") else str(place)
            specs.append(_quote_shell(f"{start}:{_escape_colons(argument.shown)}:{_zsh_action(argument)}"))
    return specs


def _zsh_option(option: Argument) -> str:
    """Return the specification of an option for zsh."""
    repeated = "*" if option.form == "list" else ""
    takes = "" if option.form == "flag" else f":{_escape_colons(option.shown)}:{_zsh_action(option)}"
    equals = "" if option.form == "flag" else "="
    return _quote_shell(f"{repeated}--{option.name}{equals}[{_escape_brackets(option.help)}]{takes}")


def _zsh_action(argument: Argument) -> str:
    """Return what zsh offers as the value of an argument: files, choices, or nothing."""
    if argument.file:
        return "_files"
    return f"({' '.join(argument.choices)})" if argument.choices else " "


def _escape_colons(text: str) -> str:
    """Escape backslashes and colons for zsh."""
    return text.replace("\\", "\\\\").replace(":", "\\:")


def _escape_brackets(text: str) -> str:
    """Escape colons and brackets for zsh."""
    return _escape_colons(text).replace("[", "\\[").replace("]", "\\]")


def _quote_shell(text: str) -> str:
    """Quote for bash and zsh, with single quotes."""
    return "'" + text.replace("'", "'\\''") + "'"


# fish ----------------------------------------------------------------------------------------------------------------

_FISH = r"""# Completion of memoranda for fish.
function __memoranda_at --description 'Whether the verb is $argv[1], and $argv[2] words follow it'
    set -l takes @VALUES@
    set -l verb ''
    set -l place 0
    set -l expects ''
    for word in (commandline -opc)[2..-1]
        if test -n "$expects"
            set expects ''
        else if test "$word" = --db; or contains -- "$verb $word" $takes
            set expects 1
        else if string match -q -- '--*' "$word"
            continue
        else if test -z "$verb"
            set verb $word
        else
            set place (math $place + 1)
        end
    end
    test "$verb" = "$argv[1]"; and begin
        not set -q argv[2]; or test "$place" = "$argv[2]"
    end
end
function __memoranda_lacks --description 'Whether an option is not given yet; with $argv[2] its value may be next'
    set -l words (commandline -opc)
    set -q argv[2]; and set -e words[-1]
    not string match -q -r -- "^--$argv[1](=|\$)" $words
end
complete -c memoranda -f"""


def _fish_script() -> str:
    """Return the completion script for fish."""
    taking = [
        f"'{verb.name} --{option.name}'"
        for verb in list_verbs()
        for option in verb.arguments
        if option.form in ("value", "list")
    ]
    lines = [_FISH.replace("@VALUES@", " ".join(taking))]
    first = "complete -c memoranda -n '__memoranda_at \"\"'"
    for verb in list_verbs():
        lines.append(f"{first} -a {verb.name} -d {_quote_fish(verb.summary)}")
        lines += [
            _fish_option(f"__memoranda_at {verb.name}; and ", option) for option in verb.arguments if option.option
        ]
        for place, argument in _arguments_to_offer(verb, ""):
            gives = "-F" if argument.file else f"-a '{' '.join(argument.choices)}'"
            condition = f"__memoranda_at {verb.name} {place}".strip()
            lines.append(f"complete -c memoranda -n '{condition}' {gives} -d {_quote_fish(argument.help)}")
    lines += [_fish_option("", option) for option in GLOBAL_OPTIONS]
    return "\n".join([*lines, f"{first} -l version -d 'its version'"])


def _fish_option(start: str, option: Argument) -> str:
    """Return the command that completes an option in fish; `start` is a condition before it."""
    takes = ""
    if option.form != "flag":
        takes = " -r -F" if option.file else f" -x -a '{' '.join(option.choices)}'" if option.choices else " -x"
    lacks = {"flag": f"__memoranda_lacks {option.name}", "list": "true"}.get(
        option.form, f"__memoranda_lacks {option.name} value"
    )
    return f"complete -c memoranda -n '{start}{lacks}' -l {option.name}{takes} -d {_quote_fish(option.help)}"


def _quote_fish(text: str) -> str:
    """Quote a text for fish, with single quotes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
