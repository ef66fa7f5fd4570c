"""Exports of every released version are read; new ones carry today's name."""

from pathlib import Path

from hitherto import Hitherto, Turn


async def test_an_export_of_the_first_version_is_read(store_url: str, tmp_path: Path) -> None:
    async with Hitherto(store_url) as memory:
        await memory.record([Turn(user="ana", role="user", text=f"I moved to {city}") for city in ("Oslo", "Porto")])
        header, *lines = [line async for line in memory.export(user="ana")]
        assert header == '{"hitherto":1,"user":"ana"}'
        old = tmp_path / "ana.jsonl"
        old.write_text("\n".join(['{"recollect":1,"user":"bo"}', *lines]) + "\n", encoding="utf-8")
        assert await memory.load(old) == len(lines) - 1
        assert [line async for line in memory.export(user="bo")] == ['{"hitherto":1,"user":"bo"}', *lines]
