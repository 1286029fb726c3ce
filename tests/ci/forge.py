"""A forge on loopback: comments of a pull request by GitHub's API, notes of a merge request by GitLab's."""

import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlsplit

GITHUB = re.compile(r"/repos/acme/evals/issues/(?:(?P<issue>\d+)/comments|comments/(?P<comment>\d+))")
GITLAB = re.compile(r"/api/v4/projects/9/merge_requests/(?P<issue>\d+)/notes(?:/(?P<comment>\d+))?")
UPDATES = ("PATCH", "PUT")

GH = """#!{python}
import json, os, sys, urllib.request

arguments = sys.argv[1:]
assert arguments.pop(0) == "api", "only `gh api` is known here"
method, path, fields, filtered = "GET", "", {{}}, ""
while arguments:
    word = arguments.pop(0)
    if word == "--method":
        method = arguments.pop(0)
    elif word == "--field":
        name, value = arguments.pop(0).split("=", 1)
        fields[name] = open(value[1:], encoding="utf-8").read() if value.startswith("@") else value
    elif word == "--jq":
        filtered = arguments.pop(0)
    elif word not in ("--paginate", "--silent"):
        path = word
body = json.dumps(fields).encode() if fields else None
headers = {{"Authorization": "token " + os.environ["GH_TOKEN"]}}
page = 1
while True:
    address = f"{{os.environ['FORGE']}}/{{path}}" + (f"&page={{page}}" if "?" in path else "")
    with urllib.request.urlopen(urllib.request.Request(address, data=body, headers=headers, method=method)) as answer:
        rows = json.load(answer)
    if filtered:
        assert filtered == r'.[] | [.id, (.body | split("\\n")[0])] | @tsv', filtered
        for row in rows:
            print(row["id"], row["body"].split("\\n")[0], sep="\\t")
    if method != "GET" or not rows:
        break
    page += 1
"""
"""What stands in for GitHub's `gh`: the few arguments that `post-comment.sh` uses."""


class Forge:
    def __init__(self):
        self.comments: dict[int, str] | None = {}
        """By id; None: the forge is down."""
        self.calls: list[str] = []
        self.tokens: set[str] = set()
        forge = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                code, value = forge.handle(self.command, self.path, self._body())
                forge.tokens.add(self.headers.get("PRIVATE-TOKEN") or self.headers.get("Authorization") or "")
                data = json.dumps(value).encode()
                self.send_response(code)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_POST(self):
                self.do_GET()

            def do_PATCH(self):
                self.do_GET()

            def do_PUT(self):
                self.do_GET()

            def _body(self):
                raw = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                if "urlencoded" in self.headers.get("Content-Type", "") and not raw.startswith("{"):
                    return {name: values[0] for name, values in parse_qs(raw).items()}
                return json.loads(raw) if raw else {}

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"

    def handle(self, method, path, body):
        parts = urlsplit(path)
        place = GITHUB.fullmatch(parts.path) or GITLAB.fullmatch(parts.path)
        if place is None:
            return 404, {"message": "Not Found"}
        self.calls.append(method)
        if self.comments is None:
            return 503, {"message": "Service Unavailable"}
        if method == "GET":
            page = int(parse_qs(parts.query).get("page", ["1"])[0])
            return 200, [{"id": one, "body": text} for one, text in self.comments.items()] if page == 1 else []
        if len(body["body"]) > 65_536:
            return 422, {"message": "body is too long"}
        number = int(place["comment"]) if method in UPDATES else 100 + len(self.comments)
        if method in UPDATES and number not in self.comments:
            return 404, {"message": "Not Found"}
        self.comments[number] = body["body"]
        return 200 if method in UPDATES else 201, {"id": number}

    def __enter__(self):
        self.thread = Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
