"""Opens the Transformer family explorer: ``python app.py [--host H] [--port P]``, on http://localhost:7860 unless told otherwise."""

from explorer.server import main

if __name__ == "__main__":
    main()
