-- pao ghostty paste: puts text into a terminal as a paste, without a Return.
on run argv
	set wantedId to item 1 of argv
	set wantedText to item 2 of argv
	locate(wantedId)
	with timeout of 10 seconds
		tell application id "com.mitchellh.ghostty" to input text wantedText to terminal id wantedId
	end timeout
	return "sent"
end run
