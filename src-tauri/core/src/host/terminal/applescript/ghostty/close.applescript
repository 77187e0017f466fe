-- pao ghostty close: closes a terminal in which nothing runs any more; Ghostty does not ask. Answers closed or gone.
on run argv
	set wantedId to item 1 of argv
	try
		locate(wantedId)
	on error number -1728
		return "gone"
	end try
	with timeout of 10 seconds
		tell application id "com.mitchellh.ghostty" to close terminal id wantedId
	end timeout
	return "closed"
end run
