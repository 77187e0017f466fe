-- pao iterm2 read: answers the visible text of a session.
on run argv
	set {w, t, s} to locate(item 1 of argv, item 2 of argv)
	with timeout of 10 seconds
		tell application id "com.googlecode.iterm2" to return contents of session s of tab t of window id w
	end timeout
end run
