-- pao terminal close: closes a window that holds nothing but our ended tab; answers closed, gone, busy or shared.
on run argv
	set windowId to (item 1 of argv) as integer
	set wantedTty to item 2 of argv
	if not (application "Terminal" is running) then return "gone"
	with timeout of 10 seconds
		tell application "Terminal"
			if not (exists window id windowId) then return "gone"
			if not ((tty of tabs of window id windowId) contains wantedTty) then return "gone"
			if (count of tabs of window id windowId) > 1 then return "shared"
			-- What just ended may still be counted for a moment; closing then would ask the user.
			repeat 20 times
				if (count of (get processes of tab 1 of window id windowId)) is 0 then
					close window id windowId
					return "closed"
				end if
				delay 0.1
			end repeat
			return "busy"
		end tell
	end timeout
end run
