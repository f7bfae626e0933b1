"""config: the settings, and the model that the agent asks: its state and its last calls, pull one, try it, choose one,
and set when it is used."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from shutil import which
from time import monotonic
from typing import Annotated

from store.base.clock import format_how_long_ago
from store.base.errors import ExitStatus, InvalidInput, ModelFailed, NotFound
from store.base.location import Location
from store.base.models import select_fields
from store.base.state_files import last_state_problem
from store.config.configuration import (
    Config,
    SettingValue,
    grant_config,
    load_config,
    project_settings_path,
    read_permission_request,
    remove_setting,
    revoke_config_grant,
    user_settings_path,
    write_setting,
)
from store.config.settings import (
    ALLOW_WORD,
    KEYS_PREFIX,
    MODEL_ACTS,
    MODEL_WORD,
    SETTINGS,
    Setting,
    find_setting,
    format_suggestion,
)
from store.librarian.chat import (
    LOCAL_HOSTS,
    ModelPuller,
    PullResult,
    RateMeter,
    get_host_name,
    get_server_address,
    is_openai_server,
    name_server,
    shorten_address,
)
from store.librarian.librarian import TrialResult, count_trial_questions, run_trial
from store.librarian.model_selection import (
    USUAL_MODEL,
    InstalledModel,
    ModelStatus,
    ProbeResult,
    open_named_model,
    probe_model,
    read_model_status,
)
from store.librarian.structured_output import LoggedCall, ModelStats, list_recent_calls, read_model_stats
from store.memory import Memory
from store.text.display import agree_verb, format_bytes, format_count, format_seconds, visible
from tui.commands.call import STOP_HINT, Call, Interrupt, Outcome
from tui.input.arguments import Shown, UsageError, verb
from tui.input.key_table import FIXED_KEYS, KEYS_BY_ID, resolve_keys

SOURCE_WORDS = {"default": "default", "user": "yours", "project": "project", "environment": "variable"}


@verb(
    opens="nothing",
    apart=lambda given: given.name == MODEL_WORD and given.value in ("pull", "test", "try"),
)
def config(
    call: Call,
    name: Annotated[str | None, Shown("NAME", (ALLOW_WORD, MODEL_WORD, *(one.name for one in SETTINGS)))] = None,
    value: str | None = None,
    model: str | None = None,
    *,
    project: bool = False,
    unset: bool = False,
    all: bool = False,
    yes: bool = False,
) -> Outcome:
    """Settings: what they are and where from; with a value, set one; and the model that the agent asks.

    name: one setting, keys.record.forget for a key; allow: what the project's file sets; model: its state
    value: what it is to be, in your file; of model: pull: fetch one; test, try: ask it; calls: the last ones; use:
        choose one; fast: asked only after an answer; smart: before one too; off: never
    model: of model: one of them, qwen2.5:3b-instruct; use auto: any that is found; calls 7: that one
    project: in the project's file, which wins over yours
    unset: remove it from the file
    all: list those for experts too: weights, days, addresses
    yes: allow what the project's file sets without asking
    """
    writes = value is not None or unset
    if all and (name or writes or project):
        raise UsageError("--all lists the settings, and changes none.", "See `memoranda config --help`.")
    if name == MODEL_WORD:
        if project or unset or yes:
            raise UsageError("config model takes no options.", "See `memoranda config --help`.")
        return _run_model_act(call, value or "status", model or "")
    if model is not None:
        raise UsageError(
            f"config does not know what to do with “{visible(model[:40])}”.", "See `memoranda config --help`."
        )
    if name == ALLOW_WORD:
        if value is not None:
            raise InvalidInput("The project's file is allowed as a whole.", "memoranda config allow")
        return _allow_project(call, unset, yes)
    if (writes or project) and not name:
        raise InvalidInput("Which setting?", "memoranda config NAME VALUE, or NAME --unset")
    if value is not None and unset:
        raise InvalidInput("A setting is given a value or removed, not both.", "Leave the value or --unset away.")
    if project and not writes:
        raise InvalidInput(
            "--project says where to write, and there is nothing to write.", "Add a value, or --unset."
        )
    if name and writes:
        return _write_setting(call.location, name, value, project)
    found = read_config(call.location)
    if name:
        shown = _find_value(found, name)
        return Outcome(
            lines=[*_setting_lines(shown), *map(visible, found.problems)], data=lambda: _setting_json(shown)
        )
    return _list_settings(call.location, found, all)


def _write_setting(place: Location, name: str, value: str | None, project: bool) -> Outcome:
    """Write a setting to the user's or the project's file, or without a value remove it there, and report the
    effect."""
    path = project_settings_path(place) if project else user_settings_path()
    if path is None:
        raise InvalidInput(
            "This memory is no project's, so it has no settings of its own.",
            "Without --project they go to your file.",
        )
    if value is None:
        if not remove_setting(path, name):
            raise NotFound(f"{name} is not set in {path}.", "See `memoranda config`.")
        done = f"Removed {name} from {path}."
    else:
        _find_setting(name)
        done = f"{name} is now {value_text(write_setting(path, name, value))}, in {path}."
    found = read_config(place)
    try:
        now = _find_value(found, name)
    except InvalidInput:  # a misspelt name was removed: harmless
        return Outcome(done, lambda: {"name": name, "written": path})
    if now.path and now.path != path:
        whose = {"project": "The project's file", "environment": "The environment"}.get(now.source, "Your file")
        done += f" {whose} says {value_text(now.value)}, which counts here: {now.path}."
    elif value is None:
        done += f" It is {value_text(now.value)} again."
    done = " ".join([done, *(visible(one) for one in found.problems if project and f"{ALLOW_WORD}`" in one)])
    if name.startswith(KEYS_PREFIX):
        done = " ".join([done, *resolve_keys(found.remapped_keys)[1]])
    return Outcome(done, lambda: {**_setting_json(now), "written": path})


def _allow_project(call: Call, unset: bool, yes: bool) -> Outcome:
    """Allow the project's file to set what reaches outside of the project, or revoke it. Raise Declined."""
    path, text, lines = read_permission_request(call.location)
    if not text:
        raise NotFound(
            "This project has no settings of its own.", "memoranda config NAME VALUE --project makes some."
        )
    if unset:
        revoke_config_grant(path)
        return Outcome(f"What {path} sets beyond the project does not count any more.", lambda: {"path": path})
    if not lines:
        return Outcome(f"Nothing in {path} needs to be allowed.", lambda: {"path": path, "allowed": []})
    shown = [visible(line) for line in lines]
    call.agree(yes, f"Let {visible(path)} set this?", shown, no="Nothing was allowed.")
    kept = grant_config(path, text)
    said = "as it is now." if kept else f"until this process ends: {last_state_problem()}"
    return Outcome(f"{path} is allowed{',' if kept else ''} {said}", lambda: {"path": path, "allowed": lines})


