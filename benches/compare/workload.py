"""What is compared: four sizes of one training update, their data and their starting parameters.

    F(z) = A∘z + W1 [φ(W2 z + h2) − φ(W2 z)] + h1,      z̃_t = (1 − α) z_t + α B⁺x_t,      ℒ = mean (B z_t − x_t)²

An update draws S = 16 windows of T + 1 rows, and ends with a step of RAdam. Everything is float32.
"""

from dataclasses import dataclass

import numpy as np

BATCH = 16
LEARNING_RATE = 1e-3
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
RHO_INFINITY = 2 / (1 - BETA2) - 1
RHO_THRESHOLD = 4  # above it, RAdam trusts its second moment


@dataclass(frozen=True)
class Workload:
    """The sizes of one published experiment."""

    name: str
    observed: int  # N
    latent: int  # M
    hidden: int  # L
    window: int  # T
    alpha: float

    def shapes(self):
        """Every parameter's shape, in the order of the flat parameter vector."""
        m, l, n = self.latent, self.hidden, self.observed
        return {"A": (m,), "W1": (m, l), "W2": (l, m), "h1": (m,), "h2": (l,), "B": (n, m)}


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("lorenz63", 3, 3, 50, 200, 0.15),
        Workload("lorenz96", 20, 20, 100, 200, 0.1),
        Workload("ecg", 5, 5, 250, 200, 0.3),
        Workload("eeg", 64, 16, 512, 50, 0.1),
    )
}


def synthetic_series(channels, rows=10_000, seed=0):
    """A smooth random series, rows × channels: eight sines a channel with random frequencies and phases, standardised."""
    rng = np.random.default_rng(seed)
    time = np.arange(rows)[:, None, None]
    frequency = rng.uniform(0.002, 0.05, (1, channels, 8))
    phase = rng.uniform(0, 2 * np.pi, (1, channels, 8))
    series = np.sin(2 * np.pi * frequency * time + phase).sum(axis=2)
    return ((series - series.mean(axis=0)) / series.std(axis=0)).astype(np.float32)


def initial_parameters(workload, seed=1):
    """The authors' laws of initialisation; returns {name: float32 array}."""
    rng = np.random.default_rng(seed)
    m, l = workload.latent, workload.hidden
    r = rng.normal(size=(m, m))
    k = r.T @ r / m + np.eye(m)
    draws = {
        "A": np.diag(k) / np.linalg.eigvalsh(k).max(),
        "W1": rng.uniform(-1, 1, (m, l)) / np.sqrt(l),
        "W2": rng.uniform(-1, 1, (l, m)) / np.sqrt(m),
        "h1": np.zeros(m),
        "h2": rng.uniform(-1, 1, l) / np.sqrt(l),
        "B": rng.normal(size=(workload.observed, m)) * np.sqrt(2 / m),
    }
    return {name: value.astype(np.float32) for name, value in draws.items()}
