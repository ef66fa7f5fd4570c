"""One context as one file: a page that holds everything it needs and runs nothing, to attach to a bug report."""

from markupsafe import Markup

from hitherto.deliver.inspector import files
from hitherto.deliver.inspector.anatomy import anatomy, redacted
from hitherto.deliver.inspector.pages import render
from hitherto.types import Context


def standalone(context: Context, *, redact: bool = False) -> str:
    """The page. With `redact`, nothing that anybody said or is called is in it."""
    made = anatomy(redacted(context) if redact else context)
    style = Markup(files.style())
    return render("standalone.html", made=made, style=style, redacted=redact, linked=False)
