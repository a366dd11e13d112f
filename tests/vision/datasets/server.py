"""A server on this machine that behaves, or misbehaves, as a test asks.

Invariant: nothing leaves this machine.
"""

import contextlib
import hashlib
import http.server
import re
import threading


class Server:
    """Files by path, what was asked for, and how to misbehave.

    `cuts` are numbers of bytes after which the next answers end; `errors` are codes that the next answers have.
    """

    def __init__(self):
        self.files, self.asked, self.cuts, self.errors = {}, [], [], []
        self.ranges, self.tags, self.says_length, self.redirects = True, True, True, {}

    def add(self, path, content):
        """Serve a file; gives its address."""
        self.files["/" + path] = content
        return f"{self.address}/{path}"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server.story
        server.asked.append((self.path, self.headers.get("Range")))
        if server.errors:
            self.send_error(server.errors.pop(0))
            return
        if self.path in server.redirects:
            self.send_response(302)
            self.send_header("Location", server.redirects[self.path])
            self.end_headers()
            return
        content = server.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        tag = '"' + hashlib.md5(content).hexdigest() + '"'
        start = 0
        span = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if span and server.ranges and self.headers.get("If-Range", tag) == tag:
            start = int(span[1])
            if start >= len(content):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(content)}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(200)
        if server.tags:
            self.send_header("ETag", tag)
        if server.says_length:
            self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        part = content[start:]
        if server.cuts:
            part = part[: server.cuts.pop(0)]
            self.close_connection = True
        with contextlib.suppress(ConnectionError):
            self.wfile.write(part)

    def log_message(self, *args):
        """Say nothing."""


@contextlib.contextmanager
def serving():
    """A running server."""
    story = Server()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        running.story = story
        story.address = f"http://127.0.0.1:{running.server_address[1]}"
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield story
        finally:
            running.shutdown()
            thread.join()
