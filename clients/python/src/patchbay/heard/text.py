"""How much of a text was heard if its words have no times."""

from __future__ import annotations


def heard_words(text: str, fraction: float) -> str:
    """The words at the beginning of a text that end within a fraction of it, by characters.

    Args:
        text: what was said.
        fraction: how much of its audio was heard, 0 to 1.
    """
    if fraction >= 1:
        return text
    limit = fraction * len(text.strip())
    heard = ""
    for word in text.split():
        longer = f"{heard} {word}" if heard else word
        if len(longer) > limit:
            break
        heard = longer
    return heard
