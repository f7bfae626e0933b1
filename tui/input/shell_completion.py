"""Completion scripts for bash, zsh and fish, generated from the table of verbs.

They do not run `memoranda` at each Tab, which would be slow."""

from collections.abc import Iterable

from tui.input.argument_parser import Argument
from tui.input.commands.command import Verb
from tui.input.commands.command_table import VERBS
from tui.input.completion import EVERYWHERE


def script(shell: str) -> str:
    """Return the script of one shell. Raises InvalidInput."""
    from store.base.errors import InvalidInput

    made = {"bash": _bash, "zsh": _zsh, "fish": _fish}.get(shell)
    if made is None:
        raise InvalidInput("Completion is there for bash, zsh and fish.", "memoranda completion bash")
    return made()


def _offering(verb: Verb, last: str) -> list[tuple[str, Argument]]:
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


def _bash() -> str:
    taking, choices, options, repeated, places = ["*' --db'"], [], [], [], []
    everywhere = _names(EVERYWHERE)
    for verb in VERBS:
        mine = [argument for argument in verb.arguments if argument.option]
        if mine:
            options.append(f"{verb.name}) offered='{_names(mine)} {everywhere}' ;;")
        taking += [f"'{verb.name} --{option.name}'" for option in mine if option.form != "flag"]
        repeated += [f"'{verb.name} --{option.name}'" for option in mine if option.form == "list"]
        choices += [
            f"'{verb.name} --{option.name}') offered='{' '.join(option.choices)}' ;;"
            for option in mine
            if option.choices
        ]
        for pattern, argument in _offering(verb, "*"):
            gives = "files=1" if argument.file else f"offered='{' '.join(argument.choices)}'"
            places.append(f"'{verb.name} '{pattern}) {gives} ;;")
    filled = _BASH.replace("@EVERYWHERE@", everywhere).replace("@VERBS@", " ".join(verb.name for verb in VERBS))
    filled = filled.replace("@VALUES@", " | ".join(taking)).replace("@REPEATED@", " | ".join(repeated))
    for name, lines in (("CHOICES", choices), ("OPTIONS", options), ("PLACES", places)):
        filled = filled.replace(f"@{name}@", "\n        ".join(lines))
    return filled


def _names(options: Iterable[Argument]) -> str:
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


def _zsh() -> str:
    verbs = [_quoted(f"{verb.name}:{_colons(verb.summary)}") for verb in VERBS]
    arguments = [
        f"{verb.name}) _arguments -S $everywhere {' '.join(_zsh_arguments(verb))} && ret=0 ;;"
        for verb in VERBS
        if verb.arguments
    ]
    filled = _ZSH.replace("@EVERYWHERE@", " ".join(map(_zsh_option, EVERYWHERE)))
    return filled.replace("@VERBS@", "\n        ".join(verbs)).replace("@ARGUMENTS@", "\n        ".join(arguments))


def _zsh_arguments(verb: Verb) -> list[str]:
    place, specs = 0, []
    for argument in verb.arguments:
        if argument.option:
            specs.append(_zsh_option(argument))
        else:
            place += 1
            start = "*" if argument.form in ("many", "any") else str(place)
            specs.append(_quoted(f"{start}:{_colons(argument.shown)}:{_zsh_action(argument)}"))
    return specs


def _zsh_option(option: Argument) -> str:
    repeated = "*" if option.form == "list" else ""
    takes = "" if option.form == "flag" else f":{_colons(option.shown)}:{_zsh_action(option)}"
    equals = "" if option.form == "flag" else "="
    return _quoted(f"{repeated}--{option.name}{equals}[{_brackets(option.help)}]{takes}")


def _zsh_action(argument: Argument) -> str:
    if argument.file:
        return "_files"
    return f"({' '.join(argument.choices)})" if argument.choices else " "


def _colons(text: str) -> str:
    return text.replace("\\", "\\\\").replace(":", "\\:")


def _brackets(text: str) -> str:
    return _colons(text).replace("[", "\\[").replace("]", "\\]")


def _quoted(text: str) -> str:
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


def _fish() -> str:
    taking = [
        f"'{verb.name} --{option.name}'"
        for verb in VERBS
        for option in verb.arguments
        if option.form in ("value", "list")
    ]
    lines = [_FISH.replace("@VALUES@", " ".join(taking))]
    first = "complete -c memoranda -n '__memoranda_at \"\"'"
    for verb in VERBS:
        lines.append(f"{first} -a {verb.name} -d {_fish_quoted(verb.summary)}")
        lines += [
            _fish_option(f"__memoranda_at {verb.name}; and ", option) for option in verb.arguments if option.option
        ]
        for place, argument in _offering(verb, ""):
            gives = "-F" if argument.file else f"-a '{' '.join(argument.choices)}'"
            condition = f"__memoranda_at {verb.name} {place}".strip()
            lines.append(f"complete -c memoranda -n '{condition}' {gives} -d {_fish_quoted(argument.help)}")
    lines += [_fish_option("", option) for option in EVERYWHERE]
    return "\n".join([*lines, f"{first} -l version -d 'its version'"])


def _fish_option(start: str, option: Argument) -> str:
    takes = ""
    if option.form != "flag":
        takes = " -r -F" if option.file else f" -x -a '{' '.join(option.choices)}'" if option.choices else " -x"
    lacks = {"flag": f"__memoranda_lacks {option.name}", "list": "true"}.get(
        option.form, f"__memoranda_lacks {option.name} value"
    )
    return f"complete -c memoranda -n '{start}{lacks}' -l {option.name}{takes} -d {_fish_quoted(option.help)}"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
