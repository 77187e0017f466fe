-- pao ghostty key: presses one key in a terminal, wherever the focus is.
on run argv
	set wantedId to item 1 of argv
	set keyName to item 2 of argv
	set heldKeys to item 3 of argv
	locate(wantedId)
	with timeout of 10 seconds
		tell application id "com.mitchellh.ghostty"
			if heldKeys is "" then
				send key keyName to terminal id wantedId
			else
				send key keyName modifiers heldKeys to terminal id wantedId
			end if
		end tell
	end timeout
	return "sent"
end run
