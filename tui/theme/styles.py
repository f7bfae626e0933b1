"""The styles shared by lists and preview, in one table of the theme's tokens; and corrections of themes for
readability.

Not component classes: Textual recomputes the style of each at every change of a class or a size, for each widget; 85 of
them took a third of the time to first paint.

Colours of a theme are blended here, and shifted away from their background until readable. ANSI themes use the
terminal's colours, whose values are unknown: there dim text is the terminal's dim, and the cursor's row is reversed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from rich.style import Style
from textual.color import Color
from textual.theme import Theme

# Two themes of high contrast: black and white, with colours that stand out on them.

# token → its colour in the dark one, and in the light one
HIGH_CONTRAST_COLORS: dict[str, tuple[Any, Any]] = {
    "primary": ("#6cb6ff", "#003e8a"),
    "secondary": ("#d2a8ff", "#54218f"),
    "accent": ("#ffd33d", "#6b3e00"),
    "foreground": ("#ffffff", "#000000"),
    "background": ("#000000", "#ffffff"),
    "surface": ("#000000", "#ffffff"),
    "panel": ("#101010", "#f0f0f0"),
    "success": ("#56d364", "#044f1e"),
    "warning": ("#ffb454", "#6b3000"),
    "error": ("#ff8a80", "#8f0a14"),
    "dark": (True, False),
}
HIGH_CONTRAST = tuple(
    Theme(f"high-contrast-{name}", **{token: both[place] for token, both in HIGH_CONTRAST_COLORS.items()})
    for place, name in enumerate(("dark", "light"))
)
# minimum contrast of their texts (WCAG 2.2, level AAA)
LEAST_CONTRAST = 7.0


# minimum contrast of every style (WCAG 2.2)
READABLE_CONTRAST = 4.5
# prefix of the terminal's colours
OWN_COLORS = "ansi_"
# tokens that text is written in, and their backgrounds
PANE_TOKENS = ("background", "surface", "panel")
TEXT_TOKENS = {
    **dict.fromkeys(("foreground", "text-primary", "text-secondary", "text-accent"), PANE_TOKENS),
    **dict.fromkeys(("text-success", "text-warning", "text-error"), PANE_TOKENS),
    **dict.fromkeys(("footer-key-foreground", "footer-description-foreground"), ("footer-background",)),
}
# makes Textual's own widgets distinguishable in an ANSI theme, and without colours
OWN_COLOR_VARIABLES = {
    "dim": "ansi_default dim", "dim-colour": "ansi_default", "line": "ansi_default",
    "dim-text": "dim", "input-cursor-background": "ansi_default", "input-cursor-foreground": "ansi_default",
    "input-cursor-text-style": "reverse", "block-cursor-background": "ansi_default",
    "block-cursor-foreground": "ansi_default", "block-cursor-text-style": "bold reverse",
    "block-cursor-blurred-background": "ansi_default", "block-cursor-blurred-foreground": "ansi_default",
    "block-cursor-blurred-text-style": "reverse", "border-blurred": "ansi_default", "text-muted": "ansi_default",
    "text-disabled": "ansi_default", "foreground-muted": "ansi_default", "scrollbar-background": "ansi_default",
    "scrollbar-background-hover": "ansi_default", "scrollbar-background-active": "ansi_default",
    "ansi-background": "ansi_default", "ansi-foreground": "ansi_default",
}  # fmt: skip


@dataclass(slots=True, eq=False)
class Look:
    """A colour and a background, as `token` or `token 60%` of the theme, and a text style; empty if unchanged. `plain`
    is the text style to use instead with the terminal's own colours, if it is another one."""

    colour: str = ""
    text: str = ""
    ground: str = ""
    plain: str | None = None


DIM = Look("foreground 60%", plain="dim")
LOOKS = {
    "title": Look(text="bold"),
    "own": Look("text-accent", "bold"),
    "heading": Look("text-secondary", "bold"),
    "label": DIM,
    "dim": DIM,
    "rule": Look("foreground 35%", plain="dim"),
    "accent": Look("text-accent"),
    "chip": Look("text-accent", plain="reverse"),
    "cite": Look("text-accent", "underline"),
    "selected": Look("text-accent", "underline reverse"),
    "match": Look(text="underline"),
    "added": Look("text-success"),
    "removed": Look("text-error"),
    "hunk": Look("text-primary"),
    "code": Look("text-primary"),
    "warning": Look("text-warning"),
    "glyph-fresh": Look("text-success"),
    "glyph-pinned": Look("text-secondary"),
    "glyph-aging": Look("text-warning"),
    "glyph-low": Look("text-warning"),
    "glyph-stale": Look("text-error", "bold"),
    "glyph-proposed": Look("text-accent"),
    **dict.fromkeys(("glyph-gone", "glyph-superseded", "glyph-contradicted", "glyph-forgotten"), DIM),
    "glyph-record": Look("text-primary"),
    "evidence-holds": Look("text-success"),
    "evidence-moved": Look("text-warning"),
    "evidence-changed": Look("text-error"),
    "evidence-gone": Look("text-error", "bold"),
    "evidence-unseen": DIM,
    # styles of whole rows
    "marked": Look("text-accent", "bold"),
    "cursor": Look(text="bold", ground="primary-muted", plain="bold reverse"),
    "cursor-blurred": Look(ground="foreground 10%"),
    "flash": Look(ground="warning-muted", plain="underline"),
}


