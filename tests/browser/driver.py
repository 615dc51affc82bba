"""A headless Chromium, driven by chromedriver in the WebDriver protocol, with the standard library alone."""

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request

SIZES = {"phone": (390, 844), "tablet": (1024, 768), "desk": (1440, 900)}
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars",
]
# How many pixels of a canvas have been drawn, of a sample. A copy is read: a browser warns of pages that read what they draw.
INK = """
const canvas = arguments[0], copy = document.createElement("canvas");
[copy.width, copy.height] = [canvas.width, canvas.height];
const context = copy.getContext("2d", { willReadFrequently: true });
context.drawImage(canvas, 0, 0);
const { data } = context.getImageData(0, 0, copy.width, copy.height);
let ink = 0;
for (let e = 0; e < data.length; e += 52) if (data[e + 3] > 0) ink += 1;
return ink;
"""
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


def show_at(driver, size, scheme):
    """Makes the window as large as that of a device, light or dark."""
    width, height = SIZES[size]
    driver.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2, mobile=False)
    driver.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])


def forget_logs(driver):
    driver.post("/se/log", type="browser")
    driver.post("/se/log", type="performance")


def check_logs(driver, own):
    """Errors in the console, and requests to anything that does not begin with one of `own`."""
    entries = driver.post("/se/log", type="browser")
    wrong = [f"console: {entry['message']}" for entry in entries if entry["level"] in ("SEVERE", "WARNING")]
    for entry in driver.post("/se/log", type="performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url, document = message["params"]["request"]["url"], message["params"]["documentURL"]
            # The browser's first tab may still be loading its own page.
            if not url.startswith(own) and not document.startswith("chrome:"):
                wrong.append(f"request: {url}")
    return wrong


def photograph(driver, file):
    """The whole page as a picture."""
    size = driver.devtools("Page.getLayoutMetrics")["cssContentSize"]
    clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
    shot = driver.devtools("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
    file.write_bytes(base64.b64decode(shot["data"]))
