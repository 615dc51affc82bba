"""The Python that the comparison runs in: a virtual environment under `target/`, made once, with pinned versions.

PyTorch's wheel on the package registry is linked against CUDA, and its dependencies are the CUDA libraries, gigabytes that a run on
the CPU never calls. So it comes from PyTorch's own CPU index where that can be reached. Where it cannot, the registry's wheel is
installed without dependencies, and stand-in libraries satisfy the loader: each defines the symbols that PyTorch asks of
it as functions that trap. Only libcudart, 1 MB and called while loading, is the real one.
"""

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
HOME = ROOT / "target" / "compare-python"
PYTHON = HOME / "bin" / "python"
CPU_INDEX = "https://download.pytorch.org/whl/cpu"

CUDA_LIBRARY = re.compile(r"lib(cublas|cudnn|cufft|cufile|cupti|cusolver|cusparse|nccl|nvrtc|nvshmem)")
CUDA_SYMBOL = re.compile(r"(cublas|cudnn|cufft|cuFile|cupti|cusolver|cusparse|nccl|nvrtc|nvshmem)")
# A library's symbol version is its own file name, but for this one.
SYMBOL_VERSION = {"libnvshmem_host.so.3": "NVSHMEM"}


def say(line):
    """One line to the standard error stream."""
    print(line, file=sys.stderr, flush=True)


def pip(*arguments):
    """Run pip inside the environment; whether it succeeded."""
    return subprocess.run([PYTHON, "-m", "pip", "install", "-qq", *arguments]).returncode == 0


def can_import(module):
    """Whether the environment has a working `module`."""
    return subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True).returncode == 0


def output(*command):
    """A command's standard output."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def make_stand_in(path, version, versioned, plain):
    """Compile a library that defines `versioned` and `plain` symbols as functions that trap."""
    with tempfile.TemporaryDirectory() as folder:
        source, script = Path(folder, "symbols.c"), Path(folder, "symbols.map")
        source.write_text("".join(f"void {name}(void) {{ __builtin_trap(); }}\n" for name in versioned + plain))
        command = ["cc", "-w", "-shared", "-fPIC", "-fno-builtin", f"-Wl,-soname,{path.name}", "-o", path, source]
        if versioned:
            script.write_text(f"{version} {{ {' '.join(f'{name};' for name in versioned)} }};\n")
            command.append(f"-Wl,--version-script={script}")
        subprocess.run(command, check=True)


def stand_in_for_cuda(libraries):
    """Stand-ins, in PyTorch's folder of libraries, for the CUDA libraries that are not installed."""
    own = [str(path) for path in libraries.glob("lib*.so")]
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", output("readelf", "-d", *own)))
    symbols = sorted(set(re.findall(r" U (\S+)", output("nm", "-D", "--undefined-only", *own))))
    plain = [symbol for symbol in symbols if "@" not in symbol and CUDA_SYMBOL.match(symbol)]
    for name in sorted(filter(CUDA_LIBRARY.match, needed)):
        version = SYMBOL_VERSION.get(name, name)
        versioned = [symbol.split("@")[0] for symbol in symbols if symbol.endswith(f"@{version}")]
        # Symbols without a version may live in any library of the process: all in one.
        make_stand_in(libraries / name, version, versioned, plain if name.startswith("libnccl") else [])


def install_torch():
    """PyTorch from its CPU index, else from the registry with stand-ins; a failure is no error, only a line."""
    requirements = HERE / "requirements-torch.txt"
    pinned = re.search(r"^torch==\S+", requirements.read_text(), re.MULTILINE)[0]
    # `-qqq` hides the error: an unreachable index is expected, and has a remedy below.
    lean = pip("-q", "--index-url", CPU_INDEX, "--timeout", "10", "--retries", "0", pinned) and can_import("torch")
    if lean or not pip("--no-deps", "-r", requirements):
        return
    libraries = next(HOME.glob("lib/python*/site-packages/torch/lib"))
    runtime = next(HOME.glob("lib/python*/site-packages/nvidia/*/lib/libcudart.so.*"))
    (libraries / runtime.name).unlink(missing_ok=True)
    (libraries / runtime.name).symlink_to(runtime)
    try:
        stand_in_for_cuda(libraries)
    except (OSError, subprocess.CalledProcessError) as reason:
        say(f"note: PyTorch cannot be loaded without CUDA here: {reason}")


def prepare():
    """The environment's interpreter, made on the first call."""
    ready = HOME / "ready"
    if not ready.exists():
        say("note: making the Python environment of the comparison (once; PyTorch alone is a download of 540 MB)")
        venv.create(HOME, with_pip=True)
        if not pip("-r", HERE / "requirements.txt"):
            sys.exit("error: JAX cannot be installed from the package registry\nhint: is the network reachable?")
        install_torch()
        ready.touch()
    return PYTHON
