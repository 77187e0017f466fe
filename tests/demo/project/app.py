"""The web side of linkshelf."""
from http.cookies import SimpleCookie
from wsgiref.simple_server import make_server

import sessions

DB = sessions.connect()


def app(environ, start_response):
    cookie = SimpleCookie(environ.get("HTTP_COOKIE", ""))
    token = cookie["session"].value if "session" in cookie else ""
    user = sessions.user_of(DB, token)
    if user is None:
        start_response("303 See Other", [("Location", "/login")])
        return [b""]
    if environ["REQUEST_METHOD"] == "POST":
        sessions.touch(DB, token)
    start_response("200 OK", [("Content-Type", "text/plain; charset=utf-8")])
    return [f"Hello {user}, here is your shelf.\n".encode()]


if __name__ == "__main__":
    make_server("127.0.0.1", 8080, app).serve_forever()
