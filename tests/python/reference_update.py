#!/usr/bin/env python3
"""Loss and exact gradient of one training update, in float64, written a second time and plainly.

    z_1 = observation⁻¹(x_1)
    z_t = F(z̃_{t−1}) + C s_t,    z̃_t = z_t + α_t (ẑ_t − z_t)      t = 2 … T+1,   z̃_1 = z_1
    ℒ   = mean over windows, steps and channels of (x̂_t − x_t)²  +  λ · (squared norms of θ)

Our engine derives its gradients by hand. This file has none: it has the forward pass only, and differentiates it with
`jax.grad` or, without JAX, by the complex step  ∂ℒ/∂θ_i = Im ℒ(θ + i·h·e_i) / h  with h = 1e-30, which has no truncation
error because every operation below is analytic away from the kinks. `--check` compares the two on every model.

    reference_update.py CASE OUT     read a case, write `loss` and one gradient per parameter under the parameter's name
    reference_update.py --check      both ways of differentiating, every model

A case is a `.safetensors` file (settings in its metadata) or an `.npz` file (settings as 0-d string arrays) with

    windows   S × (T+1) × N          inputs   S × (T+1) × K, optional, with C: M × K
    model     plrnn | mean-centred | dendritic | clipped-dendritic | shallow | clipped-shallow | tanh-shallow
    A, h, W [, slopes, thresholds]   or   A, h1, W1, W2, h2         the model's parameters
    B: N × M   (x̂ = B z, ẑ = B⁺x)    or   L: (M−N) × N, M > N (x̂ = leading N states, z_1 = [x_1; L x_1])    or neither, M = N
    alpha     α, default 0           every    force every τ-th step, default 1
    leading   forced coordinates, default M for B and N otherwise
    forcing_gradient   detached (default) | full                    penalty   λ, default 0
"""

import argparse
import json
import sys
from collections import namedtuple
from pathlib import Path

import numpy as np

try:
    import jax

    jax.config.update("jax_enable_x64", True)
except ImportError:
    jax = None

# An array namespace, and what turns a value into a constant under its way of differentiating.
Backend = namedtuple("Backend", "xp constant")
COMPLEX = Backend(np, np.real)

SETTINGS = {"model": str, "alpha": float, "every": int, "leading": int, "forcing_gradient": str, "penalty": float}
DATA = ("windows", "inputs")
UNPENALISED = ("A", "thresholds", "B", "L")  # A has a term of its own


# --- the models -------------------------------------------------------------------------------------------------------
# States are S × M: one row a window, so that W z reads `z @ W.T`.


def relu(xp, u):
    """max(0, u) with derivative 0 at the kink; looks at the real part, for the complex step."""
    return xp.where(u.real > 0, u, 0.0)


def plrnn(xp, p, z):
    """A∘z + W φ(z) + h"""
    return p["A"] * z + relu(xp, z) @ p["W"].T + p["h"]


def mean_centred(xp, p, z):
    """A∘z + W φ(z − mean z) + h"""
    return p["A"] * z + relu(xp, z - z.mean(axis=1, keepdims=True)) @ p["W"].T + p["h"]


def dendritic(xp, p, z):
    """A∘z + W Σ_b α_b φ(z − H_b) + h"""
    basis = relu(xp, z[:, :, None] - p["thresholds"])
    return p["A"] * z + (basis @ p["slopes"]) @ p["W"].T + p["h"]


def clipped_dendritic(xp, p, z):
    """A∘z + W Σ_b α_b [φ(z − H_b) − φ(z)] + h"""
    basis = relu(xp, z[:, :, None] - p["thresholds"]) - relu(xp, z)[:, :, None]
    return p["A"] * z + (basis @ p["slopes"]) @ p["W"].T + p["h"]


def shallow(xp, p, z):
    """A∘z + W1 φ(W2 z + h2) + h1"""
    return p["A"] * z + relu(xp, z @ p["W2"].T + p["h2"]) @ p["W1"].T + p["h1"]


def clipped_shallow(xp, p, z):
    """A∘z + W1 [φ(W2 z + h2) − φ(W2 z)] + h1"""
    u = z @ p["W2"].T
    return p["A"] * z + (relu(xp, u + p["h2"]) - relu(xp, u)) @ p["W1"].T + p["h1"]


def tanh_shallow(xp, p, z):
    """A∘z + W1 tanh(W2 z + h2) + h1"""
    return p["A"] * z + xp.tanh(z @ p["W2"].T + p["h2"]) @ p["W1"].T + p["h1"]


