"""The looks that the lists and the preview share: one table, in the theme's own tokens.

Not component classes: Textual works the style of each of them out again at every change of a class or a size, for each
widget; 85 of them took a third of the time to first paint.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.style import Style
from textual.color import Color


class Look:
    """A colour and a ground, as `token` or `token 60%` of the theme, and a text style; empty where nothing changes."""

    __slots__ = ("colour", "ground", "text")

    def __init__(self, colour: str = "", text: str = "", ground: str = "") -> None:
        self.colour = colour
        self.text = text
        self.ground = ground


LOOKS = {
    "title": Look(text="bold"),
    "own": Look("text-accent", "bold"),
    "heading": Look("text-secondary", "bold"),
    "label": Look("foreground 60%"),
    "dim": Look("foreground 60%"),
    "rule": Look("foreground 35%"),
    "accent": Look("text-accent"),
    "cite": Look("text-accent", "underline"),
    "selected": Look("text-accent", "underline reverse"),
    "match": Look(text="underline"),
    "added": Look("text-success"),
    "removed": Look("text-error"),
    "hunk": Look("text-primary"),
    "warning": Look("text-warning"),
    "glyph-fresh": Look("text-success"),
    "glyph-pinned": Look("text-success"),
    "glyph-aging": Look("text-warning"),
    "glyph-low": Look("foreground 60%"),
    "glyph-stale": Look("text-error"),
    "glyph-proposed": Look("text-accent"),
    "glyph-gone": Look("foreground 35%"),
    "glyph-superseded": Look("foreground 45%"),
    "glyph-contradicted": Look("foreground 45%"),
    "glyph-forgotten": Look("foreground 45%"),
    "glyph-record": Look("text-primary"),
    # what a row is, whatever stands in it
    "marked": Look("text-accent", "bold"),
    "cursor": Look(text="bold", ground="primary-muted"),
    "cursor-blurred": Look(ground="foreground 10%"),
    "flash": Look(ground="warning-muted"),
}


def style(names: Iterable[str], variables: Mapping[str, str], ground: Color, colour: Color) -> Style:
    """The looks `names`, later ones over earlier ones, on a widget's own ground and colour; unknown names change
    nothing. `variables` are the theme's. Transparent colours are blended here, with what lies below."""
    text = Style()
    for name in names:
        look = LOOKS.get(name)
        if look is not None:
            if look.ground:
                ground += _colour(look.ground, variables)
            if look.colour:
                colour = _colour(look.colour, variables)
            if look.text:
                text += Style.parse(look.text)
    return Style.from_color((ground + colour).rich_color, ground.rich_color) + text


def _colour(spec: str, variables: Mapping[str, str]) -> Color:
    token, _, share = spec.partition(" ")
    colour = Color.parse(variables[token])
    return colour.with_alpha(int(share.rstrip("%")) / 100) if share else colour
