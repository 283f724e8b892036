# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven over two pipes by the DevTools protocol: no driver, no port."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = ["--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu",
         "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
         "--disable-extensions", "--hide-scrollbars", "--font-render-hinting=none"]
PATIENCE = 60


def program():
    """Path of a Chromium; None where there is none."""
    wanted = os.environ.get("CHROMIUM")
    return shutil.which(wanted) if wanted else next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """`with Browser() as browser`: one page. Keeps what it was told: requests, errors."""

    def __init__(self):
        self.events, self.last, self.rest = [], 0, b""

    def __enter__(self):
        path = program()
        if not path:
            raise FileNotFoundError("no Chromium here: install the package chromium, or name one in "
                                    "CHROMIUM")
        to_it, self.out = os.pipe()
        self.into, from_it = os.pipe()
        # Chromium makes sockets in both; their paths have a bound of 107 bytes.
        place = "/tmp" if len(tempfile.gettempdir()) > 40 else None
        self.home = tempfile.TemporaryDirectory(dir=place, ignore_cleanup_errors=True)
        no_sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        self.child = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to_it} 4>&{from_it}', "chromium", path, *FLAGS,
             *no_sandbox, f"--user-data-dir={self.home.name}", "about:blank"],
            pass_fds=(to_it, from_it), env={**os.environ, "TMPDIR": self.home.name},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_it)
        os.close(from_it)
        target = next(t for t in self.call("Target.getTargets", session=None)["targetInfos"]
                      if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", session=None, flatten=True,
                                 targetId=target["targetId"])["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()
        os.close(self.out)
        os.close(self.into)
        self.home.cleanup()

    def receive(self, end):
        """The next message; None after the time is over."""
        while b"\0" not in self.rest:
            if not select.select([self.into], [], [], max(0, end - time.monotonic()))[0]:
                return None
            more = os.read(self.into, 1 << 20)
            if not more:
                raise ConnectionError("the browser went away")
            self.rest += more
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def call(self, method, session="", **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        end = time.monotonic() + PATIENCE
        while (answer := self.receive(end)) is not None:
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)
        raise TimeoutError(method)

    def settle(self):
        """Two frames later everything is laid out and drawn."""
        self.evaluate("new Promise(f => requestAnimationFrame(() => requestAnimationFrame(f)))")

    def open(self, path, width=1280, height=900, dark=False, script=True):
        """The events of the page alone are kept from here on."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Emulation.setScriptExecutionDisabled", value=False)
        self.call("Page.navigate", url="about:blank")
        self.settle()
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.events = []
        self.call("Page.navigate", url=path.as_uri())
        end = time.monotonic() + PATIENCE
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            message = self.receive(end)
            if message is None:
                raise TimeoutError(f"{path} did not load")
            self.events.append(message)
        if script:
            self.settle()

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:800])
        return answer["result"].get("value")

    def run(self, function, *arguments):
        """function: JavaScript source of one."""
        return self.evaluate(f"({function})({', '.join(map(json.dumps, arguments))})")

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode={"Enter": 13, "Escape": 27, "Tab": 9}[key],
                      **({"text": "\r"} if (key, kind) == ("Enter", "keyDown") else {}))
        self.settle()

    def screenshot(self, path, whole=False):
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole,
                         **({"clip": self.whole()} if whole else {}))["data"]
        path.write_bytes(base64.b64decode(data))

    def whole(self):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 8000),
                "scale": 1}

    def print_pages(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    def requests(self):
        """Addresses of everything that was asked for, but for the page itself."""
        urls = [e["params"]["request"]["url"] for e in self.events
                if e.get("method") == "Network.requestWillBeSent"]
        return urls[1:]

    def complaints(self):
        """What the console, the engine and the policy said."""
        for event in self.events:
            parameters = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                yield json.dumps(parameters["exceptionDetails"])[:600]
            elif event.get("method") == "Runtime.consoleAPICalled":
                yield json.dumps(parameters["args"])[:600]
            elif event.get("method") == "Log.entryAdded":
                yield parameters["entry"]["text"]
            elif event.get("method") == "Page.javascriptDialogOpening":
                yield f"a dialog: {parameters['message']}"