MODELS = {
    "plrnn": plrnn,
    "mean-centred": mean_centred,
    "dendritic": dendritic,
    "clipped-dendritic": clipped_dendritic,
    "shallow": shallow,
    "clipped-shallow": clipped_shallow,
    "tanh-shallow": tanh_shallow,
}


# --- the update -------------------------------------------------------------------------------------------------------


def pinv(xp, b):
    """B⁺ of a full-rank B: (BᵀB)⁻¹Bᵀ when tall, Bᵀ(BBᵀ)⁻¹ when wide. Analytic in B, unlike a singular value decomposition."""
    rows, columns = b.shape
    return xp.linalg.inv(b.T @ b) @ b.T if rows >= columns else b.T @ xp.linalg.inv(b @ b.T)


def infer(xp, p, x):
    """Latent states of the observations `x` (… × N), as the observation model inverts itself."""
    if "B" in p:
        return x @ pinv(xp, p["B"]).T
    if "L" in p:
        return xp.concatenate([x, x @ p["L"].T], axis=-1)
    return x


def read_out(xp, p, z, channels):
    """x̂ = B z, or the leading states."""
    return z @ p["B"].T if "B" in p else z[..., :channels]


def penalty(xp, p):
    """‖1 − A‖² + the squared norms of the map's other parameters. Thresholds, the observation model and, for the maps with
    neither hidden units nor bases, the input matrix C are free."""
    free = UNPENALISED if "W1" in p or "slopes" in p else (*UNPENALISED, "C")
    rest = [value for name, value in p.items() if name not in free]
    return ((1 - p["A"]) ** 2).sum() + sum((value**2).sum() for value in rest)


def loss(backend, p, data, settings):
    """ℒ of one batch: the formula at the top of this file."""
    xp, x = backend.xp, data["windows"]
    step, dim = MODELS[settings["model"]], p["A"].shape[0]
    channels = x.shape[-1]
    teacher = infer(xp, p, x)
    if settings.get("forcing_gradient", "detached") == "detached":
        teacher = backend.constant(teacher)
    forced = xp.arange(dim) < settings.get("leading", dim if "B" in p else channels)
    z, errors = infer(xp, p, x[:, 0]), []
    for t in range(1, x.shape[1]):
        z = step(xp, p, z)
        if "inputs" in data:
            z = z + data["inputs"][:, t] @ p["C"].T
        errors.append(read_out(xp, p, z, channels) - x[:, t])
        if t % settings.get("every", 1) == 0:
            z = z + settings.get("alpha", 0.0) * forced * (teacher[:, t] - z)
    return (xp.stack(errors) ** 2).mean() + settings.get("penalty", 0.0) * penalty(xp, p)


def by_jax(p, data, settings):
    """Loss and gradients by reverse-mode differentiation."""
    backend = Backend(jax.numpy, jax.lax.stop_gradient)
    value, gradients = jax.jit(jax.value_and_grad(lambda q: loss(backend, q, data, settings)))(p)
    return float(value), {name: np.asarray(gradient) for name, gradient in gradients.items()}


def by_complex_step(p, data, settings):
    """Loss and gradients by one complex evaluation per parameter."""
    tiny = 1e-30
    gradients = {}
    for name, value in p.items():
        slopes = np.empty(value.size)
        for i in range(value.size):
            moved = value.astype(complex)
            moved.flat[i] += 1j * tiny
            slopes[i] = loss(COMPLEX, {**p, name: moved}, data, settings).imag / tiny
        gradients[name] = slopes.reshape(value.shape)
    return float(loss(COMPLEX, p, data, settings).real), gradients


def update(p, data, settings, differentiate=None):
    """Loss and gradients, the diagonal of W's at zero: A is the diagonal."""
    differentiate = differentiate or (by_jax if jax else by_complex_step)
    value, gradients = differentiate(p, data, settings)
    if "W" in gradients:
        gradients["W"] = gradients["W"] * (1 - np.eye(len(gradients["W"])))
    return value, gradients


# --- files ------------------------------------------------------------------------------------------------------------

NUMPY_OF = {"F64": np.dtype("<f8"), "F32": np.dtype("<f4")}


def read_safetensors(path):
    """Tensors as float64, and the metadata: a little-endian length, a JSON header, the bytes."""
    raw = Path(path).read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:start])
    metadata = header.pop("__metadata__", {})

    def tensor(entry):
        begin, end = (start + offset for offset in entry["data_offsets"])
        return np.frombuffer(raw[begin:end], NUMPY_OF[entry["dtype"]]).reshape(entry["shape"]).astype(float)

    return {name: tensor(entry) for name, entry in header.items()}, metadata


