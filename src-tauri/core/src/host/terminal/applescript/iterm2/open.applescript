-- pao iterm2 open: runs one file of ours in a new window; answers its session's unique ID and tty.
on run argv
	-- iTerm2 takes the words apart by itself and knows these quotes; nothing is typed, so no length is too long.
	set launchCommand to "/bin/sh " & quoted form of (item 1 of argv)
	set shownTitle to item 2 of argv
	with timeout of 60 seconds
		tell application id "com.googlecode.iterm2"
			-- Where iTerm2 was not running it may open its usual window beside ours. That one is not used: it may
			-- be a restored one, in which something of the user's runs.
			set ourWindow to (create window with default profile command launchCommand)
			set ourSession to current session of ourWindow
			set ourId to unique ID of ourSession
			set ourTty to tty of ourSession
			try
				set name of ourSession to shownTitle
			end try
			activate
		end tell
	end timeout
	return ourId & "|" & ourTty
end run