def _find_setting(name: str) -> Setting:
    """Return the setting of a name, or of a key. Raise InvalidInput if there is none."""
    setting, key = find_setting(name), name.removeprefix(KEYS_PREFIX)
    if key != name and key in FIXED_KEYS:
        raise InvalidInput(f"{key} cannot have other keys: {FIXED_KEYS[key]} needs it as it is.")
    if key != name and key not in KEYS_BY_ID:
        raise InvalidInput(
            f"There is no key “{key[:40]}”.",
            format_suggestion(key, KEYS_BY_ID).strip() or f"There are {', '.join(KEYS_BY_ID)}.",
        )
    return setting


def _find_value(found: Config, name: str) -> SettingValue:
    """Return a setting or a key, remapped or default. Raises InvalidInput."""
    setting = _find_setting(name)
    return found.find_value(name) or SettingValue(setting, default_value(setting), "default", "")


def default_value(setting: Setting) -> object:
    """Return the value that a setting or a key has where nothing sets it."""
    return KEYS_BY_ID[setting.name.removeprefix(KEYS_PREFIX)].keys if setting.kind == "keys" else setting.default


def _list_settings(place: Location, found: Config, all: bool) -> Outcome:
    """List the settings in their groups, with `all` those for experts too, and the files that set them."""
    groups = found.groups(all)
    shown = [value for values in groups.values() for value in values]
    cells = {value: (value.name, value_text(value.value), SOURCE_WORDS[value.source]) for value in shown}
    widths = [max(map(len, column)) for column in zip(*cells.values(), strict=True)]
    lines: list[str] = []
    for group, members in groups.items():
        lines += [group] if members else []
        for value in members:
            row = "  ".join(map(str.ljust, cells[value], widths))
            lines.append(f"  {row}  {value.setting.meaning}")
    if left := len(found.values) - len(cells):
        lines += ["", f"{left} more are for experts: memoranda config --all"]
    files = {"yours": user_settings_path(), "project": project_settings_path(place)}
    places = [
        {"whose": whose, "path": path, "exists": bool(path and os.path.lexists(path))}
        for whose, path in files.items()
    ]
    lines.append("")
    for one in places:
        state = "" if one["exists"] else " (not made yet)"
        where = f"{visible(str(one['path']))}{state}" if one["path"] else "none: this memory is no project's"
        lines.append(f"{one['whose']:<7}  {where}")
    found.problems += resolve_keys(found.remapped_keys)[1]
    lines += ["", *map(visible, found.problems)] if found.problems else []
    values = [_setting_json(value) for value in found.values]
    data = {"settings": values, "files": places, "problems": found.problems}
    return Outcome(lines=lines, data=lambda: data)


