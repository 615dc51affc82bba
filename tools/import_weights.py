#!/usr/bin/env python3
"""Weights of the authors' programs as a model file of attractor.

    import_weights.py torch STATE.pt OUT.safetensors [--model NAME]
    import_weights.py npz TENSORS.npz OUT.safetensors [--model NAME]

`torch` reads a state_dict that PyTorch saved, or an object that has one; `npz` reads tensors that were exported from Julia
(docs/model-files.md has the three lines). Tensors are found by their names without the module before the last dot, whatever their case;
what is not understood is an error, so that no part of a model is left behind. Needs safetensors and numpy, `torch` also PyTorch.
"""

import argparse
import sys

import numpy as np
from safetensors.numpy import save_file

# Other names, in lower case, for the names here.
NAMES = {
    "a": "A", "aw": "AW", "w": "W", "h": "h", "w1": "W1", "w2": "W2", "h1": "h1", "h2": "h2", "c": "C", "b": "B",
    "alphas": "slopes", "alpha": "slopes", "slopes": "slopes", "thetas": "-thresholds", "theta": "-thresholds",
    "thresholds": "thresholds", "bias": "b",
}
SPELLED = {"α": "alpha", "θ": "theta", "₁": "1", "₂": "2"}

# What the tensors of each model are called; the first model that has them all is taken unless another one is named.
MODELS = {
    "clipped-shallow-plrnn": {"A", "W1", "W2", "h1", "h2"},
    "shallow-plrnn": {"A", "W1", "W2", "h1", "h2"},
    "tanh-shallow-plrnn": {"A", "W1", "W2", "h1", "h2"},
    "clipped-dendritic-plrnn": {"A", "W", "h", "slopes", "thresholds"},
    "dendritic-plrnn": {"A", "W", "h", "slopes", "thresholds"},
    "plrnn": {"A", "W", "h"},
    "mean-centred-plrnn": {"A", "W", "h"},
}
OBSERVATION = {"B", "b", "L"}


def read_torch(path):
    """The tensors of a state_dict by name."""
    import torch

    stored = torch.load(path, map_location="cpu", weights_only=True)
    if hasattr(stored, "state_dict"):
        stored = stored.state_dict()
    return {name: tensor.detach().numpy() for name, tensor in stored.items()}


def read_npz(path):
    """The arrays of an .npz file by name."""
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def name_here(name, values):
    """What a tensor is called here; none if that is not known."""
    module, _, last = name.rpartition(".")
    plain = last
    for letter, spelled in SPELLED.items():
        plain = plain.replace(letter, spelled)
    plain = plain.strip().lower()
    is_matrix = values.ndim == 2
    reads_out = any(word in module.lower() for word in ("output", "observation", "readout", "decoder"))
    if plain in ("weight", "weights") and is_matrix and reads_out:
        return "B"
    if plain == "h" and last == "H" and is_matrix:
        return "thresholds"
    if last == "L":
        return "L"
    if plain == "b" and not is_matrix:
        return "b"
    return NAMES.get(plain)


def renamed(there):
    """The tensors under the names here."""
    here = {}
    for name, values in there.items():
        found = name_here(name, values)
        if found is None:
            sys.exit(f"error: no tensor here is like `{name}` of shape {list(values.shape)}: remove it, or rename it to what it is")
        values = np.asarray(values, dtype=values.dtype if values.dtype == np.float64 else np.float32)
        parts = {found: values}
        if found == "AW":
            parts = {"A": np.diag(values), "W": values - np.diag(np.diag(values))}
        elif found == "-thresholds":
            parts = {"thresholds": -values}
        elif found == "A" and values.ndim == 2:
            parts = {"A": np.diag(values)}
        for key, part in parts.items():
            if key in here:
                sys.exit(f"error: `{name}` is a second {key}")
            here[key] = part.ravel() if key in ("A", "h", "h1", "h2", "slopes", "b") else part
            print(f"{name} {list(values.shape)} -> {key} {list(here[key].shape)}")
    return here


def model_of(here, named):
    """The model that has these tensors."""
    if named is not None and named not in MODELS:
        sys.exit(f"error: no model `{named}`: the known names are {', '.join(MODELS)}")
    own = set(here) - OBSERVATION - {"C"}
    fitting = [model for model, names in MODELS.items() if names == own]
    if not fitting:
        sys.exit(f"error: no model has exactly the tensors {', '.join(sorted(own))}")
    if named is not None and named not in fitting:
        sys.exit(f"error: `{named}` has other tensors: {', '.join(sorted(MODELS[named]))}")
    if named is None and len(fitting) > 1:
        print(f"note: taken as {fitting[0]}; `--model` chooses among {', '.join(fitting)}")
    return named or fitting[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["torch", "npz"])
    parser.add_argument("source")
    parser.add_argument("out")
    parser.add_argument("--model")
    words = parser.parse_args()
    here = renamed((read_torch if words.kind == "torch" else read_npz)(words.source))
    model = model_of(here, words.model)
    tensors = {name: np.ascontiguousarray(values) for name, values in here.items()}
    save_file(tensors, words.out, metadata={"model": model})
    print(f"wrote {model}: {words.out}")


if __name__ == "__main__":
    main()
