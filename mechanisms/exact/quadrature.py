"""Adaptive Gauss-Kronrod quadrature over the whole real line, for a pair of log densities at once.

The line is cut into panels that are fine beside every breakpoint and grow geometrically away from it. Beyond
``reach`` the variable is bent so that two panels of finite width reach to infinity. Both log densities are kept at
every node, so that many integrals (many ε, many orders) share one set of evaluations. All errors here are
*estimates*, the difference between two rules; it is the error of the poorer one.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditor.errors import InvalidInputError
from mechanisms.exact.distributions import LogDensity, Reals

# The (7, 15) pair of Kronrod (1965), as in QUADPACK's qk15: nodes in (−1, 1), and the weights of both rules.
_HALF_NODES = [
    0.991455371120812639206854697526329,
    0.949107912342758524526189684047851,
    0.864864423359769072789712788640926,
    0.741531185599394439863864773280788,
    0.586087235467691130294144838258730,
    0.405845151377397166906606412076961,
    0.207784955007898467600689403773245,
]
_HALF_KRONROD = [
    0.022935322010529224963732008058970,
    0.063092092629978553290700663189204,
    0.104790010322250183839876322541518,
    0.140653259715525918745189590510238,
    0.169004726639267902826583426598550,
    0.190350578064785409913256402421014,
    0.204432940075298892414161999234649,
]
_HALF_GAUSS = [
    0.0,
    0.129484966168869693270611432679082,
    0.0,
    0.279705391489276667901467771423780,
    0.0,
    0.381830050505118944950369775488975,
    0.0,
]
NODES = np.array([-node for node in _HALF_NODES] + [0.0] + _HALF_NODES[::-1])
KRONROD = np.array([*_HALF_KRONROD, 0.209482141084727828012999174891714, *_HALF_KRONROD[::-1]])
GAUSS = np.array([*_HALF_GAUSS, 0.417959183673469387755102040816327, *_HALF_GAUSS[::-1]])

# Panels grow by GROWTH from GROWTH^−FINEST to GROWTH^COARSEST times the spacing of the breakpoints. A growth of 4
# keeps 15 nodes enough for any power law; 4^20 is a million million. At 4^−6 = 1/4096 and below, the edge of a peak a
# thousand times narrower is still visible, and halving reaches it.
GROWTH, FINEST, COARSEST = 4.0, 6, 20

# Halving a panel 60 times exhausts a double; more panels than this would take seconds.
ROUNDS, MOST_PANELS = 60, 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """Panels that cover the real line, and both log densities at their nodes.

    ``low`` and ``high`` (shape (panels,)) bound each panel in the bent variable; ``outputs``, ``measure``, ``left``
    and ``right`` (shape (panels, 15)) are the outputs at the nodes, dy for unit weight, and the log densities.
    """

    densities: tuple[LogDensity, LogDensity]
    reach: float
    low: Reals
    high: Reals
    outputs: Reals
    measure: Reals
    left: Reals
    right: Reals

    def split(self, chosen: NDArray[np.bool_]) -> "Mesh":
        """Return the mesh with the chosen panels halved."""
        middle = (self.low[chosen] + self.high[chosen]) / 2
        halves = _panels(
            self.densities,
            self.reach,
            np.concatenate([self.low[chosen], middle]),
            np.concatenate([middle, self.high[chosen]]),
        )
        order = np.argsort(np.concatenate([self.low[~chosen], halves.low]))
        return Mesh(
            self.densities,
            self.reach,
            *(
                np.concatenate([old[~chosen], new])[order]
                for old, new in zip(self.arrays(), halves.arrays(), strict=True)
            ),
        )

    def bent(self) -> Reals:
        """Return the nodes in the bent variable, in which they increase from panel to panel."""
        return nodes_of(self.low, self.high)

    def arrays(self) -> tuple[Reals, Reals, Reals, Reals, Reals, Reals]:
        """Return the arrays that have a row for each panel, in the order of the fields."""
        return self.low, self.high, self.outputs, self.measure, self.left, self.right

    @property
    def loss(self) -> Reals:
        """The privacy loss ln(left/right) at every node; −inf where the left density is 0."""
        with np.errstate(invalid="ignore"):
            return np.where(self.left == -np.inf, -np.inf, self.left - self.right)


def _panels(densities: tuple[LogDensity, LogDensity], reach: float, low: Reals, high: Reals) -> Mesh:
    outputs, stretch = unbend(nodes_of(low, high), reach)
    left, right = (evaluate(density, outputs) for density in densities)
    return Mesh(densities, reach, low, high, outputs, (high - low)[:, None] / 2 * stretch, left, right)


def nodes_of(low: Reals, high: Reals) -> Reals:
    """Return the 15 nodes of each panel, shape (panels, 15)."""
    nodes: Reals = (low + high)[:, None] / 2 + (high - low)[:, None] / 2 * NODES
    return nodes


def unbend(bent: Reals, reach: float) -> tuple[Reals, Reals]:
    """Return the outputs y that stand for the bent variable v in (−2 reach, 2 reach), and dy/dv.

    y = v up to reach; beyond it y = ±reach²/(2 reach − |v|), which turns a tail like 1/y² into a constant.
    """
    inner = np.abs(bent) <= reach
    rest = np.maximum(np.where(inner, reach, 2 * reach - np.abs(bent)), reach * 1e-16)
    factor = reach / rest
    return np.where(inner, bent, np.sign(bent) * reach * factor), factor**2


def evaluate(density: LogDensity, outputs: Reals) -> Reals:
    """Return log densities at outputs. Raises InvalidInputError where they are NaN or of another shape."""
    values = np.asarray(density(outputs), dtype=np.float64)
    if values.shape != outputs.shape:
        raise InvalidInputError(f"log_density maps shape {outputs.shape} to {values.shape}; it must keep the shape")
    if np.isnan(values).any():
        raise InvalidInputError(f"log_density is NaN at {outputs[np.isnan(values)][0]!r}; it must be a number or ±inf")
    return values


def make_mesh(densities: tuple[LogDensity, LogDensity], breakpoints: tuple[float, ...]) -> Mesh:
    """Return a mesh that is fine beside the breakpoints, at least one of them, in any order."""
    points = np.unique(np.asarray(breakpoints, dtype=np.float64))
    gaps = np.diff(points)
    scale = float(points[-1] - points[0]) or 1.0
    ladder = GROWTH ** np.arange(-FINEST, COARSEST + 1)
    inner = GROWTH ** -np.arange(0.0, FINEST + 1) / 2
    edges = [points, points[0] - scale * ladder, points[-1] + scale * ladder]
    edges += [(points[:-1, None] + gaps[:, None] * inner).ravel(), (points[1:, None] - gaps[:, None] * inner).ravel()]
    inside = np.concatenate(edges)
    reach = float(np.max(np.abs(inside)))
    full = np.unique(np.concatenate([reach * np.array([-2.0, -1.0, 1.0, 2.0]), inside]))
    return _panels(densities, reach, full[:-1], full[1:])


# What an integrand returns: values at all nodes, shape (components, panels, 15); how much each panel may have missed
# between its nodes, and how much rounding may have moved it, shape (components, panels) or broadcast to it.
Integrand = Callable[[Mesh], tuple[Reals, Reals, Reals]]


def integrate(mesh: Mesh, integrand: Integrand, relative: float, absolute: float = 0.0) -> tuple[Mesh, Reals, Reals]:
    """Return the integrals of all components, with estimated absolute errors, and the refined mesh.

    Panels are halved until every component's error is within ``relative`` of its integral, or ``absolute``, or no
    more than rounding, or no panel can be halved any more; the errors say what was reached, rounding included.
    """
    for last in [*[False] * ROUNDS, True]:
        values, doubts, rounding = integrand(mesh)
        weighted = values * mesh.measure
        by_panel = weighted @ KRONROD
        errors = np.abs(by_panel - weighted @ GAUSS) + doubts
        totals = by_panel.sum(axis=1)
        allowed = np.maximum(relative * np.abs(totals), absolute)
        middle = (mesh.low + mesh.high) / 2
        can_split = (mesh.low < middle) & (middle < mesh.high)
        chosen = np.any(errors > np.maximum(allowed[:, None] / len(mesh.low), rounding), axis=0) & can_split
        settled = np.all(errors.sum(axis=1) <= allowed)
        if last or settled or not chosen.any() or len(mesh.low) + chosen.sum() > MOST_PANELS:
            break
        mesh = mesh.split(chosen)
    return mesh, totals, np.sum(errors + rounding, axis=1)


def peaks_between(mesh: Mesh, values: Reals) -> Reals:
    """Return for each node, in shape (panels, 15), how far a peak that a gap beside it hides may rise above the values at both ends
    of that gap.

    Each node accounts for the gaps beside it. A peak can hide in a gap towards which the values rise from both sides; a concave
    peak is no higher than the point where the two slopes, extended into the gap, meet.
    """
    flat = np.where(np.isfinite(values), values, np.nan).ravel()
    places = mesh.bent().ravel()
    with np.errstate(invalid="ignore", divide="ignore"):
        slopes = np.diff(flat) / np.diff(places)
        gaps = np.diff(places)[1:-1]
        rises = np.minimum(slopes[:-2], -slopes[2:]) * gaps
    rises = np.where(rises > 0, rises, 0.0)  # NaN, beside infinite values, counts as no rise
    beside = np.zeros_like(flat)
    beside[1:-2] = rises
    beside[2:-1] = np.maximum(beside[2:-1], rises)
    return beside.reshape(values.shape)
