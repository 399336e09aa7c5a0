"""How an attempt at a proof ends without one."""


class NotProvedError(Exception):
    """The end of an attempt: what the evaluator does not model, in words. ``place`` is the line that asked for it."""

    def __init__(self, reason: str, place: str | None = None) -> None:
        super().__init__(reason)
        self.reason, self.place = reason, place

    def __str__(self) -> str:
        return f"{self.reason} ({self.place})" if self.place else self.reason
