#!/usr/bin/env python3
"""One training update of our engine beside JAX and PyTorch, measured in one sitting.

    python3 benches/compare/compare.py                       all four workloads, synthetic data, table into docs/benchmarks.md
    python3 benches/compare/compare.py --workload eeg --data EEG_train.npy --json figures.json

For each workload the programs take short turns (ours, JAX, PyTorch, and again), all of them warm from the first turn
on, so that a machine that slows down slows all of them; a ratio is the median of the ratios within a turn. JAX is
tried in every form of `jax_update.py` first, and two take part: the fastest with JAX's own gradient, and the fastest
with the backward sweep written by hand. Before anything is timed, the gradients of the peers are compared. JAX,
PyTorch and ours with one thread are held on one core. Ours with two threads is timed in turns with ours afterwards. On a
shared machine neighbours slow a core down, and two virtual cores may be one real core: each turn of two threads stands
between turns of two programs of one thread, on both cores at the same time, which tell whether there were two undisturbed
cores, and beside the medians of all turns stand those of the undisturbed ones.
"""

import argparse
import datetime
import importlib
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import environment

ROOT = environment.ROOT
BINARY = ROOT / "target" / "release" / "attractor"
PAGE = ROOT / "docs" / "benchmarks.md"
BEGIN, END = "<!-- compare:begin -->", "<!-- compare:end -->"
SINGLE_THREADED = {
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
}
# Of two threads beside one: trios of processes (one thread on either core, two on both), their turns, the blocks of a turn,
# of which the last one counts, and how long one thread takes for a block.
TRIOS, PAIRED_TURNS, BLOCKS, TURN_SECONDS = 4, 150, 3, 2.5e-3
# Cores are undisturbed in a turn in which one thread each, both at the same time, takes at most so much longer than one
# thread alone in its fastest hundredth; fewer turns than these tell nothing.
UNDISTURBED, FEWEST = 1.1, 20
# A larger unroll factor is not tried once one is this much slower than its family's best.
GIVE_UP = 1.25
# Two programs sum T·S·N = 10⁴ – 10⁵ float32 terms in different orders, and a unit within rounding of its kink may
# fall on either side of it, which moves its gradient by one term in T·S = 10³.
AGREEMENT = 2e-3


# --- timing -----------------------------------------------------------------------------------------------------------


def update_times(trainer, seconds):
    """Seconds per update of each of the calls that together last about `seconds`; at least five."""
    times, end = [], time.perf_counter() + seconds
    while len(times) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        trainer.run()
        times.append((time.perf_counter() - start) / trainer.updates)
    return times


def seconds_per_update(trainer, seconds):
    """The median update."""
    return statistics.median(update_times(trainer, seconds))


def warm(trainer):
    """Compile, and fill the caches."""
    for _ in range(3):
        trainer.run()
    return trainer


def fastest_jax(jax_update, families, workload, series, parameters, seconds):
    """The fastest form's trainer. Each family of forms climbs the unroll factors until that stops paying. Forms are
    judged by their fastest call, which a busy machine disturbs least."""
    best, best_time = None, float("inf")
    for gradient, layout in families:
        family_time = float("inf")
        for unroll in jax_update.UNROLLS:
            form = jax_update.Form(gradient, layout, unroll)
            trainer = warm(jax_update.Trainer(workload, form, series, parameters))
            taken = min(update_times(trainer, seconds))
            environment.say(f"  jax {form}: {taken * 1e6:.0f} µs")
            if taken < best_time:
                best, best_time = trainer, taken
            if taken > GIVE_UP * family_time:
                break
            family_time = min(taken, family_time)
    return best


# --- the programs -----------------------------------------------------------------------------------------------------


def pin_to(cores):
    """Hold this process, and what it starts, on `cores`."""
    os.sched_setaffinity(0, cores)


def build_ours():
    """Build the release binary if it is not there."""
    if not BINARY.exists():
        subprocess.run(["cargo", "build", "--release", "--package", "attractor-cli"], cwd=ROOT, check=True)


