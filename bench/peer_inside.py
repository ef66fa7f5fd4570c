"""One memory library measured from inside its own environment: `bench.peers` starts this file there and reads its answer.

    python bench/peer_inside.py NAME WORK_FOLDER

It knows nothing of Hitherto's code, so that only the library is in the process. Vectors of all texts are looked up in the
work folder: embedding costs nobody anything here.
"""

import json
import resource
import sys
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import numpy as np

Vector = list[float]
Embed = Callable[[str], Vector]
HITS = 10


def part(module: str, name: str) -> Any:
    """What a library calls by that name; none of them is installed where this file is checked."""
    return getattr(import_module(module), name)


class Chroma:
    module = "chromadb"

    def __init__(self, folder: Path, embed: Embed, dimension: int) -> None:
        settings = part("chromadb", "Settings")(anonymized_telemetry=False)
        self._client: Any = part("chromadb", "PersistentClient")(path=str(folder), settings=settings)
        self._embed = embed
        self._held: dict[str, Any] = {}

    def write(self, owner: str, turn: dict[str, str]) -> None:
        if owner not in self._held:
            space = {"hnsw:space": "cosine"}
            self._held[owner] = self._client.create_collection(owner, metadata=space, embedding_function=None)
        text = turn["text"]
        self._held[owner].add(ids=[turn["id"]], documents=[text], embeddings=[self._embed(text)])

    def search(self, owner: str, query: str) -> list[str]:
        found = self._held[owner].query(query_embeddings=[self._embed(query)], n_results=HITS)
        return list(found["ids"][0])


class LangGraph:
    module = "langgraph.store.memory"

    def __init__(self, folder: Path, embed: Embed, dimension: int) -> None:
        def embed_all(texts: Sequence[str]) -> list[Vector]:
            return [embed(text) for text in texts]

        index = {"dims": dimension, "embed": embed_all, "fields": ["text"]}
        self._store: Any = part(self.module, "InMemoryStore")(index=index)

    def write(self, owner: str, turn: dict[str, str]) -> None:
        self._store.put((owner,), turn["id"], {"text": turn["text"]})

    def search(self, owner: str, query: str) -> list[str]:
        return [item.key for item in self._store.search((owner,), query=query, limit=HITS)]


class LlamaIndex:
    module = "llama_index.core.memory"

    def __init__(self, folder: Path, embed: Embed, dimension: int) -> None:
        def one(_: object, text: str) -> Vector:
            return embed(text)

        async def later(_: object, text: str) -> Vector:
            return embed(text)

        base = part("llama_index.core.base.embeddings.base", "BaseEmbedding")
        asked = {"_get_query_embedding": one, "_get_text_embedding": one, "_aget_query_embedding": later}
        looked = type("Looked", (base,), asked)(model_name="looked-up")
        self._message: Any = part("llama_index.core.base.llms.types", "ChatMessage")
        self._new: Callable[[], Any] = lambda: part(self.module, "VectorMemory").from_defaults(
            embed_model=looked, retriever_kwargs={"similarity_top_k": HITS}
        )
        self._held: dict[str, Any] = {}

    def write(self, owner: str, turn: dict[str, str]) -> None:
        if owner not in self._held:
            self._held[owner] = self._new()
            self._held[owner].batch_by_user_message = False
        self._held[owner].put(self._message(role="user", content=turn["text"], additional_kwargs={"turn": turn["id"]}))

    def search(self, owner: str, query: str) -> list[str]:
        return [message.additional_kwargs["turn"] for message in self._held[owner].get(query)]


class Mem0:
    module = "mem0"

    def __init__(self, folder: Path, embed: Embed, dimension: int) -> None:
        class Looked:
            config = None

            def embed(self, text: str, memory_action: str | None = None) -> Vector:
                return embed(text)

            def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[Vector]:
                return [embed(text) for text in texts]

        store = {"path": str(folder / "qdrant"), "embedding_model_dims": dimension, "on_disk": True}
        self._memory: Any = part("mem0", "Memory").from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                "embedder": {"provider": "openai", "config": {"api_key": "unused"}},
                "llm": {"provider": "openai", "config": {"api_key": "unused"}},
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._memory.embedding_model = Looked()

    def write(self, owner: str, turn: dict[str, str]) -> None:
        self._memory.add(turn["text"], user_id=owner, metadata={"turn": turn["id"]}, infer=False)

    def search(self, owner: str, query: str) -> list[str]:
        found = self._memory.search(query, top_k=HITS, filters={"user_id": owner}, threshold=0.0)
        return [entry["metadata"]["turn"] for entry in found["results"]]


class Hitherto:
    module = "hitherto.sync"

    def __init__(self, folder: Path, embed: Embed, dimension: int) -> None:
        self._memory: Any = part(self.module, "Hitherto")(str(folder))
        self._memory.open()
        self._turn: Any = part("hitherto", "Turn")

    def write(self, owner: str, turn: dict[str, str]) -> None:
        at = datetime.fromisoformat(turn["at"])
        said = self._turn(user=owner, role="user", text=turn["said"], id=turn["id"], at=at, speaker=turn["speaker"])
        self._memory.record(said)

    def search(self, owner: str, query: str) -> list[str]:
        return [hit.id for hit in self._memory.search(user=owner, query=query, limit=HITS, kinds=["turn"])]


PEERS: dict[str, Any] = {
    "chroma": Chroma,
    "langgraph": LangGraph,
    "llamaindex": LlamaIndex,
    "mem0": Mem0,
    "hitherto": Hitherto,
}


def megabytes() -> float:
    """What the process holds in memory now."""
    resident = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return resident * resource.getpagesize() / 2**20


def main(name: str, work: Path) -> dict[str, object]:
    texts: dict[str, int] = json.loads((work / "texts.json").read_text(encoding="utf-8"))
    vectors = np.load(work / "vectors.npy")
    conversations = json.loads((work / "conversations.json").read_text(encoding="utf-8"))
    begin = time.perf_counter()
    import_module(PEERS[name].module)
    imported = time.perf_counter() - begin
    before = megabytes()

    def embed(text: str) -> Vector:
        return vectors[texts[text.strip()]].tolist()  # some libraries strip what they are given

    peer = PEERS[name](work / name, embed, vectors.shape[1])
    begin = time.perf_counter()
    written = 0
    for conversation in conversations:
        for turn in conversation["turns"]:
            peer.write(conversation["id"], turn)
            written += 1
    spent = time.perf_counter() - begin
    shares: list[float] = []
    times: list[float] = []
    for conversation in conversations:
        for question in conversation["questions"]:
            begin = time.perf_counter()
            found = peer.search(conversation["id"], question["text"])
            times.append((time.perf_counter() - begin) * 1_000)
            evidence = set(question["evidence"])
            shares.append(len(evidence & set(found)) / len(evidence))
    return {
        "turns": written,
        "frac@10": round(float(np.mean(shares)), 4),
        "search p50 ms": round(float(np.median(times)), 3),
        "search p95 ms": round(float(np.quantile(times, 0.95)), 3),
        "turns written/s": round(written / spent, 1),
        "grown MB": round(megabytes() - before, 1),
        "packages": len({entry.metadata["Name"] for entry in metadata.distributions()}),
        "import s": round(imported, 2),
    }


if __name__ == "__main__":
    answer = main(sys.argv[1], Path(sys.argv[2]))
    (Path(sys.argv[2]) / f"{sys.argv[1]}.json").write_text(json.dumps(answer))
