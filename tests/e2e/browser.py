"""A headless Chromium for tests of the HTML report, driven over a pair of pipes: no port, no driver, no library.

Chromium's debugging protocol in JSON, messages ending in NUL, read from descriptor 3 and written to 4 of the browser
(--remote-debugging-pipe). A page that asks for anything outside of its own file is seen in `requests`, whatever it writes
to its console, and each error, in `complaints`."""

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
PATIENCE_S = 120  # for one answer; a hang is a failure


def program():
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One page; use it in `with`."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="mallab-chromium-")
        self.requests, self.complaints, self.buffer, self.number = [], [], b"", 0
        to_child, self.out = os.pipe()
        self.into, from_child = os.pipe()
        # Above 4, so that neither is lost when the other takes its place; bash, as sh knows descriptors of one digit only.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_child, from_child)]
        os.close(to_child)
        os.close(from_child)
        self.process = subprocess.Popen(
            ["/bin/bash", "-c", f'exec "$0" "$@" 3<&{ends[0]} 4>&{ends[1]}', program(), "--headless", "--no-sandbox",
             "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe",
             f"--user-data-dir={self.profile}", "about:blank"],
            pass_fds=ends, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        for end in ends:
            os.close(end)
        self.session = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)  # a group of its own: the browser and its helpers
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.out)
        os.close(self.into)
        shutil.rmtree(self.profile, ignore_errors=True)

    def _message(self):
        deadline = time.monotonic() + PATIENCE_S
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.into], [], [], max(0, deadline - time.monotonic()))
            piece = os.read(self.into, 1 << 20) if ready else b""
            if not piece:
                raise AssertionError("the browser does not answer" if not ready else "the browser has ended")
            self.buffer += piece
        whole, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(whole)

    def _note(self, message):
        values = message.get("params", {})
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        elif message.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(str(values["exceptionDetails"]))
        elif message.get("method") == "Runtime.consoleAPICalled":
            self.complaints.append(str(values["args"]))
        elif message.get("method") == "Log.entryAdded":
            self.complaints.append(values["entry"]["text"])

    def ask(self, method, **values):
        self.number += 1
        request = {"id": self.number, "method": method, "params": values}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.out, json.dumps(request).encode() + b"\0")
        while True:
            message = self._message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise AssertionError(f"{method}: {message['error']}")
                return message["result"]
            self._note(message)

    def open(self, path, width=1200, height=900, dark=False):
        """Load a file and wait until the report says that it is drawn."""
        self.requests.clear()
        self.complaints.clear()
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.theme(dark)
        self.run("document.documentElement.dataset.ready = 'no'")  # of the page before, which must not pass for this one
        self.ask("Page.navigate", url=f"file://{path}")
        self.wait("location.protocol === 'file:' && document.documentElement?.dataset.ready === 'yes'")

    def theme(self, dark):
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def run(self, script):
        """The value of an expression in the page."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, condition):
        deadline = time.monotonic() + PATIENCE_S
        while not self.run(condition):
            if self.complaints or time.monotonic() > deadline:
                raise AssertionError(f"waited for {condition}; the page said {self.complaints}")
            time.sleep(0.02)

    def settle(self):
        """Two frames: what an action draws is drawn."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def key(self, key, draws=True):
        """Press and release, as a person would, on what has the focus. draws: False where nothing is drawn that is looked at."""
        codes = {"Tab": 9, "Enter": 13, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39, "Escape": 27}
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        common = {"key": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0]))}
        self.ask("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **common)
        if draws:
            self.settle()

    def move(self, x, y):
        self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.settle()

    def paper(self, path):
        sheet = self.ask("Page.printToPDF", printBackground=True, preferCSSPageSize=True)
        path.write_bytes(base64.b64decode(sheet["data"]))
