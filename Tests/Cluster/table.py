"""The table that a run prints: each row says what was asked and what was seen."""

from dataclasses import dataclass


@dataclass
class Row:
    """A line of the table: passed, failed, or not checked if `passed` is None."""

    what: str
    asked: str
    seen: str
    passed: bool | None


def show(rows):
    widths = [max(len(getattr(row, field)) for row in rows) for field in ("what", "asked")]
    for row in rows:
        verdict = {True: "ok", False: "MISSED", None: "–"}[row.passed]
        print(f"{row.what:{widths[0]}}  {row.asked:{widths[1]}}  {row.seen}  {verdict}")
