"""Who is signed in. One row per session in sessions.db."""
import secrets
import sqlite3
from datetime import datetime, timedelta

IDLE = timedelta(minutes=30)


def connect(path="sessions.db"):
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE IF NOT EXISTS session (token TEXT PRIMARY KEY, user TEXT, expires_at TEXT)")
    return db


def sign_in(db, user):
    token = secrets.token_urlsafe(32)
    expires = datetime.now() + IDLE
    db.execute("INSERT INTO session VALUES (?, ?, ?)", (token, user, expires.isoformat()))
    return token


def user_of(db, token):
    row = db.execute("SELECT user, expires_at FROM session WHERE token = ?", (token,)).fetchone()
    if row is None or datetime.fromisoformat(row[1]) < datetime.now():
        return None
    return row[0]


def touch(db, token):
    expires = datetime.now() + IDLE
    db.execute("UPDATE session SET expires_at = ? WHERE token = ?", (expires.isoformat(), token))
