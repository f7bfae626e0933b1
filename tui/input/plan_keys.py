"""The keys of the screens that show a plan first: a restore, what changed, a purge."""

from tui.input.key import Key

PLAN = "plan"
PLAN_KEYS = (
    Key("plan.apply", "enter", "apply", "apply", "Apply what is chosen", panes=(PLAN,)),
    Key("plan.choose", "space,x", "choose", "choose", "Choose the record, or leave it as it is", panes=(PLAN,)),
    Key("plan.all", "ctrl+a,a", "all", "all, none", "Choose all that can be chosen, or none", panes=(PLAN,)),
    Key(
        "plan.kind", "d", "kind", "one kind", "Choose only decisions, only facts, links, tasks; then all", panes=(PLAN,)
    ),
    Key("plan.strategy", "s", "strategy", "strategy", "Replace, keep what you changed, or only add", panes=(PLAN,)),
    Key("plan.leave", "escape,q", "leave", "leave", "Leave; nothing is changed", panes=(PLAN,)),
    Key("plan.down", "J", "scroll_preview(1)", "", "Scroll the preview down"),
    Key("plan.up", "K", "scroll_preview(-1)", "", "Scroll the preview up"),
)
LOOKING_KEYS = (
    Key("since.open", "enter", "apply", "open the record", "Open the record", panes=(PLAN,)),
    *(key for key in PLAN_KEYS if key.id in ("plan.leave", "plan.down", "plan.up")),
)
PURGE_KEYS = (
    Key("purge.apply", "enter", "apply", "erase", "Erase what is shown; this cannot be undone", panes=(PLAN,)),
    Key("purge.choose", "space,x", "choose", "erase here too", "Erase here too, or leave it", panes=(PLAN,)),
    Key("purge.all", "ctrl+a,a", "all", "all, none", "Erase in all places, or none", panes=(PLAN,)),
    *(key for key in PLAN_KEYS if key.id in ("plan.leave", "plan.down", "plan.up")),
)
