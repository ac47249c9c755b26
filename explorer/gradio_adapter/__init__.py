"""Everything that leans on Gradio's private parts, one file per reason. Each names the version of
Gradio that it was written for, WRITTEN_FOR."""
