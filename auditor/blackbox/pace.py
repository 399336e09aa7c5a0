"""How many batches are one task: so many that handing it out costs little, so few that workers share them to the end."""

from dataclasses import dataclass

# Seconds of a task; where there are many workers, so long that they do not come back for more than A_SECOND tasks a second.
TASK, A_SECOND = 0.25, 200
# Tasks asked for ahead, for each worker.
AHEAD = 3
# Threads are tried where each worker would have so many more tasks to do, and on a part of one: where they are no faster, that
# is time lost.
WORTH_TRYING, PART = 16, 4


@dataclass
class Pace:
    """What was measured of an audit's batches: seconds of one in a worker, and by threads that share a process.

    It decides when and where they are drawn, and nothing of what is drawn.
    """

    workers: int = 1
    worker: str = "worker"  # what each of them is, in words
    one_at_a_time: bool = False
    may_thread: bool = False
    seconds: float | None = None  # of a batch in one worker, while all are busy
    by_threads: float | None = None  # of a batch by one of many threads, from its end to that of the next

    def open(self, workers: int, worker: str, *, may_thread: bool = False, one_at_a_time: bool = False) -> None:
        """Begin with other batches, which may take longer or shorter than those before."""
        self.workers, self.worker, self.may_thread, self.one_at_a_time = workers, worker, may_thread, one_at_a_time
        self.seconds = self.by_threads = None

    @property
    def ahead(self) -> int:
        """How many tasks to ask for before the first is answered."""
        return AHEAD * self.workers

    @property
    def threads_are_faster(self) -> bool:
        """Whether threads were measured to do more in the same time than processes, one for each thread."""
        known = self.seconds is not None and self.by_threads is not None
        return known and self.by_threads < self.seconds / self.workers  # type: ignore[operator]

    def next_task(self, left: int) -> tuple[int, int]:
        """Return how many of the batches left are the next task, and how many threads share it."""
        if self.seconds is None or self.one_at_a_time:
            return 1, 1
        length = max(TASK, self.workers / A_SECOND)
        if self.threads_are_faster:
            return min(left, max(1, int(length / (self.by_threads or length)))), self.workers
        fair = left if self.workers == 1 else max(1, left // (2 * self.workers))
        many = max(1, min(fair, int(length / max(self.seconds, 1e-9))))
        full = many * self.seconds > length / 2
        if self.may_thread and full and left >= WORTH_TRYING * self.workers * many:
            self.may_thread = False  # once
            return max(1, many // PART) * self.workers, self.workers
        return many, 1

    def expected(self, many: int, threads: int) -> float | None:
        """Return the seconds that a task is likely to take; None where that is not known."""
        batch = self.seconds if threads == 1 else self.by_threads
        return None if batch is None else many * batch

    def told(self) -> str:
        """Say who draws, and what was measured where there was a choice.

        >>> pace = Pace(2, "process", seconds=0.002, by_threads=0.00125)
        >>> pace.told()
        '2 processes (2 threads of one drew 0.80 times as fast)'
        """
        many = self.worker + ("es" if self.worker.endswith("s") else "s")
        told = f"{self.workers} {many if self.workers > 1 else self.worker}"
        if self.seconds is None or self.by_threads is None:
            return told
        rate = self.seconds / self.workers / self.by_threads
        if self.threads_are_faster:
            return f"{self.workers} threads of one process ({rate:.2f} times as fast as {told})"
        return f"{told} ({self.workers} threads of one drew {rate:.2f} times as fast)"

    def note(self, many: int, seconds: float, threads: int = 1) -> None:
        """Enter how long a task of so many batches took."""
        if threads == 1:
            self.seconds = seconds / many
        else:
            self.by_threads = seconds / many