def write_safetensors(path, tensors):
    """Tensors as little-endian float64."""
    header, chunks, offset = {}, [], 0
    for name, value in tensors.items():
        chunk = np.asarray(value, "<f8").tobytes()
        header[name] = {"dtype": "F64", "shape": np.shape(value), "data_offsets": [offset, offset + len(chunk)]}
        chunks.append(chunk)
        offset += len(chunk)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    Path(path).write_bytes(len(text).to_bytes(8, "little") + text + b"".join(chunks))


def read_case(path):
    """A case file as (parameters, data, settings)."""
    if str(path).endswith(".npz"):
        arrays = dict(np.load(path))
        given = {name: str(arrays.pop(name)) for name in SETTINGS if name in arrays}
        arrays = {name: value.astype(float) for name, value in arrays.items()}
    else:
        arrays, given = read_safetensors(path)
    settings = {name: kind(given[name]) for name, kind in SETTINGS.items() if name in given}
    data = {name: arrays.pop(name) for name in DATA if name in arrays}
    return arrays, data, settings


def write_result(path, value, gradients):
    """`loss` and the gradients, in the format that the file's name asks for."""
    tensors = {"loss": np.float64(value), **gradients}
    if str(path).endswith(".npz"):
        np.savez(path, **tensors)
    else:
        write_safetensors(path, tensors)


# --- the check --------------------------------------------------------------------------------------------------------


def sample_parameters(rng, model, dim, hidden, bases):
    """Random parameters of `model`, spread so that units sit on both sides of their kinks."""
    p = {"A": rng.uniform(0.3, 0.9, dim), "C": rng.normal(size=(dim, 2))}
    if "shallow" in model:
        shapes = {"h1": dim, "W1": (dim, hidden), "W2": (hidden, dim), "h2": hidden}
    else:
        shapes = {"h": dim, "W": (dim, dim)}
    if "dendritic" in model:
        shapes |= {"slopes": bases, "thresholds": (dim, bases)}
    p |= {name: rng.normal(scale=0.4, size=shape) for name, shape in shapes.items()}
    if "W" in p:
        np.fill_diagonal(p["W"], 0.0)
    return p


def check():
    """Both ways of differentiating, on every model and observation model; returns the largest relative difference."""
    rng = np.random.default_rng(1)
    dim, channels, worst = 4, 3, 0.0
    observations = {"linear, tall": {"B": (6, dim)}, "linear, wide": {"B": (channels, dim)}, "identity": {"L": (1, channels)}}
    for model in MODELS:
        for label, shapes in observations.items():
            observed = shapes.get("B", (channels,))[0]
            p = sample_parameters(rng, model, dim, 7, 5)
            p |= {name: rng.normal(size=shape) for name, shape in shapes.items()}
            data = {"windows": rng.normal(size=(3, 7, observed)), "inputs": rng.normal(size=(3, 7, 2))}
            for gradient in ("detached", "full"):
                settings = {"model": model, "alpha": 0.3, "every": 2, "penalty": 0.01, "forcing_gradient": gradient}
                ours, theirs = (update(p, data, settings, way)[1] for way in (by_complex_step, by_jax))
                apart = max(np.abs(ours[k] - theirs[k]).max() / np.abs(theirs[k]).max() for k in p)
                worst = max(worst, apart)
                print(f"{model:18} {label:13} {gradient:9} {apart:.1e}")
    return worst


def main():
    """Parse the command line and do what it says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case", nargs="?", help="a .safetensors or .npz file")
    parser.add_argument("out", nargs="?", help="where loss and gradients go, .safetensors or .npz")
    parser.add_argument("--check", action="store_true", help="compare the two ways of differentiating")
    arguments = parser.parse_args()
    if arguments.check:
        if not jax:
            sys.exit("error: --check needs jax\nhint: pip install jax")
        # Rounding of some hundred f64 operations per entry, amplified by the condition of BᵀB (below 1e3 here).
        sys.exit(0 if check() < 1e-11 else "error: the two gradients differ by more than rounding")
    if not (arguments.case and arguments.out):
        parser.error("a case and a place for the result are needed")
    p, data, settings = read_case(arguments.case)
    write_result(arguments.out, *update(p, data, settings))


if __name__ == "__main__":
    main()
