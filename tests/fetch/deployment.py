"""A small real deployment on loopback: it speaks Convex's protocol from saved answers, and misbehaves on demand."""

import json
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FIXTURES = Path(__file__).parent.parent / "fixtures" / "sources" / "convex_evals"
ADMIN_KEY = "prod:loopback|0123456789abcdef"


class Deployment:
    """`misbehave[function]` is a list of what to do, one for each call, before answering as it should."""

    def __init__(self, *runs, public=True):
        self.public = public
        self.details, self.failed, self.debug, self.zips = {}, {}, {}, {}
        for run in runs:
            self._load(FIXTURES / run / "data")
        self.calls = []
        self.seen = Counter()
        self.misbehave = {}
        self.urls = {}
        self.broken = set()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def _load(self, folder):
        for path in folder.rglob("*.json"):
            data = json.loads(path.read_text())
            value = data.get("value", data) if "status" in data else data
            if path.name == "getRunDetails.envelope.json":
                self.details[value["_id"]] = value
            elif path.name.startswith("getFailedEvalsForRun"):
                self.failed[value["run"]["_id"]] = value
            elif path.parent.name == "getEvalDebugInfo":
                self.debug[value["eval"]["_id"]] = value
        self.zips |= {path.stem: path.read_bytes() for path in folder.rglob("*.zip")}

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def answer(self, function, args, admin):
        if function.startswith("debug") and not admin:
            return _error(f"Could not find public function for '{function}'. Did you forget to deploy?")
        if function == "runs:getRunDetails":
            if not self.public:
                return _error(f"Could not find public function for '{function}'. Did you forget to deploy?")
            if not args["runId"].startswith("jn7"):
                return _error("ArgumentValidationError: Value does not match validator.")
            return _success(self.details.get(args["runId"]))
        if function == "runs:getOutputUrl":
            known = args["storageId"] in self.zips
            url = self.urls.get(args["storageId"], f"{self.address}/api/storage/{args['storageId']}")
            return _success(url if known else None)
        if function == "debugQueries:getFailedEvalsForRun":
            return _success(self.failed.get(args["runId"]))
        return _success(self.debug.get(args["evalId"], {"error": "not found"}))

    def next_trick(self, what):
        tricks = self.misbehave.get(what, [])
        return tricks.pop(0) if tricks else None


def _success(value):
    return 200, {"status": "success", "value": value, "logLines": []}


def _error(message):
    return 560, {"status": "error", "errorMessage": f"[Request ID: 1] Server Error\n{message}", "logLines": []}


def _handler(deployment):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            key = self.headers.get("Authorization", "")
            deployment.calls.append({"endpoint": self.path, "key": key, **body})
            trick = deployment.next_trick(body["path"])
            if trick is not None:
                trick(self)
                return
            status, result = deployment.answer(body["path"], body["args"], key == f"Convex {ADMIN_KEY}")
            self.send(status, json.dumps(result).encode())

        def do_GET(self):
            name = self.path.rpartition("/")[2]
            deployment.calls.append(
                {"endpoint": self.path, "key": self.headers.get("Authorization", ""), "path": "GET"}
            )
            trick = truncated if name in deployment.broken else deployment.next_trick("download")
            if trick is not None:
                trick(self)
                return
            deployment.seen[name] += 1
            content = deployment.zips.get(name)
            self.send(200 if content else 404, content or b"{}", "application/zip")

        def send(self, status, content, kind="application/json", **headers):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    return Handler


def status(code, content=b"{}", **headers):
    return lambda handler: handler.send(code, content, **headers)


def truncated(handler):
    """Half of an answer, then the line is cut."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"status": "succ')
    handler.wfile.flush()
    handler.close_connection = True


def silent(seconds):
    def trick(handler):
        time.sleep(seconds)
        handler.close_connection = True

    return trick


def redirected(where):
    return status(302, Location=where)
