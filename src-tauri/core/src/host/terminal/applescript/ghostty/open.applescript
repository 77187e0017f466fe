-- pao ghostty open: runs one file of ours in a new window; answers its terminal's id.
on run argv
	-- Ghostty hands this to a shell, which knows these quotes.
	set launchCommand to "/bin/sh " & quoted form of (item 1 of argv)
	set ourId to ""
	with timeout of 60 seconds
		tell application id "com.mitchellh.ghostty"
			set knownIds to id of terminals
			set ourConfiguration to new surface configuration
			set command of ourConfiguration to launchCommand
			try
				set ourWindow to new window with configuration ourConfiguration
				set ourId to id of terminal 1 of ourWindow
			on error errorText number errorNumber
				-- Some versions open the window and answer with a name for it that they do not know themselves.
				if errorNumber is not -2710 and errorNumber is not -1728 then error errorText number errorNumber
			end try
			if ourId is "" then
				repeat 20 times
					set newIds to {}
					set allIds to id of terminals
					repeat with i from 1 to (count of allIds)
						if knownIds does not contain (item i of allIds) then set end of newIds to item i of allIds
					end repeat
					if (count of newIds) > 0 then exit repeat
					delay 0.1
				end repeat
				-- Of two, one is not ours.
				if (count of newIds) is not 1 then error "cannot tell which window is the new one" number -10000
				set ourId to item 1 of newIds
			end if
			activate
		end tell
	end timeout
	return ourId
end run
