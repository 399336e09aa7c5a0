"""Moves of a person in a list of records: one is added, removed or replaced at a place."""

from dataclasses import dataclass

from auditor.neighbours.record_alignment import Record


@dataclass(frozen=True, slots=True)
class Move:
    """One person's change: ``op`` at the place that is ``at`` of the way through the data set."""

    op: str  # insert | remove | replace
    at: float
    record: Record = None


def moved_by(base: tuple[Record, ...], moves: tuple[Move, ...]) -> tuple[Record, ...] | None:
    """Return the records after the moves; None if there is no record to move."""
    moved = list(base)
    for i, move in enumerate(moves):
        if move.op == "insert":
            moved.insert(round(move.at * len(moved)), move.record)
            continue
        if not moved:
            return None
        # Replacements at one place move on, one place each. So they change several records.
        place = (min(int(move.at * len(moved)), len(moved) - 1) + i) % len(moved)
        if move.op == "remove":
            del moved[place]
        else:
            moved[place] = move.record
    return tuple(moved)