def _setting_lines(value: SettingValue) -> list[str]:
    """Return what there is to say about a setting: its value, meaning and source."""
    setting = value.setting
    lines = [f"{value.name} is {value_text(value.value)}", f"{setting.meaning}."]
    lines.append(f"It takes {setting.allowed_values}.")
    where = f"${value.path}" if value.source == "environment" else visible(value.path)
    lines.append(f"Set in {where}." if value.path else "It is as it comes: no file sets it.")
    if setting.variable and value.source != "environment":
        lines.append(f"${setting.variable} sets it over every file.")
    return lines


def _setting_json(value: SettingValue) -> dict[str, object]:
    """Return a setting for scripts."""
    setting = value.setting
    return {
        **select_fields(value, "name", "value", "source"),
        "path": value.path or None,
        "default": default_value(setting),
        **select_fields(setting, "kind", "choices", "meaning", "group", "label"),
    }


def value_text(value: object) -> str:
    """Return a value as it is shown and may be typed."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    return visible(str(value)) if value != "" else '""'


# the model

# minimum seconds between two updates of a pull's progress
PROGRESS_SECONDS = 0.1
PULL_BAR_CELLS = 20  # cells
# percent between two progress lines without a terminal
PROGRESS_PERCENT = 10
MODEL_MODES = {
    "fast": "asked after an answer only, and never waited for",
    "smart": "asked before an answer too, for agent.seconds at most",
    "off": "no model: answers come from the records",
}
INSTALL_OLLAMA = (
    ("Linux", "curl -fsSL https://ollama.com/install.sh | sh"),
    ("Docker", "docker run -d -p 127.0.0.1:11434:11434 -v ollama:/root/.ollama ollama/ollama"),
    ("macOS", "brew install ollama && brew services start ollama"),
)
"""How to install Ollama, by platform."""
NO_CALLS = "No model was asked in the last 24 hours."
WORKS_WITHOUT_MODEL = "Everything works without it: search, inbox and contexts need no model."


def _run_model_act(call: Call, act: str, name: str) -> Outcome:
    """Do what `config model ACT NAME` asks: show the state of the model, pull one, try it, list its calls, or choose
    one."""
    acts = {"pull": _pull_model, "test": _test_model, "try": _try_model, "calls": _list_calls, "use": _use_model}
    if name and act not in acts:
        raise InvalidInput(f"model {act} takes no name.", "memoranda config model use NAME chooses a model.")
    if act in MODEL_MODES:
        return _put_setting(call, "agent.mode", act)
    if act == "status":
        return _show_status(call)
    if act in acts:
        return acts[act](call, name)
    raise InvalidInput(
        f"model does not know “{act[:40]}”.",
        f"It takes {', '.join(one for one in MODEL_ACTS if one not in MODEL_MODES)}, and {', '.join(MODEL_MODES)}.",
    )


def read_config(location: Location) -> Config:
    """Return the configuration of a memory, with its keys."""
    return load_config(location, KEYS_BY_ID, FIXED_KEYS)


def _show_status(call: Call) -> Outcome:
    found = read_model_status(read_config(call.location))
    fared: ModelStats | None = None
    if os.path.lexists(call.location.path):
        with Memory(call.location, "cli", create=False) as memory:
            fared = read_model_stats(memory.database, memory.now)
    lines = model_status_lines(found)
    if fared is not None and (said := model_use_words(fared)):
        lines[2:2] = [said]
    return Outcome(lines=lines, data=lambda: {**_status_json(found), "use": fared and fared._asdict()})


def model_use_words(found: ModelStats) -> str:
    """Summarise the model's statistics in a sentence; empty if it was never called and nothing waits for it."""
    words = {
        f"asked {format_count(found.asked, 'time')} for this memory": found.asked,
        f"answered from the records instead {format_count(found.by_rule, 'time')}": found.by_rule,
        f"the last answer took {format_seconds(found.seconds or 0)}": found.seconds is not None,
        f"{format_count(found.queued, 'turn')} {agree_verb(found.queued, 'wait for it')}": found.queued,
    }
    said = ", ".join(word for word, is_known in words.items() if is_known)
    return f"{said[0].upper()}{said[1:]}." if said else ""


