"""The HTTP service. `create_app` builds it over an open memory."""

from hitherto.deliver.http.app import create_app

__all__ = ["create_app"]
