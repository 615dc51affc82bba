"""Opens pages of `attractor report` in a headless Chromium, as a reader on a phone and at a desk would.

    python3 report.py PAGE… [--shots FOLDER]

Talks to chromedriver in the WebDriver protocol, with the standard library alone. Checks, for every page and size: no
error in the console, no request to a network, drawn canvases, a live model that moves and parts when it is perturbed, a
channel picker that changes what is shown, and nothing wider than the window. Prints one line a check that fails, and ends
with exit code 1 if there is one.
"""

import base64
import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

SIZES = {"phone": (390, 844), "desk": (1280, 900)}
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars",
]
# How many pixels of a canvas differ from its first one, of a sample.
INK = """
const canvas = arguments[0], context = canvas.getContext("2d");
const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
let ink = 0;
for (let e = 0; e < data.length; e += 52) if (data[e + 3] > 0) ink += 1;
return ink;
"""
CANVASES = 'return Array.from(document.querySelectorAll("canvas"))'
READOUT = 'return document.getElementById("readout").textContent'
PICTURE = "return arguments[0].toDataURL()"
WIDER = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Driver:
    """A chromedriver of our own, and one session in it."""

    def __init__(self, profile):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(["chromedriver", f"--port={port}"], **quiet)
        self.wait_until_ready()
        options = {"args": [*FLAGS, f"--user-data-dir={profile}"], "binary": shutil.which("chromium")}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = f"/session/{answer['sessionId']}"
        # The browser's own start page makes requests, which would count as those of the first page.
        self.post("/url", url="about:blank")

    def wait_until_ready(self):
        for _ in range(300):
            try:
                if self.call("GET", "/status")["ready"]:
                    return
            except OSError:
                time.sleep(0.1)
        raise SystemExit("chromedriver does not answer")

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=300) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{path}: {json.load(error)['value']['message']}") from error

    def post(self, path, **body):
        return self.call("POST", self.session + path, body)

    def script(self, text, *arguments):
        return self.post("/execute/sync", script=text, args=list(arguments))

    def devtools(self, command, **parameters):
        return self.post("/goog/cdp/execute", cmd=command, params=parameters)

    def click(self, selector):
        found = self.post("/element", using="css selector", value=selector)
        self.post(f"/element/{found[ELEMENT]}/click")

    def close(self):
        try:
            self.call("DELETE", self.session)
        finally:
            self.process.terminate()
            self.process.wait()


def check_page(driver, page, size, scheme, shots):
    """What is wrong with a page at a size, in words."""
    wrong = []
    width, height = SIZES[size]
    driver.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2, mobile=False)
    driver.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    driver.post("/se/log", type="browser")
    driver.post("/se/log", type="performance")
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
    wrong += check_logs(driver)
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


def check_logs(driver):
    """Errors in the console, and requests that leave the file."""
    entries = driver.post("/se/log", type="browser")
    wrong = [f"console: {entry['message']}" for entry in entries if entry["level"] in ("SEVERE", "WARNING")]
    for entry in driver.post("/se/log", type="performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url, document = message["params"]["request"]["url"], message["params"]["documentURL"]
            # The browser's first tab may still be loading its own page.
            if not url.startswith(("file:", "data:")) and not document.startswith("chrome:"):
                wrong.append(f"request: {url}")
    return wrong


def photograph(driver, file):
    """The whole page as a picture."""
    size = driver.devtools("Page.getLayoutMetrics")["cssContentSize"]
    clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
    shot = driver.devtools("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
    file.write_bytes(base64.b64decode(shot["data"]))


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
                for size, scheme in [("phone", "light"), ("desk", "light"), ("desk", "dark")]:
                    for wrong in check_page(driver, page, size, scheme, shots):
                        print(f"{page.name}, {size}, {scheme}: {wrong}")
                        failed += 1
        finally:
            driver.close()
    print(f"{len(words)} pages in a browser, {failed} faults")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
