"""Two themes of high contrast: black and white, with colours that stand out on them."""

from textual.theme import Theme

HIGH_CONTRAST = (
    Theme(
        name="high-contrast-dark",
        primary="#6cb6ff",
        secondary="#d2a8ff",
        accent="#ffd33d",
        foreground="#ffffff",
        background="#000000",
        surface="#000000",
        panel="#101010",
        success="#56d364",
        warning="#ffb454",
        error="#ff8a80",
        dark=True,
    ),
    Theme(
        name="high-contrast-light",
        primary="#003e8a",
        secondary="#54218f",
        accent="#6b3e00",
        foreground="#000000",
        background="#ffffff",
        surface="#ffffff",
        panel="#f0f0f0",
        success="#044f1e",
        warning="#6b3000",
        error="#8f0a14",
        dark=False,
    ),
)
LEAST = 7.0  # minimum contrast of their texts (WCAG 2.2, level AAA)