def model_headline(found: ModelStatus) -> str:
    """Return which model is used, as a sentence."""
    if not found.model:
        return "No model is asked: answers come from the records."
    state = (
        "in memory, and answers at once" if found.state == "ready" else "cold: it is loaded when it is asked first"
    )
    return f"{found.model} is asked, {found.mode}; it is {state}."


def server_words(found: ModelStatus) -> str:
    """Return the server, and whether it responds."""
    if found.look.trouble is not None:
        return found.look.trouble.message
    if not (found.look.version or found.look.models):
        return found.chosen_step.reason
    address = found.look.address
    return f"{name_server(address)} {found.look.version}".strip() + f" at {shorten_address(address)}"


def model_status_lines(found: ModelStatus) -> list[str]:
    """Return the status of the model in lines: the choice, the server, and the available models."""
    lines = [model_headline(found), server_words(found), ""]
    width = max(len(step.who) for step in found.steps)
    for step in found.steps:
        lines.append(f"{'✓' if step.taken else '·'} {step.who:<{width}}  {f'{step.reason} {step.next}'.strip()}")
    if found.look.models:
        widest = max(len(one.name) for one in found.look.models)
        lines.append("")
        for one in found.look.models:
            lines.append(f"{'●' if one.name == found.model else '○'} {one.name:<{widest}}  {model_words(one)}")
    if lacks_ollama(found):
        lines += ["", *(f"{name:<8}{line}" for name, line in install_steps()), "", WORKS_WITHOUT_MODEL]
    return [visible(line) for line in lines]


def model_words(one: InstalledModel) -> str:
    """Describe a model in a few words."""
    words = [format_bytes(one.size) if one.size else "", f"{one.parameters} {one.quantization}".strip()]
    if one.remote:
        words.append("runs on other machines: no text is sent there")
    elif not one.can_chat:
        words.append("for vectors only")
    elif one.loaded:
        words.append("in memory")
    return "  ".join(filter(None, words))


def lacks_ollama(found: ModelStatus) -> bool:
    """Return whether no Ollama was found on this machine, where it was looked for."""
    address = found.look.address
    absent = found.look.trouble is not None and found.look.trouble.kind == "absent"
    return absent and get_host_name(address) in LOCAL_HOSTS and not is_openai_server(address)


def install_steps() -> tuple[tuple[str, str], ...]:
    """Return (where to run it, the command) for each step that installs or starts Ollama on this machine."""
    if which("ollama"):
        return (("Start it", "ollama serve"),)
    return INSTALL_OLLAMA[::-1] if sys.platform == "darwin" else INSTALL_OLLAMA


def _status_json(found: ModelStatus) -> dict[str, object]:
    """Return the status of the model for scripts."""
    trouble = found.look.trouble
    return {
        "model": found.model or None,
        "state": found.state,
        "mode": found.mode,
        "address": found.look.address,
        "version": found.look.version or None,
        "trouble": trouble and select_fields(trouble, "kind", "message", "next"),
        "order": [step._asdict() for step in found.steps],
        "installed": [
            select_fields(one, "name", "size", "parameters", "quantization", "loaded") for one in found.look.models
        ],
    }


