"""How many batches are one task: enough that handing it out costs little, and few enough that workers share them to the end."""

from dataclasses import dataclass

# Seconds of a task; longer where there are many workers, which then come back for A_SECOND tasks a second at most.
TASK, A_SECOND = 0.25, 200
# Tasks that are queued for each worker.
AHEAD = 3


@dataclass
class Pace:
    """What was measured of an audit's batches: seconds of one in a worker.

    It decides when and where they are drawn, and nothing of what is drawn.
    """

    workers: int = 1
    worker: str = "worker"  # what each of them is, in words
    one_at_a_time: bool = False
    seconds: float | None = None  # of a batch, while all workers are busy

    def open(self, workers: int, worker: str, *, one_at_a_time: bool = False) -> None:
        """Begin with other batches, which may take longer or shorter than those before."""
        self.workers, self.worker, self.one_at_a_time, self.seconds = workers, worker, one_at_a_time, None

    @property
    def ahead(self) -> int:
        """How many tasks are queued before the first is answered."""
        return AHEAD * self.workers

    def next_task(self, left: int) -> int:
        """Return how many of the batches left are the next task."""
        if self.seconds is None or self.one_at_a_time:
            return 1
        fair = left if self.workers == 1 else max(1, left // (2 * self.workers))
        length = max(TASK, self.workers / A_SECOND)
        return max(1, min(fair, int(length / max(self.seconds, 1e-9))))

    def expected(self, batches: int) -> float | None:
        """Return the seconds that a task is likely to take; None where that is not known."""
        return None if self.seconds is None else batches * self.seconds

    def drawn_by(self) -> str:
        """Say who draws.

        >>> Pace(2, "process").drawn_by()
        '2 processes'
        """
        if self.workers == 1:
            return f"1 {self.worker}"
        return f"{self.workers} {self.worker}{'es' if self.worker.endswith('s') else 's'}"

    def note(self, batches: int, seconds: float) -> None:
        """Enter how long a task took."""
        self.seconds = seconds / batches
