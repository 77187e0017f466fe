-- pao ghostty exists: answers whether a terminal is there: here or gone.
on run argv
	try
		locate(item 1 of argv)
	on error number -1728
		return "gone"
	end try
	return "here"
end run