# pull


def _pull_model(call: Call, name: str) -> Outcome:
    """Fetch a model, the usual one if none is named; show how far it is on one line of a terminal, else in a line now
    and then."""
    name = name or USUAL_MODEL
    pace, started, total, percent = RateMeter(), monotonic(), 0, -PROGRESS_PERCENT
    status, moment = "", -PROGRESS_SECONDS  # shown last
    with Interrupt() as interrupt:
        address = get_server_address(read_config(call.location))
        with closing(ModelPuller(address, lambda: interrupt.asked)) as puller:
            try:
                for far in puller.pull(name):
                    pace.add_report(far.done, far.total)
                    total = far.total or total
                    now = 100 * far.done // far.total if far.total else 0
                    if sys.stderr.isatty():
                        if monotonic() - moment >= PROGRESS_SECONDS:
                            call.wait(pull_words(far, pace))
                            moment = monotonic()
                    elif now >= percent + PROGRESS_PERCENT or (not far.total and far.status != status):
                        print(visible(f"{name}: {pull_words(far, pace, 0)}"), flush=True, file=sys.stderr)
                        status, percent = far.status, now
            except ModelFailed:
                if not interrupt.asked:
                    raise
                raise ModelFailed(
                    "stopped", f"{name} is not there yet.", "Run again, it continues where it stopped."
                ) from None
    return Outcome(
        f"{name} is there: {format_bytes(total)}, in {format_seconds(monotonic() - started)}.",
        lambda: {"pulled": name, "size": total},
    )


def pull_words(far: PullResult, pace: RateMeter, cells: int = PULL_BAR_CELLS) -> str:
    """Format progress as `▇▇▇▇░░░░ 41 %  812 MB of 1.9 GB  12 MB/s  1 min 35 s left`; without a total, as the current
    step."""
    if not far.total:
        return far.status
    words = [f"{100 * far.done // far.total:>3} %", f"{format_bytes(far.done)} of {format_bytes(far.total)}"]
    if far.done == far.total:
        words.append(far.status)
    if pace.rate:
        words.append(f"{format_bytes(pace.rate)}/s")
    if pace.seconds_left:
        words.append(f"{format_seconds(pace.seconds_left)} left")
    filled = cells * far.done // far.total
    bar = f"{'▇' * filled}{'░' * (cells - filled)} " if cells else ""
    return bar + "  ".join(words)


# trial


def _test_model(call: Call, name: str) -> Outcome:
    config = read_config(call.location)
    tried = probe_model(config, read_model_status(config), name)
    data = {
        **select_fields(tried, "model", "answer", "tokens"),
        "seconds": round(tried.seconds, 3),
        "loading": round(tried.loading, 3),
        "cold": tried.is_cold,
        "per_second": tried.rate and round(tried.rate, 1),
    }
    return Outcome(lines=[visible(line) for line in trial_lines(tried)], data=lambda: data)


def _try_model(call: Call, name: str) -> Outcome:
    """Ask the model ten built-in questions, and report how many answers were right and the time of each. Where ^C
    stops it, report on the questions that were answered. Raise ModelFailed."""
    config, every, found = read_config(call.location), count_trial_questions(), list[TrialResult]()
    with Interrupt() as interrupt, closing(open_named_model(config, name, lambda: interrupt.asked)) as chat:
        try:
            results = run_trial(chat, float(config["agent.patience"]))
            while len(found) < every:
                call.wait(f"{chat.name} answers {len(found) + 1} of {every} …  {STOP_HINT}")
                found.append(next(results))
        except ModelFailed:
            if not (found and interrupt.asked):
                raise
    right = sum(one.right for one in found)
    spent = sum(one.seconds for one in found)
    lines = [f"{'right' if one.right else 'wrong':6}{one.seconds:6.1f} s  {one.question}" for one in found]
    left = f"; stopped before the other {every - len(found)}" if len(found) < every else ""
    lines.append(f"{chat.name}: {right} of {len(found)} right, {format_seconds(spent / len(found))} each{left}.")
    data = {
        "model": chat.name,
        "right": right,
        "asked": len(found),
        "of": every,
        "seconds": round(spent, 3),
        "questions": [one._asdict() for one in found],
    }
    status = ExitStatus.UNFINISHED if len(found) < every else ExitStatus.DONE
    return Outcome(lines=[visible(line) for line in lines], data=lambda: data, status=status)


