"""A headless Chromium that is really clicked and typed into, over WebDriver."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any, Self

import httpx2
import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "headless_shell")
KEYS = {"Escape": "\ue00c", "Enter": "\ue007", "Tab": "\ue004", "ArrowDown": "\ue015"}

_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def chromium() -> str:
    """Return a Chromium: the one that ``CHROMIUM`` names, or one on the path; else skip."""
    named = os.environ.get("CHROMIUM")
    found = named or next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("there is no Chromium on the path; name one with CHROMIUM")
    return found


def chromedriver() -> str:
    """Return the driver of that browser; else skip."""
    found = shutil.which("chromedriver")
    if found is None:
        pytest.skip("there is no chromedriver on the path; it comes with Chromium")
    return found


class Browser:
    """One window of a browser."""

    def __init__(self, *, dark: bool = False, width: int = 1280, height: int = 900) -> None:
        program, driver = chromium(), chromedriver()
        self._driver = subprocess.Popen(
            [driver, "--port=0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        assert self._driver.stdout is not None
        port = next(
            line.rstrip(".\n").rpartition(" ")[2]
            for line in self._driver.stdout
            if "started successfully on port" in line
        )
        url = f"http://127.0.0.1:{port}"
        self._client = httpx2.Client(base_url=url, timeout=90, trust_env=False)
        words = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        options = {"binary": program, "args": [*words, f"--window-size={width},{height}"]}
        asked = {"browserName": "chrome", "goog:chromeOptions": options}
        asked["goog:loggingPrefs"] = {"browser": "ALL"}
        given = self._call("POST", "/session", capabilities={"alwaysMatch": asked})
        self._session = f"/session/{given['sessionId']}"
        self._devtools(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}],
        )
        self._devtools("Emulation.setFocusEmulationEnabled", enabled=True)
        self._devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._call("DELETE", self._session)
        self._client.close()
        self._driver.terminate()
        self._driver.wait(20)
        assert self._driver.stdout is not None
        self._driver.stdout.close()

    def open(self, url: str) -> None:
        """Go to an address, and wait until the page is there."""
        self._do("/url", url=url)

    @property
    def url(self) -> str:
        """Where the browser is."""
        return str(self._call("GET", f"{self._session}/url"))

    def arrives(self, part: str) -> None:
        """Wait until the address holds something, and the page is there."""
        deadline = time.monotonic() + 30
        while part not in self.url or self.run("return document.readyState") != "complete":
            assert time.monotonic() < deadline, self.url
            time.sleep(0.02)

    def click(self, selector: str) -> None:
        """Click on the first element of a selector."""
        self._do(f"/element/{self._element(selector)}/click")

    def type(self, selector: str, text: str) -> None:
        """Type into an element."""
        self._do(f"/element/{self._element(selector)}/value", text=text)

    def press(self, *keys: str) -> None:
        """Press keys one after the other, wherever the focus is."""
        values = [KEYS.get(key, key) for key in keys]
        pressed = [{"type": kind, "value": v} for v in values for kind in ("keyDown", "keyUp")]
        self._do("/actions", actions=[{"type": "key", "id": "keys", "actions": pressed}])

    def run(self, script: str, *arguments: object) -> Any:
        """Run some JavaScript, and return what it returns."""
        return self._do("/execute/sync", script=script, args=[*arguments])

    def without_scripts(self) -> None:
        """Let no page run any; what a test itself runs is not meant."""
        self._devtools("Emulation.setScriptExecutionDisabled", value=True)

    def messages(self) -> list[str]:
        """Return what the browser complained of since last asked."""
        return [one["message"] for one in self._do("/se/log", type="browser")]

    def screenshot(self, file: Path) -> Path:
        """Write a picture of the whole page."""
        deadline = time.monotonic() + 20
        while not (size := self._devtools("Page.getLayoutMetrics")["cssContentSize"])["width"]:
            assert time.monotonic() < deadline, "the page was never laid out"
        given = self._devtools(
            "Page.captureScreenshot",
            captureBeyondViewport=True,
            clip={"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1},
        )
        file.write_bytes(base64.b64decode(given["data"]))
        return file

    def _element(self, selector: str) -> str:
        given = self._do("/element", using="css selector", value=selector)
        return str(given[_ELEMENT])

    def _devtools(self, command: str, **params: object) -> Any:
        return self._do("/goog/cdp/execute", cmd=command, params=params)

    def _do(self, path: str, **body: object) -> Any:
        return self._call("POST", self._session + path, **body)

    def _call(self, method: str, path: str, **body: object) -> Any:
        given = self._client.request(method, path, json=body if method == "POST" else None).json()
        value = given["value"]
        if isinstance(value, dict) and "error" in value:
            raise RuntimeError(f"{value['error']}: {value['message'].splitlines()[0]}")
        return value
