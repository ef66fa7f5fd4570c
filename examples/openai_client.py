"""The same companion with a plain OpenAI client: the memory is in the endpoint, the program does not know of it.

    hitherto serve --upstream https://api.openai.com/v1        # HITHERTO_UPSTREAM_KEY=sk-…
    HITHERTO_KEY=rck_… python examples/openai_client.py

`HITHERTO_URL` is where the service listens, `MODEL` what should answer. Only the newest message is sent each time. What is
given to the program is said in place of its own lines: run it again with "yes", and it is understood.
"""

import os
import sys
from collections.abc import Sequence

from openai import OpenAI

SAID = (
    "I start at Acme on Monday! I am a bit nervous about my new boss, Mukesh.",
    "Should I bring cake on the first day?",
    "why?",
)


def main(said: Sequence[str] = SAID) -> list[str]:
    if "HITHERTO_KEY" not in os.environ:
        sys.exit("set HITHERTO_KEY to a key of the service (hitherto keys create)")
    answers: list[str] = []
    url = os.environ.get("HITHERTO_URL", "http://127.0.0.1:8080")
    # A key of one user says whose memory it is; one of the whole application names the user in a header.
    headers = {"X-Hitherto-User": os.environ.get("HITHERTO_USER", "ana"), "X-Hitherto-Conversation": "example"}
    with OpenAI(base_url=f"{url}/v1", api_key=os.environ["HITHERTO_KEY"], default_headers=headers) as client:
        for text in said:
            stream = client.chat.completions.create(
                model=os.environ.get("MODEL", "gpt-4o"),
                messages=[{"role": "user", "content": text}],
                stream=True,
            )
            words = [chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices]
            answers.append("".join(words))
            print(f"Ana: {text}\nNikita: {answers[-1]}\n")
    return answers


if __name__ == "__main__":
    main(sys.argv[1:] or SAID)
