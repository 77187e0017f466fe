
-- Where a session is: id of its window, number of its tab, its number there. Both its id and its tty must fit.
on locate(wantedId, wantedTty)
	if not (application id "com.googlecode.iterm2" is running) then error "iTerm2 is not running" number -1728
	with timeout of 10 seconds
		tell application id "com.googlecode.iterm2"
			-- By id: a position names another window once one is raised.
			set windowIds to id of windows
			repeat with w from 1 to (count of windowIds)
				set oneId to item w of windowIds
				-- A window that closes meanwhile is not ours.
				try
					repeat with t from 1 to (count of tabs of window id oneId)
						repeat with s from 1 to (count of sessions of tab t of window id oneId)
							if (unique ID of session s of tab t of window id oneId) is wantedId and (tty of session s of tab t of window id oneId) is wantedTty then return {oneId, t, s}
						end repeat
					end repeat
				end try
			end repeat
		end tell
	end timeout
	error "no such session" number -1728
end locate
