"""A session of an MCP client with a user's memory, over stdio, as desktop applications start it.

python examples/mcp_session.py
"""

import asyncio
import os
import sys
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp_types import TextContent

START = "import sys; sys.argv[0] = 'hitherto'; from hitherto.deliver.cli import main; sys.exit(main())"
"""What the command `hitherto` does, for a Python that has it installed as a package only."""


async def main(folder: Path) -> list[str]:
    command = StdioServerParameters(
        command=sys.executable,
        args=["-c", START, "mcp", "--user", "ana", "--data", str(folder)],
        env={**os.environ},
    )
    told: list[str] = []
    async with Client(command) as client:
        print("tools:", ", ".join(tool.name for tool in (await client.list_tools()).tools))
        await client.call_tool("remember", {"text": "Ana's boss is called Mukesh"})
        for tool, arguments in (
            ("search", {"query": "Who is Ana's boss?"}),
            ("context", {"message": "I have to tell Mukesh something"}),
            ("open_loops", {}),
        ):
            result = await client.call_tool(tool, arguments)
            told.append("\n".join(part.text for part in result.content if isinstance(part, TextContent)))
            print(f"\n{tool} {arguments}\n{told[-1]}")
    return told


if __name__ == "__main__":
    asyncio.run(main(Path("./memories")))
