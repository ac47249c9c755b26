"""Files of visitors and operators, read within bounds: MIDI, pictures and texts. No torch here."""
