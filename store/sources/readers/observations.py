"""Notes with observations, `- [category] text #tag (context)`, as basic-memory writes them, also into OKF bundles."""

import re
from collections.abc import Iterator

from store.sources.files import modified, read_text, text_of
from store.sources.markdown_text import Bullet, bullets, front_matter, prose, tags_of
from store.sources.moments import utc
from store.sources.source import Found, FoundDecision, FoundDocument, FoundMemory, Trouble

OBSERVATION = re.compile(r"\[(?P<category>[^\[\]()]{2,60})\]\s+(?P<text>\S.*)", re.DOTALL)
_CONTEXT = re.compile(r"(?<!\s)\s+\([^()]*\)$")
_WORD = re.compile(r"\S+")
_TAG = re.compile(r"#([^#]+)")
_NO_TAG = re.compile(r"(?<!\S)\\#")
_RELATION = re.compile(r"\w[\w-]{0,60}(?: [\w-]{1,60}){0,8} (?:\[\[[^\]]+\]\]|\[[^\]]+\]\([^)]+\))(?:\s+\([^()]*\))?")
DOMAINS = {"preference": "preferences", "decision": "decisions", "person": "personal"}


def note(path: str, troubles: list[Trouble], plain_bullets: bool = False) -> Iterator[Found]:
    """Yield what a note holds: a note of type `decision` is one decision, of any other its observations are facts, and
    its prose is a document. With `plain_bullets` other bullets are facts too."""
    text = read_text(path, troubles)
    if text is None:
        return
    head, body, above = front_matter(text)
    if text_of(head.get("status")) == "deprecated":
        return
    dated = (utc(text_of(head.get(name))) for name in ("created", "created_at", "date"))
    created = next(filter(None, dated), "") or modified(path)
    title, tags = text_of(head.get("title")), tags_of(head.get("tags"))
    paragraphs = prose(body)
    several = list(bullets(body, above + 1))
    observed = [(bullet, found) for bullet in several if (found := OBSERVATION.fullmatch(bullet.text))]
    if text_of(head.get("type")) == "decision" and title:
        first = above + 1
        by: dict[str, list[str]] = {}
        for _, found in observed:
            said, marks = parted(found["text"])
            by.setdefault(found["category"].lower(), []).append(said)
            tags = tuple(dict.fromkeys((*tags, *marks)))
        chosen = "\n".join(by.pop("decision", [])) or (paragraphs.pop(0) if paragraphs else title)
        alternatives = tuple(by.pop("alternative", []))
        why = by.pop("rationale", [])
        rest = [f"{category}: {one}" for category, several in by.items() for one in several]
        yield FoundMemory(
            text=title,
            path=path,
            line=first,
            last=first + body.rstrip("\n").count("\n"),
            created=created,
            tags=tags,
            domain="decisions",
            decision=FoundDecision(chosen, alternatives, "\n\n".join([*paragraphs, *why, *rest])),
        )
        return
    for bullet, found in observed:
        category = found["category"].lower()
        said, marks = parted(found["text"])
        yield _fact(said, bullet, path, created, marks, DOMAINS.get(category, "general"))
    if plain_bullets:
        seen = {bullet.line for bullet, _ in observed}
        for bullet in several:
            if bullet.line not in seen and not _RELATION.fullmatch(bullet.text):
                said, marks = parted(bullet.text)
                yield _fact(said, bullet, path, created, marks, "general")
    if paragraphs:
        yield FoundDocument(path, body.strip())


def _fact(text: str, bullet: Bullet, path: str, created: str, tags: tuple[str, ...], domain: str) -> FoundMemory:
    return FoundMemory(
        text=text, path=path, line=bullet.line, last=bullet.last, created=created, tags=tags, domain=domain
    )


def parted(text: str) -> tuple[str, tuple[str, ...]]:
    """Return an observation's text and its tags, without the context at its end; `\\#` is no tag."""
    said = _CONTEXT.sub("", text.strip()) if "\n" not in text else text.strip()
    words = list(_WORD.finditer(said))
    tags: list[str] = []
    while len(words) > 1 and (found := _TAG.fullmatch(words[-1][0])):
        tags.append(found[1])
        words.pop()
    return _NO_TAG.sub("#", said[: words[-1].end()] if tags else text.strip()), tuple(reversed(tags))
