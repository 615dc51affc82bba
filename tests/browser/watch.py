"""Opens the page of `attractor watch` in a headless Chromium while a training runs.

    python3 watch.py ATTRACTOR FOLDER DATA [--shots FOLDER]

ATTRACTOR is the command, FOLDER has finished runs, DATA is a recording on which one more is trained meanwhile. Checks at
three sizes, light and dark: no error in the console, no request to anywhere but the page's own address, nothing wider
than the window; a row per run, the filter, medians over seeds, a running training whose curves and attractor change, a
comparison of two, and runs that vanish. Then 5,000 runs: how long the page needs to show them, and to scroll.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from driver import INK, WIDER, Driver, check_logs, forget_logs, photograph, show_at

ROWS = 'return Array.from(document.querySelectorAll(".grid .body .row")).map((row) => row.textContent)'
COUNT = 'return document.getElementById("count").textContent'
TITLE = 'return document.getElementById("title").textContent'
FIGURES = 'return Array.from(document.querySelectorAll("main canvas"))'
CAPTION = 'return Array.from(document.querySelectorAll("figcaption")).map((caption) => caption.textContent).join(" ")'
TYPE = """
const box = document.getElementById("filter");
box.value = arguments[0];
box.dispatchEvent(new Event("input"));
"""
GROUP = 'const s = document.getElementById("rows"); s.value = arguments[0]; s.dispatchEvent(new Event("change"))'
# The longest time between two frames while the table scrolls from end to end, in milliseconds.
SCROLL = """
const done = arguments[arguments.length - 1];
const grid = document.querySelector(".grid");
let last = performance.now(), longest = 0, k = 0;
const frame = (now) => {
  longest = Math.max(longest, now - last);
  last = now;
  k += 1;
  grid.scrollTop = (grid.scrollHeight - grid.clientHeight) * k / 120;
  if (k < 120) requestAnimationFrame(frame);
  else done(longest);
};
requestAnimationFrame((now) => { last = now; requestAnimationFrame(frame); });
"""


class Watched:
    """A server over a folder."""

    def __init__(self, attractor, folder):
        words = [attractor, "watch", folder]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def until(told, test, seconds=30.0):
    """Waits; gives back what is wrong if it waits in vain."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if test():
            return []
        time.sleep(0.1)
    return [told]


def check_all(driver, server, count, size, scheme, shots):
    """The overview of all runs."""
    show_at(driver, size, scheme)
    forget_logs(driver)
    driver.post("/url", url="about:blank")
    driver.post("/url", url=server.address)
    # Of many runs only the rows in sight are elements.
    wrong = until(f"there are not {count} runs", lambda: driver.script(COUNT).endswith(f" of {count} runs"))
    wrong += until("no curve is drawn", lambda: any(driver.script(INK, canvas) > 20 for canvas in driver.script(FIGURES)))
    if driver.script(WIDER) > 0:
        wrong.append(f"{driver.script(WIDER)} pixels wider than the window")
    if shots:
        photograph(driver, shots / f"overview-{size}-{scheme}.png")
    return wrong + check_logs(driver, (server.address, "data:", "about:"))


def check_filter(driver):
    """The filter, and medians over seeds."""
    driver.script(TYPE, "state=finished")
    wrong = until("the filter keeps runs of other states", lambda: all("finished" in row for row in driver.script(ROWS)))
    driver.script(TYPE, "no-run-is-like-this")
    wrong += until("the filter keeps all runs", lambda: driver.script(COUNT).startswith("0 of"))
    driver.script(TYPE, "")
    driver.script(GROUP, "1")
    wrong += until("there are no groups", lambda: driver.script(ROWS) != [])
    driver.script(GROUP, "0")
    return wrong