class Ours:
    """Our program, which makes a block of updates for every line that it gets, and tells the seconds per update."""

    def __init__(self, workload, data, cores, threads=1, block=20):
        # taskset, not a function run after the fork: JAX has threads by now.
        command = ["taskset", "--cpu-list", ",".join(map(str, sorted(cores)))]
        command += [BINARY, "bench", "--workload", workload.name, "--threads", str(threads), "--paced", "--block", str(block)]
        command += ["--data", data] if data else []
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.block()

    def block(self):
        """Seconds per update of one block."""
        self.ask()
        return self.answer()

    def ask(self):
        """Have a block made."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def answer(self):
        """Seconds per update of the block that was asked for."""
        answer = self.process.stdout.readline()
        return float(answer) if answer else sys.exit("error: `attractor bench --paced` ended early")

    def median(self, seconds):
        """Of the blocks that together last about `seconds`."""
        times, end = [], time.perf_counter() + seconds
        while len(times) < 5 or time.perf_counter() < end:
            times.append(self.block())
        return statistics.median(times)

    def stop(self):
        """No more lines."""
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait()


def turn(*programs):
    """Seconds per update of programs in a turn that they have at the same time, after which they are stopped. Their first
    blocks find cold caches, and threads that are not on their cores yet."""
    for program in programs:
        program.process.send_signal(signal.SIGCONT)
    for _ in range(BLOCKS):
        for program in programs:
            program.ask()
        seconds = [program.answer() for program in programs]
    for program in programs:
        program.process.send_signal(signal.SIGSTOP)
    return seconds


def optional_torch():
    """The PyTorch update, or None and a line when PyTorch cannot be had."""
    try:
        return importlib.import_module("torch_update")
    except (ImportError, OSError, ValueError) as reason:
        environment.say(f"note: PyTorch is skipped: {reason}")
        return None


def check_gradients(np, jax_update, torch_update, workload, series, parameters):
    """Stop unless every peer computes the same gradient for the same windows."""
    starts = range(0, len(series) - workload.window - 1, (len(series) - workload.window) // 16)[:16]
    windows = np.stack([series[start : start + workload.window + 1] for start in starts])
    families = [jax_update.Form(gradient, layout, 1) for gradient, layout in jax_update.FAMILIES]
    found = {f"JAX, {form}": jax_update.gradient_of(workload, form, parameters, windows) for form in families}
    if torch_update:
        found["PyTorch"] = torch_update.gradient_of(workload, parameters, windows)
    reference = np.asarray(next(iter(found.values())))
    for name, gradient in found.items():
        apart = np.linalg.norm(np.asarray(gradient) - reference) / np.linalg.norm(reference)
        if not apart < AGREEMENT:
            sys.exit(f"error: the gradient of {name} differs by {apart:.1e} on {workload.name}")


def compare(workload, arguments, cores):
    """All programs on one workload: a record of µs per update and ratios."""
    import numpy as np

    import jax_update
    from workload import initial_parameters, synthetic_series

    torch_update = optional_torch()
    data = fitting(arguments.data, workload)
    series = np.load(data).astype(np.float32) if data else synthetic_series(workload.observed)
    parameters = initial_parameters(workload)
    check_gradients(np, jax_update, torch_update, workload, series, parameters)
    by_hand = [family for family in jax_update.FAMILIES if family[0] != "autodiff"]
    autodiff = [family for family in jax_update.FAMILIES if family[0] == "autodiff"]
    find = lambda families: fastest_jax(jax_update, families, workload, series, parameters, arguments.seconds)
    peers = {"JAX": find(autodiff), "JAX by hand": find(by_hand)}
    forms = {name: str(trainer.form) for name, trainer in peers.items()}
    if torch_update:
        peers["PyTorch"] = warm(torch_update.Trainer(workload, series, parameters))
    record = summary(in_turns(workload, peers, data, arguments, cores))
    record |= {"workload": workload.name, "data": Path(data).name if data else "synthetic", "forms": forms}
    record["two_threads"] = two_threads(workload, data, cores, record["microseconds"]["ours"] / 1e6)
    return record


def fitting(data, workload):
    """The file of data, if it has as many channels as a workload; None for synthetic data."""
    import numpy as np

    return data if data and np.load(data, mmap_mode="r").shape[1] == workload.observed else None


def compare_threads(workload, arguments, cores):
    """Two threads beside one on one workload, and no other program."""
    data = fitting(arguments.data, workload)
    program = Ours(workload, data, {max(cores)})
    alone = program.median(1)
    program.stop()
    record = {"workload": workload.name, "data": Path(data).name if data else "synthetic"}
    return record | {"two_threads": two_threads(workload, data, cores, alone)}


def in_turns(workload, peers, data, arguments, cores):
    """Median seconds per update of every program, turn by turn."""
    program, turns = Ours(workload, data, {max(cores)}), []
    for _ in range(arguments.turns):
        turn = {"ours": program.median(arguments.seconds)}
        turn |= {name: seconds_per_update(trainer, arguments.seconds) for name, trainer in peers.items()}
        turns.append(turn)
    program.stop()
    return turns


def two_threads(workload, data, cores, alone):
    """How much faster updates are on two threads than on one, which takes about `alone` seconds, in turns; None where there
    is one core."""
    if len(cores) < 2:
        return None
    block, turns, cores = max(1, round(TURN_SECONDS / alone)), [], sorted(cores)[:2]
    for _ in range(TRIOS):
        trio = [Ours(workload, data, {core}, block=block) for core in cores]
        trio.append(Ours(workload, data, cores, threads=2, block=block))
        try:
            # All are stopped before anything counts.
            turn(*trio)
            turns.append([turn(trio[0]) + turn(trio[1]) + turn(*trio[:2]) + turn(trio[2]) for _ in range(PAIRED_TURNS)])
        finally:
            for program in trio:
                program.stop()
    return gains_of(turns)


def gains_of(trios):
    """What two threads gain in all turns, and in undisturbed ones. A turn has the seconds of one thread on either core, alone
    and at the same time, then those of two; the turn after it tells how the cores were afterwards."""
    quiet = []
    for turns in trios:
        floors = [sorted(turn[core] for turn in turns)[len(turns) // 100] for core in (0, 1)]
        is_quiet = [all(turn[2 + core] <= UNDISTURBED * floors[core] for core in (0, 1)) for turn in turns]
        quiet += [turn for turn, before, after in zip(turns, is_quiet, is_quiet[1:]) if before and after]
    return {
        "all": gain_of([turn for turns in trios for turn in turns]),
        "undisturbed": gain_of(quiet) if len(quiet) >= FEWEST else None,
        "undisturbed_turns": len(quiet),
    }


def gain_of(turns):
    """Medians of one thread and of two in µs, that of the ratio within a turn, and how many turns there were."""
    one = [statistics.mean(turn[:2]) for turn in turns]
    two = [turn[4] for turn in turns]
    gain = statistics.median(a / b for a, b in zip(one, two))
    return {"turns": len(turns), "medians": [statistics.median(t) * 1e6 for t in (one, two)], "gain": gain}


def summary(turns):
    """Medians over the turns of the times (µs), and of the ratios to ours within a turn."""
    times = {name: statistics.median(turn[name] for turn in turns) * 1e6 for name in turns[0]}
    ratios = {name: statistics.median(turn[name] / turn["ours"] for turn in turns) for name in turns[0]}
    return {"microseconds": times, "fastest": {n: min(t[n] for t in turns) * 1e6 for n in turns[0]}, "ratios": ratios}


# --- the report -------------------------------------------------------------------------------------------------------


def cpu_model():
    """The processor's name."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def vector_isa():
    """The widest vector instructions that the processor has."""
    flags = set(Path("/proc/cpuinfo").read_text().split())
    return "AVX-512" if "avx512f" in flags else "AVX2 + FMA" if {"avx2", "fma"} <= flags else "baseline"


