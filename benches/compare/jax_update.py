"""One training update in JAX, in every form that we know to be fast; the comparison takes the fastest.

A form is a gradient × a layout × an unroll factor of `lax.scan`:

    autodiff   jax.grad through the scan
    by hand    the backward sweep carries the state's cotangent only; the weights' gradients are products over the
               whole sweep afterwards. With `store` the sweeps keep their hidden layers, with `recompute` those are
               computed again in one product
    rows       states are batch × feature
    columns    states are feature × batch

In all of them the series and the parameters live on the device, windows are drawn inside the compiled function,
buffers are donated, parameters and moments are one flat vector, B⁺ comes from the normal equations, and one call
makes ten updates, so that Python's cost of a call is shared by ten. Products written as broadcast sums, so that
XLA fuses a step into one loop, are left out: tried on lorenz63 only, on a busy machine, their best call was 1455 µs
against 1540 for the best of the forms here, which that machine could not tell apart; unrolled 16 times they were slower.
"""

import itertools
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from workload import BATCH, BETA1, BETA2, EPSILON, LEARNING_RATE, RHO_INFINITY, RHO_THRESHOLD

UPDATES_PER_CALL = 10


@dataclass(frozen=True)
class Form:
    """One way to write the update."""

    gradient: str
    layout: str
    unroll: int

    def __str__(self):
        return f"{self.gradient}, {self.layout}, unroll {self.unroll}"


GRADIENTS = ("autodiff", "store", "recompute")
UNROLLS = (1, 2, 4, 8, 16)


class Rows:
    """States are … × batch × feature."""

    @staticmethod
    def arrange(windows):
        """S × T+1 × N to T+1 × S × N."""
        return jnp.swapaxes(windows, 0, 1)

    @staticmethod
    def apply(w, z):
        """W z for every window."""
        return z @ w.T

    @staticmethod
    def bias(h):
        """A feature vector, ready to be added to states."""
        return h

    @staticmethod
    def outer(a, b):
        """Σ over time and windows of a bᵀ."""
        return a.reshape(-1, a.shape[-1]).T @ b.reshape(-1, b.shape[-1])

    @staticmethod
    def total(a):
        """Σ over time and windows."""
        return a.sum(axis=(0, 1))


class Columns:
    """States are … × feature × batch."""

    @staticmethod
    def arrange(windows):
        """S × T+1 × N to T+1 × N × S."""
        return jnp.transpose(windows, (1, 2, 0))

    @staticmethod
    def apply(w, z):
        """W z for every window."""
        return w @ z

    @staticmethod
    def bias(h):
        """A feature vector, ready to be added to states."""
        return h[:, None]

    @staticmethod
    def outer(a, b):
        """Σ over time and windows of a bᵀ."""
        return jnp.einsum("tas,tbs->ab", a, b)

    @staticmethod
    def total(a):
        """Σ over time and windows."""
        return a.sum(axis=(0, 2))


LAYOUTS = {"rows": Rows, "columns": Columns}
FAMILIES = tuple(itertools.product(GRADIENTS, LAYOUTS))


def relu(u):
    """max(0, u)."""
    return jnp.maximum(u, 0.0)


def pinv(b):
    """B⁺ = (BᵀB)⁻¹Bᵀ: every workload has N ≥ M. A square B is inverted as it is."""
    rows, columns = b.shape
    return jnp.linalg.inv(b) if rows == columns else jnp.linalg.solve(b.T @ b, b.T)


def pinv_cotangent(b, p, dp):
    """dB = −Pᵀ dP Pᵀ + (I − B P) dPᵀ P Pᵀ for a B of full column rank, P = B⁺."""
    rows, columns = b.shape
    db = -p.T @ dp @ p.T
    return db if rows == columns else db + (dp.T - b @ (p @ dp.T)) @ (p @ p.T)


def forward(layout, unroll, alpha, p, z_first, teacher, keep):
    """The forced sweep; `keep` chooses what is recorded of a step from (z, u)."""
    a, h1, h2 = (layout.bias(p[name]) for name in ("A", "h1", "h2"))

    def step(z, target):
        u = layout.apply(p["W2"], z)
        z = a * z + layout.apply(p["W1"], relu(u + h2) - relu(u)) + h1
        return (1 - alpha) * z + alpha * target, keep(z, u)

    return lax.scan(step, z_first, teacher, unroll=unroll)[1]


def loss(layout, unroll, alpha, p, x):
    """ℒ of one batch, for `jax.grad`."""
    b_pinv = pinv(p["B"])
    teacher = lax.stop_gradient(layout.apply(b_pinv, x[1:]))
    z = forward(layout, unroll, alpha, p, layout.apply(b_pinv, x[0]), teacher, lambda z, _: z)
    return jnp.mean((layout.apply(p["B"], z) - x[1:]) ** 2)


