"""Opens pages of `attractor report` in a headless Chromium, as a reader on a phone and at a desk would.

    python3 report.py PAGE… [--shots FOLDER]

Checks, for every page and size: no
error in the console, no request to a network, drawn canvases, a live model that moves and parts when it is perturbed, a
channel picker that changes what is shown, and nothing wider than the window. Prints one line per check that fails, and ends
with exit code 1 if there is one.
"""

import pathlib
import sys
import tempfile
import time

from driver import INK, WIDER, Driver, check_logs, forget_logs, photograph, show_at

CANVASES = 'return Array.from(document.querySelectorAll("canvas"))'
READOUT = 'return document.getElementById("readout").textContent'
PICTURE = "return arguments[0].toDataURL()"


def check_page(driver, page, size, scheme, shots):
    """What is wrong with a page at a size, in words."""
    wrong = []
    show_at(driver, size, scheme)
    forget_logs(driver)
    driver.post("/url", url=page.resolve().as_uri())
    time.sleep(0.5)
    if driver.script(WIDER) > 0:
        wrong.append(f"{driver.script(WIDER)} pixels wider than the window")
    canvases = driver.script(CANVASES)
    blank = [i for i, canvas in enumerate(canvases) if driver.script(INK, canvas) < 20]
    if len(canvases) < 3 or blank:
        wrong.append(f"{len(canvases)} canvases, blank are {blank}")
    if shots:
        photograph(driver, shots / f"{page.stem}-{size}-{scheme}.png")
    wrong += check_live(driver, canvases)
    wrong += check_picker(driver)
    wrong += check_logs(driver, ("file:", "data:"))
    return wrong


def check_live(driver, canvases):
    """Whether the model moves, and parts from a second orbit."""
    wrong = []
    before = driver.script(READOUT)
    driver.click("#perturb")
    time.sleep(1.5)
    after = driver.script(READOUT)
    if before == after:
        wrong.append(f"the live model stands still: {after}")
    if "distance" not in after:
        wrong.append(f"there is no second orbit: {after}")
    if driver.script('return document.getElementById("play").textContent') == "Pause":
        driver.click("#play")
        still = driver.script(READOUT)
        time.sleep(0.3)
        if driver.script(READOUT) != still:
            wrong.append("the live model does not pause")
    driver.click("#again")
    if not driver.script(READOUT).startswith("step 0"):
        wrong.append("the live model does not start again")
    return wrong


def check_picker(driver):
    """Whether another channel shows other curves."""
    count = driver.script('return document.getElementById("channel").options.length')
    if count < 2:
        return []
    canvas = driver.script('return document.querySelector("#signals canvas")')
    before = driver.script(PICTURE, canvas)
    driver.script('const s = document.getElementById("channel"); s.value = "1"; s.dispatchEvent(new Event("change"))')
    time.sleep(0.2)
    return [] if driver.script(PICTURE, canvas) != before else ["the channel picker changes nothing"]


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
                for size, scheme in [("phone", "light"), ("tablet", "dark"), ("desk", "light"), ("desk", "dark")]:
                    for wrong in check_page(driver, page, size, scheme, shots):
                        print(f"{page.name}, {size}, {scheme}: {wrong}")
                        failed += 1
        finally:
            driver.close()
    print(f"{len(words)} pages in a browser, {failed} faults")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
