-- pao iterm2 paste: puts text into a session, without a Return.
on run argv
	set {w, t, s} to locate(item 1 of argv, item 2 of argv)
	set wantedText to item 3 of argv
	with timeout of 10 seconds
		tell application id "com.googlecode.iterm2"
			tell session s of tab t of window id w
				-- The dictionary calls it a boolean; left out, it would be true.
				write text wantedText newline false
			end tell
		end tell
	end timeout
	return "sent"
end run
