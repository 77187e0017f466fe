-- pao iterm2 close: closes an ended session and nothing beside it; answers closed or gone.
on run argv
	try
		set {w, t, s} to locate(item 1 of argv, item 2 of argv)
	on error number -1728
		return "gone"
	end try
	with timeout of 10 seconds
		tell application id "com.googlecode.iterm2"
			tell session s of tab t of window id w to close
		end tell
	end timeout
	return "closed"
end run
