"""The numbers of the search, in one place: a benchmark can sweep them, and nothing else decides what a search spends on what."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SearchTuning:
    """How a race spends its outputs.

    A race that has B outputs gives at most ``of_sources`` of them to its sources, in proportion to their shares, and all that
    is left to successive halving. A look of fewer than ``look`` outputs ranks pairs mostly by noise; even ``first_look``
    outputs show a gross violation, the commonest kind of output, and whether the order of records matters.
    """

    # --- What is looked for ---
    # A search with fewer outputs is left out.
    least_outputs: int = 256
    # A claim whose total variation exceeds that of ``far_claim``-DP does not say how large a loss to look for. The search then
    # looks for ``least_loss`` (ε or μ) or more: what the looks show, less ``caution`` standard errors, since the largest of many
    # is lucky.
    far_claim: float = 3.0
    least_loss: float = 0.1
    caution: float = 3.0
    # The worth of a bound once the claim is refuted, where a certain refutation is worth 1.
    worth_if_refuted: float = 10.0
    # A path is preferred to neighbours whose utility is less, since evidence at a distance is much stronger.
    likely: float = 0.5
    # The worth of a bound as large as the claim where rules on several pairs were learned, whose losses are known better.
    worth_if_learned: float = 0.25
    # The runner-up is learned on as well if its utility has this share of the best one's.
    runner_up: float = 0.3

    # --- Looks ---
    first_look: int = 16
    look: int = 48

    # --- Sources ---
    of_sources: float = 0.6
    # With the same noise on both sides: outputs of a side that compare many pairs, and those that compare the best again.
    size: int = 2
    again: int = 16
    # Shares of this source's outputs: for many pairs, for pairs near the best, to compare the best again. The rest is for looks.
    of_many: float = 0.45
    of_near: float = 0.15
    of_again: float = 0.12
    most_compared: int = 2_000
    climbs: int = 3
    near_each: int = 4
    # At most ``most_proposed`` pairs are proposed; only the first ``alike`` of those with the same distance, since the simplest
    # come first. Distances up to ``rounding`` come from rounding.
    most_proposed: int = 24
    alike: int = 4
    rounding: float = 1e-6
    # If outputs with the same noise rank pairs, at most ``most_others`` corners, crowds and random pairs are looked at, or one
    # for each ``each_of_others`` outputs if that is more.
    most_others: int = 72
    each_of_others: int = 128
    # At most so many times the crowds that are looked at are made.
    crowds_made: int = 8
    # The most other orders of the same records.
    orders: int = 64
    # A value that is no number is the kind of its column if it has more than this share of such values. A vote for one of three
    # names has hundreds of pairs on which another name happens to be the commonest of eight.
    clear: float = 0.75
    # The most edges at which the kind of output changes.
    most_edges: int = 4
    # Data sets at a distance: at most so many paths, of at most so many moves.
    most_paths: int = 96
    most_steps: int = 101

    # --- Halving ---
    # The last rung compares ``finalists`` pairs, and each rung before twice as many, up to ``most_rungs`` rungs.
    finalists: int = 3
    most_rungs: int = 7
    # In each rung but the last, this share of the pairs is new: near the best ones.
    near_share: float = 0.25
    # The same once the claim is refuted, when a race only climbs to a larger bound. With 0.25, quantiles without their factor ½, of
    # ε = 2, had ε ≥ 1.3 at 5, 7, 8 and 10 of 10 seeds in four settings; with 0.75 at 10, 9, 9 and 10.
    near_share_if_refuted: float = 0.75

    # --- Replays with a planted fault ---
    # Outputs for a fault are taken from one of ``takes`` places, and it competes with the ``most_kept`` best looks of the search.
    takes: int = 3
    most_kept: int = 128
    # A fault is found as soon as a look reaches this utility, since further looks would lose it only by chance.
    certain: float = 0.95

    # --- Behind a violation by an exception, a kind of output or a single value ---
    # The share of the outputs of an audit that another one gets, among pairs without it; the pairs that are looked at before,
    # whether there are any; and the most faults that are looked for.
    of_behind: float = 0.5
    looked_behind: int = 48
    most_further: int = 2


TUNING = SearchTuning()
