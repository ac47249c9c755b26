"""Is what the pages say true of what they draw?"""
