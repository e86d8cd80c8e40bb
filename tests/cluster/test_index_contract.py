"""The contracts that tantivy keeps, kept by one node."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest
from cluster_nodes import Cluster
from cluster_workspaces import index_names

from fumishirube import Bool, Everything, Index, IndexDamaged, Root, Term
from fumishirube.testing import IndexContract
from fumishirube.testing.answers import assert_alike, keys
from fumishirube.testing.index_searches import batched, sync
from fumishirube.testing.samples import PASSAGES

pytest.importorskip("fumishirube_opensearch", reason="fumishirube-opensearch is not installed")
from fumishirube_opensearch import OpenSearch


class TestOpenSearch(IndexContract):
    """Everything that is said of an index holds, with one shard."""

    shards = 1

    @pytest.fixture(autouse=True)
    def _hosts(self, node: Cluster) -> Iterator[None]:
        namespace = f"t{secrets.token_hex(6)}"
        self._stage = OpenSearch(
            hosts=(node.nodes[0].url,), namespace=namespace, replicas=0, shards=self.shards
        )
        self._node = node.nodes[0]
        yield
        self._node.delete(f"/{namespace}-*")

    def hosts(self) -> list[str]:
        return [host.partition("://")[2] for host in self._stage.hosts]

    def make(self) -> Index:
        return self._stage

    def test_an_unusable_folder_is_rebuilt(self, folder: Root) -> None:
        """What is gone is in the cluster here: the documents, or the record of what counts."""
        for gone in ("index-*", "meta"):
            with self.opened(folder) as index:
                sync(index, batched(PASSAGES))
            self._node.delete(f"/{self._stage.namespace}-{gone}")
            with self.opened(folder) as index:
                assert not index.pages(), "it trusts what is gone"
                assert index.corpus("manual").size == 0
                sync(index, batched(PASSAGES))
                assert_alike(index.corpus("manual"), PASSAGES)

    def test_an_index_that_lost_a_page_is_replaced_and_removed_later(self, folder: Root) -> None:
        with self.opened(folder) as index:
            sync(index, batched(PASSAGES))
        beginning = f"{self._stage.namespace}-index-"
        (name,) = (name for name in index_names(self._node) if name.startswith(beginning))
        page = self._node.get(f"/{name}/_search?q=kind:page")["hits"]["hits"][0]
        self._node.delete(f"/{name}/_doc/{page['_id']}?refresh=true")
        with self.opened(folder) as index:
            sync(index, batched(PASSAGES))
            assert_alike(index.corpus("manual"), PASSAGES)
        self._node.get(f"/{self._stage.namespace}-meta/_refresh")
        (record,) = self._node.get(f"/{self._stage.namespace}-meta/_search")["hits"]["hits"]
        assert [*record["_source"]["retired"]] == [name]
        assert record["_source"]["index"] != name

    def test_more_files_may_be_replaced_at_once_than_a_list_of_the_engine_takes(
        self, folder: Root
    ) -> None:
        """It takes 65,536; a process that opens the index reads its files without them, too."""
        with self.opened(folder) as index:
            sync(index, batched(PASSAGES))
            before = index.pages()
        meta = f"{self._stage.namespace}-meta"
        self._node.get(f"/{meta}/_refresh")
        (hit,) = self._node.get(f"/{meta}/_search")["hits"]["hits"]
        gone = {f"0-{number:x}": {"since": 0, "documents": 1} for number in range(65_537)}
        self._node.post(f"/{meta}/_doc/{hit['_id']}", {**hit["_source"], "replaced": gone})
        with self.opened(folder) as index:
            assert index.pages() == before
            assert index.corpus("manual").count(Everything()).number == len(PASSAGES)

    def test_as_many_terms_are_searched_as_the_engine_takes(self, folder: Root) -> None:
        """A term of any field is two clauses there; the lightest of too many are left out."""
        (first, *_) = [word for passage in PASSAGES for word in passage.fields["body"].split()]
        terms = [Term(f"zq{number}", boost=0.5) for number in range(1500)]
        with self.opened(folder) as index:
            sync(index, batched(PASSAGES))
            corpus = index.corpus("manual")
            (term,) = corpus.terms(first)[:1]
            expected = keys(corpus, Term(term))
            assert expected
            for number in (500, 520, 960, 1500):
                assert keys(corpus, Bool(should=(*terms[:number], Term(term)))) == expected, number

    def test_an_index_that_goes_away_is_damaged(self, folder: Root) -> None:
        for gone in ("index-*", "meta"):
            with self.opened(folder) as index:
                sync(index, batched(PASSAGES))
                self._node.delete(f"/{self._stage.namespace}-{gone}")
                with pytest.raises(IndexDamaged):  # noqa: PT012 - whichever notices it first
                    index.refresh()
                    index.corpus("manual").count(Everything())


@pytest.mark.slow
class TestThreeShards(TestOpenSearch):
    """The same holds when each shard has some of the sections."""

    shards = 3
