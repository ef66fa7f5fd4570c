"""The HTTP service. `create_app` makes it over an open memory."""

from hitherto.deliver.http.app import create_app

__all__ = ["create_app"]