def versions():
    """What was installed, by name."""
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for package in ("jax", "jaxlib", "torch"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found


def machine(cores):
    """Where and when this was measured."""
    return {
        "cpu": cpu_model(),
        "isa": vector_isa(),
        "cores": len(cores),
        "load": round(os.getloadavg()[0], 1),
        "date": datetime.date.today().isoformat(),
        "python": platform.python_version(),
        "versions": versions(),
    }


def number(value, digits=0, suffix=""):
    """A table cell; a dash for what was not measured."""
    return "–" if value is None else f"{value:,.{digits}f}{suffix}".replace(",", "\u2009")


def gains(two):
    """What two threads gain in all turns and in undisturbed ones: one thread, two threads, gain (turns)."""
    cells = []
    for measured, turns in ((two["all"], two["all"]["turns"]), (two["undisturbed"], two["undisturbed_turns"])):
        one, both = (number(median) for median in measured["medians"]) if measured else ("–", "–")
        gain = number(measured and measured["gain"], 2, "×")
        cells.append(f"{one}, {both}: {gain} ({turns})")
    return cells


def threads_table(report):
    """Two threads beside one, as Markdown."""
    where = report["machine"]
    lines = [
        f"{where['cpu']}, {where['isa']}, {where['cores']} cores, {where['date']}; load before the run {where['load']}.",
        "",
        "| µs per update: one thread, two, gain (turns) | all turns | undisturbed |",
        "| --- | ---: | ---: |",
    ]
    for row in report["workloads"]:
        lines.append(f"| {' | '.join([name_of(row), *gains(row['two_threads'])])} |")
    return "\n".join(lines)


def name_of(row):
    """A workload, with its data unless they are synthetic."""
    return row["workload"] if row["data"] == "synthetic" else f"{row['workload']}, {row['data']}"


def table(report):
    """The report as Markdown."""
    where = report["machine"]
    installed = ", ".join(f"{name} {version}" for name, version in where["versions"].items() if version)
    lines = [
        f"{where['cpu']}, {where['isa']}, {where['cores']} cores, {where['date']}; {installed}, "
        f"Python {where['python']}; load before the run {where['load']}.",
        "",
        "| µs per update | ours | JAX | JAX, backward by hand | PyTorch | JAX / ours | by hand / ours | PyTorch / ours | two threads (turns) | undisturbed (turns) |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    peers = ("JAX", "JAX by hand", "PyTorch")
    for row in report["workloads"]:
        times, ratios, two = row["microseconds"], row["ratios"], row["two_threads"]
        cells = [name_of(row)]
        cells += [number(times.get(name)) for name in ("ours", *peers)]
        cells += [number(ratios.get(name), 1, "×") for name in peers]
        cells += gains(two) if two else ["–", "–"]
        lines.append(f"| {' | '.join(cells)} |")
    lines.append("")
    for row in report["workloads"]:
        lines.append(f"JAX's fastest forms, {row['workload']}: {row['forms']['JAX']}; {row['forms']['JAX by hand']}.")
    return "\n".join(lines)


def write_page(text):
    """Replace what stands between the markers of docs/benchmarks.md; all else is kept."""
    page = PAGE.read_text() if PAGE.exists() else f"# Benchmarks\n\n{BEGIN}\n{END}\n"
    if BEGIN not in page or END not in page:
        page = f"{page.rstrip()}\n\n{BEGIN}\n{END}\n"
    before, rest = page.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


# --- the command line -------------------------------------------------------------------------------------------------


def parse():
    """The command line."""
    from workload import WORKLOADS

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workload", action="append", choices=WORKLOADS, help="one workload (may be repeated; default all)")
    parser.add_argument("--data", metavar="FILE.npy", help="a series for the workloads with as many channels; others are synthetic")
    parser.add_argument("--turns", type=int, default=20, help="how often the programs take turns (default 20)")
    parser.add_argument("--seconds", type=float, default=0.25, help="how long a program is timed in a turn (default 0.25)")
    parser.add_argument("--json", metavar="FILE", help="also write the figures as JSON")
    parser.add_argument("--threads-only", action="store_true", help="only two threads beside one, without other programs and without the page")
    parser.add_argument("--no-page", action="store_true", help="leave docs/benchmarks.md as it is")
    arguments = parser.parse_args()
    arguments.workload = [WORKLOADS[name] for name in arguments.workload or WORKLOADS]
    return arguments


def enter_environment():
    """Continue in the comparison's own Python, single-threaded."""
    python = environment.prepare()
    os.execve(python, [str(python), *sys.argv], {**os.environ, **SINGLE_THREADED, "ATTRACTOR_COMPARE": "1"})


def main():
    """Measure, print the table, and put it into the page."""
    if os.environ.get("ATTRACTOR_COMPARE") != "1":
        enter_environment()
    arguments, cores = parse(), os.sched_getaffinity(0)
    if arguments.threads_only and len(cores) < 2:
        sys.exit("error: two threads need two cores")
    build_ours()
    report = {"machine": machine(cores), "workloads": []}
    pin_to({max(cores)})
    measure = compare_threads if arguments.threads_only else compare
    for workload in arguments.workload:
        environment.say(f"{workload.name}:")
        report["workloads"].append(measure(workload, arguments, cores))
        keep(report, arguments)
    print(threads_table(report) if arguments.threads_only else table(report))


def keep(report, arguments):
    """Write what was measured so far: a comparison takes minutes a workload, and may be interrupted."""
    if not (arguments.no_page or arguments.threads_only):
        write_page(table(report))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