def check_run(driver, server, name, size, scheme, shots):
    """One run, which is trained meanwhile: its attractor forms on the page."""
    show_at(driver, size, scheme)
    forget_logs(driver)
    driver.script(TYPE, name)
    wrong = until(f"no row `{name}`", lambda: any(name in row for row in driver.script(ROWS)))
    driver.script(f'Array.from(document.querySelectorAll(".grid a")).find((a) => a.textContent === "{name}").click()')
    wrong += until(f"the run `{name}` does not open", lambda: driver.script(TITLE) == name)
    wrong += until("no model is shown", lambda: "after epoch" in driver.script(CAPTION))
    first = driver.script(CAPTION)
    wrong += until("the model does not change while it is trained", lambda: driver.script(CAPTION) != first)
    wrong += until("an orbit is not drawn", lambda: all(driver.script(INK, canvas) > 20 for canvas in driver.script(FIGURES)[:2]))
    if driver.script(WIDER) > 0:
        wrong.append(f"{driver.script(WIDER)} pixels wider than the window")
    if shots:
        photograph(driver, shots / f"run-{size}-{scheme}.png")
    wrong += check_logs(driver, (server.address, "data:", "about:"))
    driver.script('location.hash = "#/"')
    until("", lambda: driver.script('return document.getElementById("filter") !== null'))
    driver.script(TYPE, "")
    return wrong


def check_comparison(driver, server, size, shots):
    """Two runs side by side."""
    forget_logs(driver)
    wrong = until("there are no boxes", lambda: driver.script('return document.querySelectorAll(".grid input").length') > 1)
    driver.script('for (const box of Array.from(document.querySelectorAll(".grid input")).slice(0, 2)) box.click()')
    driver.click("#compare")
    wrong += until("no comparison opens", lambda: driver.script(TITLE) == "2 runs side by side")
    time.sleep(1.0)
    if shots:
        photograph(driver, shots / f"compare-{size}.png")
    wrong += check_logs(driver, (server.address, "data:", "about:"))
    driver.script('location.hash = "#/"')
    return wrong


def check_many(driver, attractor, folder):
    """5,000 runs: the page shows them, and scrolls. Copies of one finished run stand for them."""
    run = next(path.parent for path in sorted(folder.glob("*/outcome.json")))
    with tempfile.TemporaryDirectory() as name:
        many = pathlib.Path(name) / "many"
        for k in range(5000):
            copy = many / f"run-{k:04}"
            copy.mkdir(parents=True)
            for part in ("experiment.toml", "outcome.json"):
                shutil.copy(run / part, copy / part)
        with Watched(attractor, many) as server:
            show_at(driver, "desk", "light")
            driver.post("/url", url="about:blank")
            begun = time.monotonic()
            driver.post("/url", url=server.address)
            wrong = until("5,000 runs are not shown", lambda: "5,000" in driver.script(COUNT))
            shown = time.monotonic() - begun
            longest = driver.post("/execute/async", script=SCROLL, args=[])
    print(f"5,000 runs: shown after {shown:.2f} s, longest frame while scrolling {longest:.0f} ms")
    return wrong


def main(words):
    shots = None
    if "--shots" in words:
        at = words.index("--shots")
        shots = pathlib.Path(words[at + 1])
        shots.mkdir(parents=True, exist_ok=True)
        words = words[:at] + words[at + 2:]
    attractor, folder, data = words[0], pathlib.Path(words[1]), words[2]
    live = folder / "live"
    shutil.rmtree(live, ignore_errors=True)
    training = subprocess.Popen(
        [attractor, "train", data, "--out", live, "--quiet", *"--epochs 100000 --hidden 30 --checkpoint-every 1".split()],
    )
    wrong = []
    with tempfile.TemporaryDirectory() as profile:
        driver = Driver(profile)
        try:
            wrong += until("the training does not begin", lambda: (live / "checkpoint.safetensors").exists(), 60.0)
            count = len(list(folder.glob("*/experiment.toml")))
            with Watched(attractor, folder) as server:
                for size, scheme in [("phone", "light"), ("tablet", "dark"), ("desk", "light"), ("desk", "dark")]:
                    wrong += check_all(driver, server, count, size, scheme, shots)
                # A run is waited for: its model must change.
                for size, scheme in [("phone", "dark"), ("desk", "light")]:
                    wrong += check_run(driver, server, "live", size, scheme, shots)
                wrong += check_filter(driver)
                wrong += check_comparison(driver, server, "desk", shots)
                training.terminate()
                training.wait()
                shutil.rmtree(live)
                gone = lambda: driver.script(COUNT).endswith(f" of {count - 1} runs")
                wrong += until("a run that is gone is still shown", gone)
            wrong += check_many(driver, attractor, folder)
        finally:
            training.kill()
            driver.close()
    for fault in wrong:
        print(f"watch: {fault}")
    print(f"the page of watch in a browser, {len(wrong)} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
