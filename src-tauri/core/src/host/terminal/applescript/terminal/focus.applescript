-- pao terminal focus: brings a tab to the front; answers the tty that is selected then.
on run argv
	set windowId to (item 1 of argv) as integer
	set wantedTty to item 2 of argv
	if not (application "Terminal" is running) then error "Terminal is not running" number -1728
	with timeout of 10 seconds
		tell application "Terminal"
			-- By id each time: a position names another window once this one is raised.
			if miniaturized of window id windowId then set miniaturized of window id windowId to false
			repeat with i from 1 to (count of tabs of window id windowId)
				if (tty of tab i of window id windowId) is wantedTty then
					set selected of tab i of window id windowId to true
					exit repeat
				end if
			end repeat
			set index of window id windowId to 1
			set frontmost of window id windowId to true
			activate
			return tty of selected tab of window id windowId
		end tell
	end timeout
end run
