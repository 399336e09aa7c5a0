"""The exception that ends an attempt without a proof."""


class NotProvedError(Exception):
    """The attempt ends without a proof. ``reason`` says what the prover does not model, ``place`` the line that uses it."""

    def __init__(self, reason: str, place: str | None = None) -> None:
        super().__init__(reason)
        self.reason, self.place = reason, place

    def __str__(self) -> str:
        return f"{self.reason} ({self.place})" if self.place else self.reason
