"""What a query answers, where it is a frame: its rows, as data that can be stored and compared."""

from typing import Any

from auditor.neighbours.pair import plain


def rows_of(answer: Any) -> Any:
    """Return a frame of pandas, polars or Arrow as a list of rows, each a dict of plain values; any other answer as it is."""
    if hasattr(answer, "collect_schema") and hasattr(answer, "collect"):
        answer = answer.collect()
    if hasattr(answer, "to_dicts"):
        return plain(answer.to_dicts())
    if hasattr(answer, "to_pylist") and hasattr(answer, "schema"):
        return plain(answer.to_pylist())
    if hasattr(answer, "to_dict") and hasattr(answer, "columns"):
        return plain(answer.to_dict("records"))
    return answer


def are_rows(*answers: Any) -> bool:
    """Whether all answers are lists of rows, and at least one has a row."""
    lists = [answer for answer in answers if isinstance(answer, list) and all(isinstance(row, dict) for row in answer)]
    return len(lists) == len(answers) and any(lists)
