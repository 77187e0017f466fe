-- pao terminal open: runs one file of ours in a new window of Terminal; answers its window id and its tty.
on run argv
	set typedLine to "exec " & quoted form of (item 1 of argv)
	set shownTitle to item 2 of argv
	with timeout of 60 seconds
		if application "Terminal" is running then
			tell application "Terminal" to set ourTab to do script typedLine
		else
			-- Starting opens a window by itself; a second one would be left over.
			tell application "Terminal"
				activate
				set isFresh to false
				repeat 30 times
					try
						if (count of windows) > 0 then
							if not (busy of selected tab of window 1) then
								set isFresh to true
								exit repeat
							end if
						end if
					end try
					delay 0.1
				end repeat
				-- Several windows are restored ones: those are the user's.
				if isFresh and (count of windows) is 1 then
					set ourTab to do script typedLine in window 1
				else
					set ourTab to do script typedLine
				end if
			end tell
		end if
		tell application "Terminal"
			set ourTty to tty of ourTab
			set ourWindow to 0
			set windowIds to id of windows
			repeat with i from 1 to (count of windowIds)
				set oneId to item i of windowIds
				try
					if (tty of tabs of window id oneId) contains ourTty then
						set ourWindow to oneId
						exit repeat
					end if
				end try
			end repeat
			try
				set custom title of ourTab to shownTitle
				set title displays custom title of ourTab to true
			end try
			activate
		end tell
	end timeout
	return (ourWindow as text) & "|" & ourTty
end run
