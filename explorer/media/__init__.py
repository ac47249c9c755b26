"""Files of visitors: MIDI, pictures and sound, read within bounds."""
