-- pao iterm2 focus: brings a session to the front; answers the unique ID of the one that is there then.
on run argv
	set {w, t, s} to locate(item 1 of argv, item 2 of argv)
	with timeout of 10 seconds
		tell application id "com.googlecode.iterm2"
			if miniaturized of window id w then set miniaturized of window id w to false
			tell session s of tab t of window id w to select
			tell tab t of window id w to select
			tell window id w to select
			activate
			return unique ID of current session of current window
		end tell
	end timeout
end run
