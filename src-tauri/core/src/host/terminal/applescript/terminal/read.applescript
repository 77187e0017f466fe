-- pao terminal read: answers the visible text of a tab.
on run argv
	set windowId to (item 1 of argv) as integer
	set wantedTty to item 2 of argv
	if not (application "Terminal" is running) then error "Terminal is not running" number -1728
	with timeout of 10 seconds
		tell application "Terminal"
			repeat with i from 1 to (count of tabs of window id windowId)
				if (tty of tab i of window id windowId) is wantedTty then
					return contents of tab i of window id windowId
				end if
			end repeat
		end tell
	end timeout
	error "no such tab" number -1728
end run
