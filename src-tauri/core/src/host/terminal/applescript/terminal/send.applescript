-- pao terminal send: puts one line into a tab. Terminal always adds a Return.
on run argv
	set windowId to (item 1 of argv) as integer
	set wantedTty to item 2 of argv
	set typedLine to item 3 of argv
	if not (application "Terminal" is running) then error "Terminal is not running" number -1728
	with timeout of 10 seconds
		tell application "Terminal"
			repeat with i from 1 to (count of tabs of window id windowId)
				if (tty of tab i of window id windowId) is wantedTty then
					-- Into an ended tab nothing is typed: a shell may be what reads it.
					if (count of (get processes of tab i of window id windowId)) is 0 then error "ended" number -1728
					do script typedLine in tab i of window id windowId
					return "sent"
				end if
			end repeat
		end tell
	end timeout
	error "no such tab" number -1728
end run
