"""Complete a command line by the verbs' arguments, for Tab in the `:` bar and in shells."""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from store.base.errors import InvalidInput
from store.config.settings import ALLOW_WORD, KEYS_PREFIX, MODEL_ACTS, MODEL_WORD, SETTINGS
from tui.input.arguments import Argument, Verb
from tui.input.key_table import KEYS
from tui.input.verb_table import FORMER_WORDS, MEMORY_WORD, PREFIX_WORDS, find_verb, list_verbs

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
    former = (line.split()[1] for line in FORMER_WORDS if line.startswith(f"{MEMORY_WORD} "))
    named = {word: FORMER_WORDS[f"{MEMORY_WORD} {word}"] for word in former}
    named |= {verb.name: verb.summary for verb in list_verbs()}
    return [Completion(name, help) for name, help in named.items() if name.startswith(current)]


def _wanted_argument(verb: Verb, words: list[str], current: str) -> Argument | None:
    """Return the argument whose value is being typed after a verb's `words`; None where it is an option's name, or
    where no more words belong to the verb."""
    options = {f"--{argument.name}": argument for argument in verb.arguments if argument.option}
    loose = 0
    coming = iter(words)
    for word in coming:
        if word == "--":
            return _positional_at(verb, loose + len(list(coming)))
        if not word.startswith("--"):
            loose += 1
            continue
        name, equals, _ = word.partition("=")
        option = options.get(name)
        if option and option.form != "flag" and not equals and next(coming, None) is None:
            return option
    if current.startswith("-"):
        return options.get(current.partition("=")[0]) if "=" in current else None
    return _positional_at(verb, loose)


def _complete_arguments(
    verb: Verb, words: list[str], current: str, everywhere: tuple[Argument, ...]
) -> list[Completion]:
    """Return the verb's options and values that may follow its `words`."""
    wanted = _wanted_argument(verb, words, current)
    names = [word.partition("=")[0] for word in words]
    loose = [word for word in words if not word.startswith("--")]
    if verb.name == "config" and len(loose) < 2 and not current.startswith("-"):
        return _complete_setting(loose, current)
    if "=" in current and wanted is not None and current.startswith("-"):
        name, _, value = current.partition("=")
        return [Completion(f"{name}={one.text}", one.help) for one in _complete_value(wanted, value)]
    found = _complete_value(wanted, current)
    asked = "--" in words or (wanted is not None and wanted.option)  # for a value, and nothing else
    if found or asked or (current and not current.startswith("-")):
        return found
    options = [argument for argument in (*verb.arguments, *everywhere) if argument.option]
    return _complete_option(
        (one for one in options if f"--{one.name}" not in names or one.form == "list"), current
    )


def _complete_setting(words: list[str], current: str) -> list[Completion]:
    """Return `allow`, `model`, the names of settings, and of keys after `keys.`; after a name, its possible values."""
    if words == [MODEL_WORD]:
        texts = [(act, "of the model") for act in MODEL_ACTS]
    elif words:
        known = {setting.name: setting for setting in SETTINGS}
        found = [known[word] for word in words if word in known]
        texts = [
            (text, setting.meaning) for setting in found for text in setting.choices or _KIND_VALUES[setting.kind]
        ]
    else:
        texts = [(ALLOW_WORD, "let what reaches outside of the project count, in the project's file as it is now")]
        texts.append((MODEL_WORD, "the model that the agent asks: its state, fetch one, try it, choose one"))
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


# Completion in a shell: its script runs `memoranda help complete SHELL LINE` at each Tab.

FILES = ":files"  # is printed where a path is to be typed: the shell knows them best
_BASH = r"""# Completion of memoranda for bash.
_memoranda() {
    local current=${COMP_WORDS[COMP_CWORD]} offered word
    [[ $current == '=' ]] && current=''
    offered=$(memoranda help complete bash "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
    COMPREPLY=()
    if [[ $offered == :files ]]; then
        compopt -o filenames 2>/dev/null
        offered=$(compgen -f -- "$current")
    fi
    while IFS= read -r word; do [[ -z $word ]] || COMPREPLY+=("$word"); done <<< "$offered"
}
complete -F _memoranda memoranda"""
_ZSH = r"""#compdef memoranda
# Completion of memoranda for zsh.
_memoranda() {
    local -a offered
    offered=("${(@f)$(memoranda help complete zsh "${(j: :)words[1,CURRENT]}" 2>/dev/null)}")
    if [[ $offered[1] == :files ]]; then
        _files
    elif [[ -n $offered[1] ]]; then
        _describe memoranda offered
    fi
}
if [[ $funcstack[1] == _memoranda ]]; then _memoranda "$@"; else compdef _memoranda memoranda; fi"""
_FISH = r"""# Completion of memoranda for fish.
function __memoranda_offer
    set -l offered (memoranda help complete fish (commandline -cp) 2>/dev/null)
    if test "$offered" = :files
        __fish_complete_path (commandline -ct)
    else
        string join -- \n $offered
    end
end
complete -c memoranda -f -a '(__memoranda_offer)'"""
SHELL_SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
_VERSION_OPTION = Argument("version", "flag", "", "its version")


def completion_script(shell: str) -> str:
    """Return the completion script of a shell. Raise InvalidInput."""
    if shell not in SHELL_SCRIPTS:
        raise InvalidInput("Completion is there for bash, zsh and fish.", "memoranda help completion bash")
    return SHELL_SCRIPTS[shell]


def offer_completions(shell: str, line: str) -> list[str]:
    """Return what a shell offers for the last word of a line, up to the cursor, each as its script reads it."""
    words, current = split_line(line)
    rest = words[1:]
    everywhere = GLOBAL_OPTIONS if find_verb(_without_db(rest) or []) else (*GLOBAL_OPTIONS, _VERSION_OPTION)
    if _is_path(rest, current):
        return [FILES]
    found = complete_line(rest, current, everywhere)
    if shell == "bash":  # which splits words at `=`, and shows no descriptions
        return [one.text.partition("=")[2] or one.text for one in found]
    if shell == "zsh":
        return ["{}:{}".format(one.text.replace(":", "\\:"), one.help) for one in found]
    return [f"{one.text}\t{one.help}" for one in found]


def _is_path(words: list[str], current: str) -> bool:
    """Return whether a path is to be typed after these words."""
    rest = _without_db(words)
    if rest is None or current.startswith("--db="):
        return True
    found = find_verb(rest)
    if found is None:
        return False
    wanted = _wanted_argument(*found, current)
    return wanted is not None and wanted.file


def complete_typed(text: str) -> str:
    """Complete the verb, option or value at the end of a line, or the common prefix of all candidates."""
    words, current = split_line(text)
    found = [candidate.text for candidate in complete_line(words, current, everywhere=())]
    start = text[: len(text) - len(current)]
    if len(found) == 1:
        return start + found[0] + ("" if found[0].endswith("=") else " ")
    return start + (common_prefix(found) or current)