def gradient_by_hand(layout, unroll, alpha, store, p, x):
    """The gradient of `loss` from the closed forms of its sweep."""
    b_pinv = pinv(p["B"])
    teacher = layout.apply(b_pinv, x)
    keep = (lambda z, u: (z, u)) if store else (lambda z, _: (z, None))
    z, u = forward(layout, unroll, alpha, p, teacher[0], teacher[1:], keep)
    z_forced = jnp.concatenate([teacher[:1], (1 - alpha) * z[:-1] + alpha * teacher[1:-1]])
    u = u if store else layout.apply(p["W2"], z_forced)
    open_shifted, open_plain = u + layout.bias(p["h2"]) > 0, u > 0
    gate = open_shifted.astype(jnp.float32) - open_plain.astype(jnp.float32)
    error = (2 / x[1:].size) * (layout.apply(p["B"], z) - x[1:])
    a = layout.bias(p["A"])

    def step(dz, at):
        read_out, gate = at
        d = read_out + (1 - alpha) * dz
        s = layout.apply(p["W1"].T, d)
        return a * d + layout.apply(p["W2"].T, s * gate), (d, s if store else None)

    # The first state is not forced, so its cotangent leaves the sweep before the factor (1 − α) of the next step.
    swept = (layout.apply(p["B"].T, error), gate)
    dz_first, (d, s) = lax.scan(step, jnp.zeros_like(teacher[0]), swept, reverse=True, unroll=unroll)
    s = s if store else layout.apply(p["W1"].T, d)
    return {
        "A": layout.total(d * z_forced),
        "W1": layout.outer(d, relu(u + layout.bias(p["h2"])) - relu(u)),
        "W2": layout.outer(s * gate, z_forced),
        "h1": layout.total(d),
        "h2": layout.total(s * open_shifted),
        "B": layout.outer(error, z) + pinv_cotangent(p["B"], b_pinv, layout.outer(dz_first[None], x[:1])),
    }


def gradient(form, alpha, p, x):
    """The gradient of ℒ at `p` for the arranged windows `x`."""
    layout = LAYOUTS[form.layout]
    if form.gradient == "autodiff":
        return jax.grad(lambda q: loss(layout, form.unroll, alpha, q, x))(p)
    return gradient_by_hand(layout, form.unroll, alpha, form.gradient == "store", p, x)


def radam(theta, m, v, t, g):
    """One step of RAdam with the threshold ρ > 4."""
    m, v = BETA1 * m + (1 - BETA1) * g, BETA2 * v + (1 - BETA2) * g * g
    decay = BETA2**t
    rho = RHO_INFINITY - 2 * t * decay / (1 - decay)
    ratio = (rho - 4) * (rho - 2) * RHO_INFINITY / ((RHO_INFINITY - 4) * (RHO_INFINITY - 2) * rho)
    m_hat = m / (1 - BETA1**t)
    adapted = jnp.sqrt(jnp.maximum(ratio, 0.0)) * m_hat / (jnp.sqrt(v / (1 - decay)) + EPSILON)
    return theta - LEARNING_RATE * jnp.where(rho > RHO_THRESHOLD, adapted, m_hat), m, v


def unflatten(workload, theta):
    """The named parameters in the flat vector."""
    shapes = workload.shapes()
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes.values()])
    return {
        name: theta[end - int(np.prod(shape)) : end].reshape(shape) for (name, shape), end in zip(shapes.items(), ends)
    }


def flatten(workload, tensors):
    """The flat vector of named parameters or gradients."""
    return jnp.concatenate([tensors[name].ravel() for name in workload.shapes()])


def draw_windows(key, series, window):
    """S windows of T + 1 rows with uniform starts, S × T+1 × N."""
    starts = jax.random.randint(key, (BATCH,), 0, series.shape[0] - window - 1)
    return jax.vmap(lambda start: lax.dynamic_slice_in_dim(series, start, window + 1))(starts)


@partial(jax.jit, static_argnums=(0, 1))
def gradient_of(workload, form, p, windows):
    """The flat gradient for given windows (S × T+1 × N), to compare programs by."""
    return flatten(workload, gradient(form, workload.alpha, p, LAYOUTS[form.layout].arrange(windows)))


@partial(jax.jit, static_argnums=(0, 1), donate_argnums=2)
def several(workload, form, state, series):
    """UPDATES_PER_CALL updates of (θ, m, v, t, key)."""

    def update(_, state):
        theta, m, v, t, key = state
        key, draw = jax.random.split(key)
        x = LAYOUTS[form.layout].arrange(draw_windows(draw, series, workload.window))
        g = flatten(workload, gradient(form, workload.alpha, unflatten(workload, theta), x))
        return (*radam(theta, m, v, t, g), t + 1, key)

    return lax.fori_loop(0, UPDATES_PER_CALL, update, state)


class Trainer:
    """A compiled update with its state; `run` makes `updates` of them and waits."""

    updates = UPDATES_PER_CALL

    def __init__(self, workload, form, series, parameters):
        self.workload, self.form = workload, form
        self.series = jnp.asarray(series)
        theta = flatten(workload, {name: jnp.asarray(value) for name, value in parameters.items()})
        self.state = (theta, jnp.zeros_like(theta), jnp.zeros_like(theta), jnp.float32(1), jax.random.key(0))

    def run(self):
        """`updates` updates, finished when this returns."""
        self.state = jax.block_until_ready(several(self.workload, self.form, self.state, self.series))
