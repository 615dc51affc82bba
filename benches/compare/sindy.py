#!/usr/bin/env python3
"""SINDy beside pysindy: one fit of the same rows at the same threshold, on one core, in turns.

    python3 benches/compare/sindy.py LORENZ.npy ECG.npy [--python PYTHON_WITH_PYSINDY]

Ours is the whole command `attractor train`, which reads the file and writes the run; pysindy is its `fit` alone, in a process that has
imported it and holds the data. The first turn of each is not counted. Both must find the same terms, and ours the least squares on them:
coefficients are compared with those of an orthogonal factorisation of pysindy's terms and slopes. Pysindy's own are compared too: its final
fit, scikit-learn's, leaves out directions with singular values below 1e-6 of the largest.
"""

import argparse
import json
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
PEER = """
import sys, time, warnings, json
import numpy as np, pysindy as ps, scipy.linalg
warnings.simplefilter("ignore")
path, degree, threshold = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
x = np.load(path).astype(float)
for _ in sys.stdin:
    model = ps.SINDy(optimizer=ps.STLSQ(threshold=threshold, alpha=0.05), feature_library=ps.PolynomialLibrary(degree=degree),
                     differentiation_method=ps.SmoothedFiniteDifference())
    start = time.perf_counter()
    model.fit(x, t=0.01)
    seconds = time.perf_counter() - start
    slopes = np.asarray(model.differentiation_method(x, 0.01))
    terms = np.asarray(model.feature_library.transform(model.differentiation_method.smoothed_x_))
    exact = np.zeros(model.coefficients().shape)
    for c, kept, slope in zip(exact, model.coefficients() != 0, slopes.T):
        c[kept] = scipy.linalg.lstsq(terms[:, kept], slope)[0]
    print(json.dumps({"seconds": seconds, "c": model.coefficients().ravel().tolist(), "exact": exact.ravel().tolist()}), flush=True)
"""


def ours(binary, data, degree, threshold, folder):
    """Seconds of a whole training, and its own time without starting, reading and writing."""
    shutil.rmtree(folder, ignore_errors=True)
    flags = ["--model", "sindy", "--degree", degree, "--threshold", threshold, "--standardize", "off", "--dt", "0.01", "--threads", "1"]
    start = time.perf_counter()
    subprocess.run([binary, "train", data, *flags, "--out", folder, "--quiet"], check=True)
    whole = time.perf_counter() - start
    return whole, json.loads((Path(folder) / "outcome.json").read_text())["seconds"]


def coefficients(folder):
    """Those of a run: tensor C of its model file."""
    data = (Path(folder) / "model.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    tensor = json.loads(data[8 : 8 + length])["C"]
    begin, end = tensor["data_offsets"]
    return struct.unpack(f"<{(end - begin) // 8}d", data[8 + length + begin : 8 + length + end])


def agreement(mine, theirs):
    """The largest difference, in largest coefficients; stops where the terms differ."""
    if [c != 0 for c in mine] != [c != 0 for c in theirs]:
        sys.exit("error: the two programs find different terms")
    return max(abs(a - b) for a, b in zip(mine, theirs)) / max(map(abs, theirs))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lorenz")
    parser.add_argument("ecg")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--binary", default=str(ROOT / "target" / "release" / "attractor"))
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    os.environ.update(ONE)
    for data, degree, threshold, turns in [(options.lorenz, "2", "0.1", options.turns), (options.ecg, "5", "0.1", 2)]:
        peer = subprocess.Popen([options.python, "-c", PEER, data, degree, threshold], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        times = []
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(turns + 1):
                whole, own = ours(options.binary, data, degree, threshold, f"{folder}/run")
                peer.stdin.write("\n")
                peer.stdin.flush()
                answer = json.loads(peer.stdout.readline())
                differ = agreement(coefficients(f"{folder}/run"), answer["exact"])
                theirs_differ = agreement(answer["c"], answer["exact"])
                if differ > 1e-8:
                    sys.exit(f"error: coefficients are off by {differ:.1e} of the largest")
                times.append((whole, own, answer["seconds"]))
        peer.stdin.close()
        peer.wait()
        whole, own, theirs = (statistics.median(column) for column in zip(*times[1:]))
        ratio = statistics.median(t / o for _, o, t in times[1:])
        print(f"{Path(data).stem}, degree {degree}: ours {own:.3f} s (command {whole:.3f} s), pysindy {theirs:.3f} s, {ratio:.1f}x; coefficients within {differ:.1e}, pysindy's {theirs_differ:.1e}")


if __name__ == "__main__":
    main()
