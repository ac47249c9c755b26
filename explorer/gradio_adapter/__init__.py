"""Everything that leans on Gradio's private parts, one file per reason."""