def trial_lines(tried: ProbeResult) -> list[str]:
    """Format the result of a trial: its duration, the model's speed, and its answer."""
    rate = f", {tried.rate:.0f} a second" if tried.rate else ""
    lines = [
        f"{tried.model} answers: {format_count(tried.tokens, 'token')} in {format_seconds(tried.seconds)}{rate}."
    ]
    if tried.is_cold:
        took = f"It was cold, and took {format_seconds(tried.loading)} of that to be loaded"
        lines.append(f"{took}; the next answers come at once.")
    return [*lines, f"“{tried.answer}”"]


# calls


def _list_calls(call: Call, name: str) -> Outcome:
    """List the calls of the last day, or show a single call in full."""
    if not os.path.lexists(call.location.path):
        return Outcome(NO_CALLS, list)
    with Memory(call.location, "cli", create=False) as memory:
        now = memory.now
        found = list_recent_calls(memory.database, now)
    if name:
        found = [one for one in found if str(one.id) == name]
        if not found:
            raise NotFound(
                f"There is no call {visible(name[:20])}.",
                "memoranda config model calls lists those of the last day.",
            )
        lines = model_call_lines(found[0], now)
    else:
        lines = [
            f"{one.id:>4}  {one.task:<16}  {format_how_long_ago(now, one.at):<10}  "
            f"{format_seconds(one.seconds):>7}  {call_outcome(one)}"
            for one in found
        ] or [NO_CALLS]
    return Outcome(lines=[visible(line) for line in lines], data=lambda: [one._asdict() for one in found])


def model_call_lines(call: LoggedCall, now: str) -> list[str]:
    """Format a call whole."""
    lines = [f"{call.task}, {call.model}, {format_how_long_ago(now, call.at)}, {format_seconds(call.seconds)}"]
    lines += [f"Dropped: {call.dropped}"] if call.dropped else []
    lines += [f"Used instead: {call.fallback}."] if call.fallback else []
    return [*lines, "", *(call.answer.splitlines() or ["No answer came."])]


def call_outcome(call: LoggedCall) -> str:
    """Return in a few words what became of the answer of a call."""
    if call.fallback and call.dropped:
        return f"{call.dropped.rstrip('.')}; instead: {call.fallback}"
    if call.fallback:
        return f"instead: {call.fallback}"
    return call.dropped or "used"


# choice


def _use_model(call: Call, name: str) -> Outcome:
    """Choose the model that is asked."""
    if not name:
        raise InvalidInput(
            "Which model?", "memoranda config model use NAME, as memoranda config model lists them; auto is none."
        )
    return _put_setting(call, "agent.model", "" if name == "auto" else name)


def _put_setting(call: Call, setting: str, value: str) -> Outcome:
    """Write a setting to the user's own file, and report its effect."""
    write_setting(user_settings_path(), setting, value)
    config = read_config(call.location)
    found = read_model_status(config)
    said = choice_effect(config, found, setting, value)
    return Outcome(
        said, lambda: {"name": setting, "value": value, "written": user_settings_path(), **_status_json(found)}
    )


def choice_effect(config: Config, found: ModelStatus, setting: str, value: str) -> str:
    """Report the effect of a choice in a sentence."""
    now = config.find_value(setting)
    if now is not None and now.value != value:
        said = now.value or "nothing"
        return f"{setting} is {value or 'empty'} in your file, but {now.path} says {said}, which counts here."
    if setting == "agent.mode":
        return f"The agent's model is {value} now: {MODEL_MODES[value]}."
    if found.model == value or not (value or found.look.trouble):
        return model_headline(found)
    first = found.steps[0] if found.steps[0].taken else found.steps[min(1, len(found.steps) - 1)]
    why = found.look.trouble.message if found.look.trouble is not None else f"{first.reason} {first.next}".strip()
    return f"agent.model is {value or 'empty'} now. {why} {model_headline(found)}"
