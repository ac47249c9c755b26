"""The music lab: a motif is continued or harmonised by models side by side, and each note shows the
earlier notes that it looked back to."""
