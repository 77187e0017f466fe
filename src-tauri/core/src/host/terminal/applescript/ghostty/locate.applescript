
-- Fails where there is no terminal of that id.
on locate(wantedId)
	if not (application id "com.mitchellh.ghostty" is running) then error "Ghostty is not running" number -1728
	with timeout of 10 seconds
		tell application id "com.mitchellh.ghostty"
			if (id of terminals) does not contain wantedId then error "no such terminal" number -1728
		end tell
	end timeout
end locate
