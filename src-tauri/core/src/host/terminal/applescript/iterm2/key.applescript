-- pao iterm2 key: puts into a session what a key sends.
on run argv
	set {w, t, s} to locate(item 1 of argv, item 2 of argv)
	set keyName to item 3 of argv
	set escapeKey to character id 27
	if keyName is "up" then
		set sentText to escapeKey & "[A"
	else if keyName is "down" then
		set sentText to escapeKey & "[B"
	else if keyName is "right" then
		set sentText to escapeKey & "[C"
	else if keyName is "left" then
		set sentText to escapeKey & "[D"
	else if keyName is "enter" then
		set sentText to character id 13
	else if keyName is "escape" then
		set sentText to escapeKey
	else if keyName is "tab" then
		set sentText to character id 9
	else if keyName is "interrupt" then
		set sentText to character id 3
	else
		error "no such key" number -1700
	end if
	with timeout of 10 seconds
		tell application id "com.googlecode.iterm2"
			tell session s of tab t of window id w
				write text sentText newline false
			end tell
		end tell
	end timeout
	return "sent"
end run
