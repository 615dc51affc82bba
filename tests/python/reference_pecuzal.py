#!/usr/bin/env python3
"""What the package `pecuzal-embedding` finds in a few series, as JSON on standard output.

    reference_pecuzal.py CASE…       some of the cases below, by name
    reference_pecuzal.py --all       all of them: ten minutes; this made reference_pecuzal.json

Every series is made by arithmetic that has one right result in float64 (sums and products in a written order), so that another
program makes the same bits. Version 1.3.4 of the package calls functions of SciPy with arrays of no dimensions, which
current versions refuse: their check is wrapped so that it squeezes its input into a vector. Of a curve without a peak it
takes the largest value, as a number where it then needs a list: that is wrapped too.
"""

import contextlib
import io
import json
import sys

import numpy as np
import scipy.spatial.distance as distance

_check = distance._validate_vector
distance._validate_vector = lambda u, dtype=None: _check(np.atleast_1d(np.squeeze(u)), dtype)

import pecuzal_embedding as package  # noqa: E402  (after the wrapping)

_maxima = package.get_maxima
package.get_maxima = lambda s: tuple(np.atleast_1d(found) for found in _maxima(s))


def orbit(field, u, dt, transient, n):
    """Rows of a flow by the classical Runge–Kutta method, one step a row."""

    def shifted(u, h, k):
        return [a + h * b for a, b in zip(u, k)]

    rows = []
    for step in range(transient + n):
        if step >= transient:
            rows.append(u)
        k1 = field(u)
        k2 = field(shifted(u, dt / 2.0, k1))
        k3 = field(shifted(u, dt / 2.0, k2))
        k4 = field(shifted(u, dt, k3))
        u = [a + dt / 6.0 * (b + 2.0 * c + 2.0 * d + e) for a, b, c, d, e in zip(u, k1, k2, k3, k4)]
    return np.array(rows)


def lorenz(n):
    def field(u):
        x, y, z = u
        return [10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z]

    return orbit(field, [0.0, 10.0, 0.0], 0.01, 10_000, n)


def rossler(n):
    def field(u):
        x, y, z = u
        return [-y - z, x + 0.2 * y, 0.2 + z * (x - 5.7)]

    return orbit(field, [1.0, 1.0, 0.0], 0.1, 5_000, n)


def henon(n):
    rows, u = [], [0.0, 0.0]
    for step in range(1_000 + n):
        u = [1.0 - 1.4 * u[0] * u[0] + u[1], 0.3 * u[0]]
        if step >= 1_000:
            rows.append(u)
    return np.array(rows)


def noise(n):
    """Numbers of the congruential generator of Park and Miller (1988), in (0, 1)."""
    values, state = [], 1
    for _ in range(n):
        state = state * 16_807 % 2_147_483_647
        values.append(state / 2_147_483_647)
    return np.array(values)


# name: series, largest delay, Theiler window; those of 200 rows take seconds and are not among the kept answers
CASES = {
    "lorenz-x-3000": (lambda: lorenz(3000)[:, 0], 50, 17),
    "lorenz-x-1000": (lambda: lorenz(1000)[:, 0], 30, 17),
    "lorenz-x-400": (lambda: lorenz(400)[:, 0], 24, 17),
    "lorenz-xz-400": (lambda: lorenz(400)[:, [0, 2]], 12, 17),
    "lorenz-xyz-600": (lambda: lorenz(600), 20, 17),
    "rossler-y-1000": (lambda: rossler(1000)[:, 1], 30, 14),
    "henon-x-600": (lambda: henon(600)[:, 0], 10, 1),
    "noise-500": (lambda: noise(500), 10, 1),
}
SHORT = {
    "lorenz-x-200": (lambda: lorenz(200)[:, 0], 12, 8),
    "noise-200": (lambda: noise(200), 6, 1),
}


def answer(name):
    make, largest, theiler = (CASES | SHORT)[name]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        _, delays, channels, decreases, curves = package.pecuzal_embedding(
            make(), taus=range(largest + 1), theiler=theiler, L_threshold=0.05
        )
    return {
        "series": name,
        "max_delay": largest,
        "theiler": theiler,
        "delays": [int(delay) for delay in delays],
        "channels": [int(channel) for channel in channels],
        "decreases": [float(decrease) for decrease in decreases],
        "curves": [[float(value) for value in curve] for curve in np.transpose(curves)],
    }


if __name__ == "__main__":
    names = list(CASES) if sys.argv[1:] == ["--all"] else sys.argv[1:]
    for i, name in enumerate(names):
        print("[" if i == 0 else ",", json.dumps(answer(name)), flush=True)
    print("]")
