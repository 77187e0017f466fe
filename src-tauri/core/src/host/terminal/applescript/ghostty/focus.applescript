-- pao ghostty focus: brings a terminal to the front; answers the id of the one that is there then.
on run argv
	set wantedId to item 1 of argv
	locate(wantedId)
	with timeout of 10 seconds
		tell application id "com.mitchellh.ghostty"
			focus terminal id wantedId
			activate
			try
				return id of focused terminal of selected tab of front window
			end try
		end tell
	end timeout
	-- With tabs of Ghostty's own making it does not say which one is selected.
	return wantedId
end run