def read_css(module: str) -> str:
    """Return the style sheet beside a module, which passes its `__file__`."""
    return Path(module).with_suffix(".tcss").read_text("utf-8")


def piece_style(name: str) -> str:
    """Return a look as the style of a piece of a bar."""
    look = LOOKS[name]
    colour, _, share = look.colour.partition(" ")
    return f"{'$dim' if share else f'${colour}' if colour else ''} {look.text}".strip()


def combine_looks(names: Iterable[str], variables: Mapping[str, str], ground: Color, colour: Color) -> Style:
    """Combine the looks `names`, later ones over earlier ones, on a widget's background and colour; ignore unknown
    names. `variables` are the theme's. Transparent colours are blended here with what is below."""
    looks = [LOOKS[name] for name in names if name in LOOKS]
    if variables["foreground"].startswith(OWN_COLORS):
        return _combine_in_own_colors(looks, variables)
    for look in looks:
        if look.ground:
            ground += _theme_color(look.ground, variables)
        if look.colour:
            colour = _theme_color(look.colour, variables)
    front = readable_color(ground + colour, (ground,), READABLE_CONTRAST)
    text = Style.parse(" ".join(look.text for look in looks))
    return Style.from_color(front.rich_color, ground.rich_color) + text


def _combine_in_own_colors(looks: Sequence[Look], variables: Mapping[str, str]) -> Style:
    """Combine looks in the terminal's own colors."""
    tokens = [look.colour.partition(" ")[0] for look in looks if look.colour]
    text = Style.parse(" ".join(look.text if look.plain is None else look.plain for look in looks))
    if text.reverse and text.dim:
        # dim text is unreadable on a background
        text += Style(dim=False)
    default = Color.parse("ansi_default")
    # on a reversed row a colour would become a background
    front = default if text.reverse or not tokens else Color.parse(variables[tokens[-1]])
    return Style.from_color(front.rich_color, default.rich_color) + text


def _theme_color(spec: str, variables: Mapping[str, str]) -> Color:
    """Return the color of a token of the theme, with its share as transparency."""
    token, _, share = spec.partition(" ")
    colour = Color.parse(variables[token])
    return colour.with_alpha(int(share.rstrip("%")) / 100) if share else colour


@lru_cache(1024)
def readable_color(colour: Color, grounds: tuple[Color, ...], least: float) -> Color:
    """Return `colour`, moved towards white or black as little as gives it a contrast of `least` to each of the
    backgrounds."""
    if all(contrast(colour, ground) >= least for ground in grounds):
        return colour
    ends = [Color(255, 255, 255), Color(0, 0, 0)]
    end = max(ends, key=lambda end: min(contrast(end, ground) for ground in grounds))
    for step in range(1, 20):
        nearer = colour.blend(end, step / 20, alpha=1)
        if all(contrast(nearer, ground) >= least for ground in grounds):
            return nearer
    return end


def contrast(one: Color, other: Color) -> float:
    """Return the contrast of two opaque colours, from 1 to 21, as WCAG defines it."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: Color) -> float:
    """Return the relative luminance of a color, as WCAG defines it."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


_corrected: dict[str, dict[str, str]] = {}


def readable_colors(theme: str, variables: Mapping[str, str]) -> dict[str, str]:
    """Return a theme's variables corrected for readability, with our own: `dim` text, the `line`s between panes;
    `dim-colour` and `dim-text` are the two parts of `dim`, for CSS.

    Cached, since Textual asks several times at a start."""
    if theme not in _corrected:
        _corrected[theme] = _correct_colors(variables)
    return _corrected[theme]


def _correct_colors(variables: Mapping[str, str]) -> dict[str, str]:
    """Correct the variables of a theme so that every text is readable."""
    if variables["foreground"].startswith(OWN_COLORS):
        return {**variables, **OWN_COLOR_VARIABLES}
    back = Color.parse(variables["background"])

    def grounds(names: tuple[str, ...]) -> tuple[Color, ...]:
        return tuple(back + Color.parse(variables[name]) for name in names)

    new = {
        name: readable_color(back + Color.parse(variables[name]), grounds(on), READABLE_CONTRAST).hex
        for name, on in TEXT_TOKENS.items()
    }
    front = Color.parse(new["foreground"])
    dim = readable_color(back.blend(front, 0.6, alpha=1), grounds(PANE_TOKENS), READABLE_CONTRAST).hex
    line = back.blend(front, 0.2, alpha=1).hex
    return {**variables, **new, "dim": dim, "dim-colour": dim, "dim-text": "none", "line": line}
