#!/usr/bin/env python3
"""Weights of the authors' programs as a model file of attractor.

    import_weights.py torch STATE.pt OUT.safetensors [--model NAME]
    import_weights.py npz TENSORS.npz OUT.safetensors [--model NAME]

`torch` reads a state_dict that PyTorch saved, without PyTorch; `npz` reads tensors that were exported from Julia
(docs/model-files.md has the three lines). Tensors are found by their names without the module before the last dot, whatever their case;
what is not understood is an error, so that no part of a model is left behind. Needs safetensors and numpy.
"""

import argparse
import collections
import pickle
import sys
import zipfile

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


# The numbers of a storage of PyTorch.
STORED = {"FloatStorage": "<f4", "DoubleStorage": "<f8", "HalfStorage": "<f2", "LongStorage": "<i8", "IntStorage": "<i4"}


def tensor(storage, offset, shape, strides, *_):
    """A tensor of a file: entries of a storage, from an offset on, with strides."""
    last = offset + sum((n - 1) * step for n, step in zip(shape, strides))
    if 0 in shape or min(strides, default=0) < 0 or last >= len(storage):
        raise ValueError("a tensor is empty, or reaches beyond its storage")
    strides = [step * storage.itemsize for step in strides]
    return np.lib.stride_tricks.as_strided(storage[offset:], shape, strides).copy()


class State(pickle.Unpickler):
    """Reads a state_dict: tensors by name. Anything else that a pickle could do is refused."""

    def __init__(self, archive, name):
        super().__init__(archive.open(name))
        self.archive, self.folder = archive, name.removesuffix("data.pkl")

    def find_class(self, module, name):
        known = {
            ("collections", "OrderedDict"): collections.OrderedDict,
            ("torch._utils", "_rebuild_tensor_v2"): tensor,
            ("torch._utils", "_rebuild_parameter"): lambda values, *_: values,
        }
        if module == "torch" and name in STORED:
            return np.dtype(STORED[name])
        if (module, name) not in known:
            raise ValueError(f"it holds {module}.{name}, where a state_dict has tensors alone: save `model.state_dict()`")
        return known[module, name]

    def persistent_load(self, identity):
        _, kind, key, _, _ = identity
        return np.frombuffer(self.archive.read(f"{self.folder}data/{key}"), kind)


def read_torch(path):
    """The tensors of a state_dict by name, without PyTorch: a file of it is a zip archive of one pickle and the numbers."""
    try:
        with zipfile.ZipFile(path) as archive:
            pickled = next((name for name in archive.namelist() if name.endswith("/data.pkl")), None)
            if pickled is None:
                raise ValueError("no file of PyTorch")
            stored = State(archive, pickled).load()
        if not all(isinstance(values, np.ndarray) for values in stored.values()):
            raise ValueError("it holds more than tensors: save `model.state_dict()`")
    except (ValueError, AttributeError, KeyError, pickle.UnpicklingError, zipfile.BadZipFile) as error:
        sys.exit(f"error: {error}: {path} (PyTorch 1.6 or later)")
    return dict(stored)


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
