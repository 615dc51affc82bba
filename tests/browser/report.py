"""Opens pages of `attractor report` in a headless Chromium, as a reader on a phone and at a desk would.

    python3 report.py PAGE… [--shots FOLDER]

Every page is loaded once, with its own content-security policy, and shown at three sizes, light and dark. Checks: no
error in the console, no request to a network, drawn canvases, nothing wider than the window, and at a desk the verdict, the four
figures and the pictures of data and model within the first screen. On pages with a live model, whether it moves, pauses and parts
when it is perturbed; with several channels, whether the picker changes what is shown. Prints one line per check that fails,
and ends with exit code 1 if there is one.
"""

import pathlib
import sys
import tempfile
import time

from driver import INK, WIDER, Driver, check_logs, forget_logs, photograph, show_at

READOUT = 'return document.getElementById("readout").textContent'
PICTURE = "return arguments[0].toDataURL()"


LOOKS = [(size, scheme) for size in ("phone", "tablet", "desk") for scheme in ("light", "dark")]
FIRST_SCREEN = """
const ends = Array.from(document.querySelectorAll("#verdict, .tile, #attractor canvas"), (e) => e.getBoundingClientRect().bottom);
return [document.querySelectorAll(".tile").length, Math.max(...ends) - window.innerHeight];
"""
# Two frames: what changed size has then been drawn again.
SETTLE = """
const done = arguments[arguments.length - 1];
requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50)));
"""
BLANK = f"const ink = (canvas) => {{ const f = function () {{ {INK} }}; return f(canvas); }};" + """
return Array.from(document.querySelectorAll("canvas")).map(ink);
"""


def check_page(driver, page, shots):
    """What is wrong with a page, in words."""
    wrong = []
    show_at(driver, "desk", "light")
    forget_logs(driver)
    driver.post("/url", url=page.resolve().as_uri())
    for size, scheme in LOOKS:
        show_at(driver, size, scheme)
        driver.post("/execute/async", script=SETTLE, args=[])
        wrong += [f"{size}, {scheme}: {fault}" for fault in check_look(driver, size)]
        if shots:
            photograph(driver, shots / f"{page.stem}-{size}-{scheme}.png")
    show_at(driver, "desk", "light")
    wrong += check_live(driver)
    wrong += check_picker(driver)
    wrong += check_logs(driver, ("file:", "data:"))
    return wrong


def check_look(driver, size):
    """A page at a size."""
    wrong = []
    if driver.script(WIDER) > 0:
        wrong.append(f"{driver.script(WIDER)} pixels wider than the window")
    inks = driver.script(BLANK)
    blank = [i for i, ink in enumerate(inks) if ink < 20]
    if len(inks) < 2 or blank:
        wrong.append(f"{len(inks)} canvases, blank are {blank}")
    tiles, beyond = driver.script(FIRST_SCREEN)
    if tiles != 4:
        wrong.append(f"{tiles} figures")
    if size == "desk" and beyond > 0:
        wrong.append(f"the first screen is {beyond:.0f} pixels too long")
    return wrong


def check_live(driver):
    """Whether the model moves, and parts from a second orbit."""
    wrong = []
    if not driver.script('return document.getElementById("perturb") !== null'):
        return wrong
    driver.click("#perturb")
    # An orbit that has left all bounds is said to have.
    moves = until(lambda: "distance" in driver.script(READOUT) and not driver.script(READOUT).startswith("step 0"))
    if not moves and "left all bounds" not in driver.script(READOUT):
        wrong.append(f"the live model stands still: {driver.script(READOUT)}")
    if driver.script('return document.getElementById("play").textContent') == "Pause":
        driver.click("#play")
        still = driver.script(READOUT)
        time.sleep(0.15)
        if driver.script(READOUT) != still:
            wrong.append("the live model does not pause")
    driver.click("#again")
    if not driver.script(READOUT).startswith("step 0"):
        wrong.append("the live model does not start again")
    return wrong


def until(test, seconds=10.0):
    """Waits, and says whether it was in vain."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if test():
            return True
        time.sleep(0.05)
    return False


def check_picker(driver):
    """Whether another channel shows other curves; a page without data has none."""
    count = driver.script('return document.querySelectorAll("#channel option").length')
    if count < 2:
        return []
    canvas = driver.script('return document.querySelector("#signals canvas")')
    before = driver.script(PICTURE, canvas)
    driver.script('const s = document.getElementById("channel"); s.value = "1"; s.dispatchEvent(new Event("change"))')
    changes = until(lambda: driver.script(PICTURE, canvas) != before)
    return [] if changes else ["the channel picker changes nothing"]


def main(words):
    shots = None
    if "--shots" in words:
        at = words.index("--shots")
        shots = pathlib.Path(words[at + 1])
        shots.mkdir(parents=True, exist_ok=True)
        words = words[:at] + words[at + 2:]
    failed = 0
    with tempfile.TemporaryDirectory() as profile:
        driver = Driver(profile)
        try:
            for page in map(pathlib.Path, words):
                for wrong in check_page(driver, page, shots):
                    print(f"{page.name}: {wrong}")
                    failed += 1
        finally:
            driver.close()
    print(f"{len(words)} pages in a browser, {failed} faults")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
