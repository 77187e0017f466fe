-- pao terminal exists: answers whether a tab is there and whether something runs in it: running, ended or gone.
on run argv
	set windowId to (item 1 of argv) as integer
	set wantedTty to item 2 of argv
	if not (application "Terminal" is running) then return "gone"
	with timeout of 10 seconds
		tell application "Terminal"
			if not (exists window id windowId) then return "gone"
			repeat with i from 1 to (count of tabs of window id windowId)
				if (tty of tab i of window id windowId) is wantedTty then
					if (count of (get processes of tab i of window id windowId)) > 0 then return "running"
					return "ended"
				end if
			end repeat
		end tell
	end timeout
	return "gone"
end run
