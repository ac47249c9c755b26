"""The music lab: a motif is continued or harmonised by models side by side, and each note shows which earlier notes it looked back to."""
