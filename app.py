"""Open the Transformer family explorer: ``python app.py [--host H] [--port P]``.

The default address is http://localhost:7860.
"""

import time

BEGAN = time.monotonic()  # before the imports, which are most of a start

from explorer.web.launch import main  # noqa: E402

if __name__ == "__main__":
    main(began=BEGAN)
