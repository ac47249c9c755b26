"""Opens the Transformer family explorer: ``python app.py [--host H] [--port P]``, on http://localhost:7860 unless told otherwise."""

import time

BEGAN = time.monotonic()  # before the imports, which are most of a start

from explorer.server import main  # noqa: E402

if __name__ == "__main__":
    main(began=BEGAN)
