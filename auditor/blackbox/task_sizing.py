"""How many batches are one task: enough to make its overhead small, few enough to keep all workers busy to the end."""

from dataclasses import dataclass

# Seconds of a task, and the most tasks a second. Many workers have longer tasks.
TASK, A_SECOND = 0.25, 200
# Tasks that are queued for each worker.
AHEAD = 3


@dataclass
class Pace:
    """The measured seconds of an audit's batches.

    They decide when and where batches are drawn. They do not change the outputs.
    """

    workers: int = 1
    worker: str = "worker"  # what a worker is, in words
    seconds: float | None = None  # of a batch, while all workers are busy

    def open(self, workers: int, worker: str) -> None:
        """Forget the seconds, for batches that may take longer or shorter than those before."""
        self.workers, self.worker, self.seconds = workers, worker, None

    @property
    def ahead(self) -> int:
        """The most tasks that are queued at a time."""
        return AHEAD * self.workers

    def next_task(self, left: int) -> int:
        """Return how many of the remaining batches the next task draws."""
        if self.seconds is None:
            return 1
        fair = left if self.workers == 1 else max(1, left // (2 * self.workers))
        length = max(TASK, self.workers / A_SECOND)
        return max(1, min(fair, int(length / max(self.seconds, 1e-9))))

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
