"""The catalog: tenants' documents, hints of due work, who is there."""

import asyncio

from hitherto.errors import Conflict
from hitherto.store.catalog import Document, UserKey
from hitherto.store.protocol import Change, Head, Store, TenantDocuments
from hitherto.testing.drafts import failing, moment, put, turn_draft


class CatalogConformance:
    async def test_documents_have_versions(self, store: Store) -> None:
        catalog = store.catalog
        first = await catalog.put("default", "persona", "nikita", '{"a": 1}', at=moment(1))
        again = await catalog.put("default", "persona", "nikita", '{"a": 1}', at=moment(2))
        second = await catalog.put("default", "persona", "nikita", '{"a": "日本"}', at=moment(3))
        assert first == again == Document(name="nikita", version=1, body='{"a": 1}', recorded_at=moment(1))
        assert second == Document(name="nikita", version=2, body='{"a": "日本"}', recorded_at=moment(3))
        assert await catalog.versions("default", "persona", "nikita") == (first, second)
        assert await catalog.versions("default", "persona", "nobody") == ()

    async def test_documents_belong_to_tenant_and_kind(self, store: Store) -> None:
        catalog = store.catalog
        max_ = await catalog.put("default", "persona", "max", "m", at=moment())
        ana = await catalog.put("default", "persona", "ana", "a", at=moment(), about="somebody")
        recipe = await catalog.put("default", "recipe", "max", "r", at=moment())
        foreign = await catalog.put("other", "persona", "max", "o", at=moment())
        assert await catalog.documents("default", "persona") == (ana, max_)
        assert await catalog.documents("default", "persona", ["max", "nobody"]) == (max_,)
        assert await catalog.documents("default", "persona", []) == ()
        assert await catalog.documents("default", "recipe") == (recipe,)
        assert await catalog.last("default", "persona", limit=9) == (max_, ana)
        assert await catalog.last("default", "persona", limit=1) == (max_,)
        assert await catalog.last("default", "persona", limit=9, before="max") == (ana,)
        assert await catalog.last("default", "persona", limit=9, about="somebody") == (ana,)
        assert await catalog.last("default", "persona", limit=9, about="nobody") == ()
        assert await catalog.documents("other", "persona") == (foreign,)
        assert await catalog.kinds() == (("default", "persona"), ("default", "recipe"), ("other", "persona"))

    async def test_a_user_reads_documents_of_their_tenant_beside_their_log(self, store: Store) -> None:
        await store.catalog.put("default", "persona", "max", "old", at=moment())
        max_ = await store.catalog.put("default", "persona", "max", "m", at=moment())
        await store.catalog.put("default", "recipe", "max", "r", at=moment())
        foreign = await store.catalog.put("other", "persona", "max", "o", at=moment())
        head, documents = Head(), TenantDocuments(kind="persona", names=("max", "nobody"))
        ana, stranger = store.user(UserKey("default", "ana")), store.user(UserKey("other", "ana"))
        nothing_yet = await ana.read(documents, head)
        assert (nothing_yet[head], nothing_yet[documents]) == (0, (max_,))
        await put(ana, Change(turns=(turn_draft("t1"),)))
        found = await ana.read(head, documents)
        assert (found[head], found[documents]) == (1, (max_,))
        assert (await stranger.read(documents))[documents] == (foreign,)

    async def test_an_expected_version_guards_a_document(self, store: Store) -> None:
        catalog = store.catalog
        await catalog.put("default", "recipe", "r", "1", at=moment(), expected=0)
        with failing(Conflict):
            await catalog.put("default", "recipe", "r", "2", at=moment(), expected=0)
        await catalog.put("default", "recipe", "r", "2", at=moment(), expected=1)
        with failing(Conflict):
            await catalog.put("default", "recipe", "new", "1", at=moment(), expected=3)
        assert [one.body for one in await catalog.versions("default", "recipe", "r")] == ["1", "2"]
        assert await catalog.versions("default", "recipe", "new") == ()

    async def test_of_many_who_expect_the_same_version_one_wins(self, store: Store) -> None:
        catalog = store.catalog
        await catalog.put("default", "recipe", "r", "0", at=moment(), expected=0)
        results = await asyncio.gather(
            *(catalog.put("default", "recipe", "r", f"by {n}", at=moment(), expected=1) for n in range(8)),
            return_exceptions=True,
        )
        assert sum(isinstance(result, Document) for result in results) == 1
        assert sum(isinstance(result, Conflict) for result in results) == 7
        assert len(await catalog.versions("default", "recipe", "r")) == 2

    async def test_a_deleted_document_is_gone(self, store: Store) -> None:
        catalog = store.catalog
        await catalog.put("default", "key", "k", "1", at=moment())
        await catalog.put("default", "key", "k", "2", at=moment())
        assert await catalog.delete("default", "key", "k") is True
        assert await catalog.delete("default", "key", "k") is False
        assert await catalog.documents("default", "key") == ()
        assert await catalog.versions("default", "key", "k") == ()
        assert (await catalog.put("default", "key", "k", "3", at=moment(), expected=0)).version == 1

    async def test_hints_say_who_is_due(self, store: Store) -> None:
        catalog = store.catalog
        keys = [UserKey("default", name) for name in ("a", "b", "c", "d")]
        for key in keys:
            await put(store.user(key), Change(turns=(turn_draft("t1"),)))
        await catalog.hint({keys[0]: moment(3), keys[1]: moment(1), keys[2]: moment(9)})
        await catalog.hint({keys[3]: moment(2)})
        assert await catalog.due(now=moment(5), limit=9) == (keys[1], keys[3], keys[0])
        assert await catalog.due(now=moment(5), limit=1) == (keys[1],)
        assert await catalog.due(now=moment(0), limit=9) == ()
        await catalog.hint({keys[1]: None, keys[0]: moment(8), keys[2]: moment(9)})
        assert await catalog.due(now=moment(5), limit=9) == (keys[3],)
        assert await catalog.due(now=moment(9), limit=9) == (keys[3], keys[0], keys[2])

    async def test_a_wiped_user_is_due_no_more(self, store: Store) -> None:
        catalog = store.catalog
        key = UserKey("default", "a")
        await put(store.user(key), Change(turns=(turn_draft("t1"),)))
        await catalog.hint({key: moment(1)})
        await store.user(key).wipe()
        assert await catalog.due(now=moment(5), limit=9) == ()

    async def test_users_are_listed_by_tenant(self, store: Store) -> None:
        keys = [UserKey("default", "b"), UserKey("default", "a"), UserKey("other", "a")]
        for key in keys:
            await put(store.user(key), Change(turns=(turn_draft("t1"),)))
        assert await store.catalog.users() == (keys[1], keys[0], keys[2])
        assert await store.catalog.users("default") == (keys[1], keys[0])
        assert await store.catalog.users("nobody") == ()

    async def test_a_healthy_store_says_so(self, store: Store) -> None:
        await put(store.user(UserKey("default", "a")), Change(turns=(turn_draft("t1"),)))
        health = await store.health()
        assert (health.users, health.problems) == (1, ())
        assert health.bytes > 0
        assert health.schema > 0
