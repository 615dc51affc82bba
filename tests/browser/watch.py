"""Opens the page of `attractor watch` in a headless Chromium while a training runs.

    python3 watch.py ATTRACTOR FOLDER DATA [--shots FOLDER]

ATTRACTOR is the command, FOLDER has finished runs, DATA is a recording on which one more is trained meanwhile. Checks at
three sizes, light and dark: no error in the console, no request to anywhere but the page's own address, nothing wider
than the window; a row per run, the filter, medians over seeds, a running training whose curves and attractor change, a
comparison of two, and runs that vanish. Then a study over two settings: a score over one of them, its medians over both as a heat map, and six
of its runs side by side. Then 5,000 runs: how long the page needs to show them, and to scroll.
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
# The median and the longest time between two frames, in milliseconds, while the table scrolls by 100 pixels a frame: as fast as a finger can.
SCROLL = """
const done = arguments[arguments.length - 1];
const grid = document.querySelector(".grid");
const times = [];
const frame = (now) => {
  times.push(now);
  grid.scrollTop = 100 * times.length;
  if (times.length < 240) requestAnimationFrame(frame);
  else {
    const gaps = times.slice(1).map((t, k) => t - times[k]).sort((a, b) => a - b);
    done([gaps[gaps.length >> 1], gaps.at(-1)]);
  }
};
requestAnimationFrame(frame);
"""
# When the first rows are in the document, in milliseconds from when the page is asked for.
FIRST = """
new MutationObserver(() => {
  if (!window.shownAfter && document.querySelector(".grid .body .row")) window.shownAfter = performance.now();
}).observe(document, { subtree: true, childList: true });
"""
CHOOSE = """
const select = document.getElementById(arguments[0]);
select.value = arguments[1];
select.dispatchEvent(new Event("change"));
"""
# Which of the two canvases over settings is shown, the line or the map.
SCANNED = """
const canvases = document.getElementById("scan-first").closest("section").querySelectorAll("canvas");
return Array.from(canvases, (canvas) => canvas.clientHeight > 0);
"""
MAP = 'return document.getElementById("scan-first").closest("section").querySelectorAll("canvas")[1]'
STUDY = """
name = "two"
seeds = 2
[data]
train = "{data}"
[settings]
epochs = 1
batches-per-epoch = 2
[grid]
hidden = [5, 8]
window = [30, 50]
[evaluation]
starts = 1
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


def check_comparison(driver, server, size, shots, count=2):
    """A few runs side by side."""
    forget_logs(driver)
    wrong = until("there are no boxes", lambda: driver.script('return document.querySelectorAll(".grid input").length') >= count)
    driver.script(f'for (const box of Array.from(document.querySelectorAll(".grid input")).slice(0, {count})) box.click()')
    driver.click("#compare")
    wrong += until("no comparison opens", lambda: driver.script(TITLE) == f"{count} runs side by side")
    columns = lambda: driver.script('return document.querySelectorAll("main thead th").length')
    wrong += until(f"there are not {count} runs in the table", lambda: columns() == count + 1)
    if driver.script(WIDER) > 0:
        wrong.append(f"the comparison is {driver.script(WIDER)} pixels wider than the window")
    time.sleep(1.0)
    if shots:
        photograph(driver, shots / f"compare-{count}-{size}.png")
    wrong += check_logs(driver, (server.address, "data:", "about:"))
    driver.script('location.hash = "#/"')
    return wrong


def check_study(driver, attractor, data, shots):
    """A study over two settings, as a line over one of them and as a map over both; six of its runs side by side."""
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "study.toml").write_text(STUDY.format(data=pathlib.Path(data).resolve()))
        subprocess.run([attractor, "sweep", "study.toml", "--out", "study", "--quiet"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        with Watched(attractor, folder) as server:
            show_at(driver, "desk", "light")
            driver.post("/url", url="about:blank")
            forget_logs(driver)
            driver.post("/url", url=server.address)
            wrong += until("the study is not shown", lambda: driver.script(COUNT).endswith(" of 8 runs"))
            wrong += until("there is no score over a setting", lambda: driver.script(SCANNED) == [True, False])
            driver.script(CHOOSE, "scan-second", "2")
            wrong += until("there is no map over two settings", lambda: driver.script(SCANNED) == [False, True])
            wrong += until("the map is empty", lambda: driver.script(INK, driver.script(MAP)) > 1000)
            for size, scheme in [("desk", "light"), ("phone", "dark")]:
                show_at(driver, size, scheme)
                if driver.script(WIDER) > 0:
                    wrong.append(f"{size}: the study is {driver.script(WIDER)} pixels wider than the window")
                if shots:
                    time.sleep(1.0)
                    photograph(driver, shots / f"study-{size}-{scheme}.png")
            wrong += check_comparison(driver, server, "phone", shots, 6)
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
            driver.devtools("Page.addScriptToEvaluateOnNewDocument", source=FIRST)
            driver.post("/url", url="about:blank")
            driver.post("/url", url=server.address)
            wrong = until("5,000 runs are not shown", lambda: "5,000" in driver.script(COUNT))
            time.sleep(1.0)
            shown = driver.script("return window.shownAfter")
            median, longest = driver.post("/execute/async", script=SCROLL, args=[])
    print(f"5,000 runs: shown after {shown:.0f} ms; while scrolling a frame takes {median:.1f} ms, the longest {longest:.0f} ms")
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
            wrong += check_study(driver, attractor, data, shots)
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
