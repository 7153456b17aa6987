"""A model with its cache: what is fed is counted, what cannot be taken back is refused."""

from __future__ import annotations

import mlx.core as mx
import pytest
from mlx_lm.models.cache import ArraysCache, CacheList, ChunkedKVCache, KVCache, RotatingKVCache

from decoder.errors import CacheError, UntrimmableCache
from decoder.lane import PREFILL, Lane, cache_kinds, require_trimmable
from decoding import makers as tiny
from tokalign.errors import UsageError


class With:
    """A model with the given caches."""

    def __init__(self, *caches):
        self.caches = caches

    def make_cache(self):
        return list(self.caches)


def test_feeding_in_pieces_gives_the_logits_of_the_whole():
    model = tiny.random_model(60, 3)
    ids = [5, 9, 2, 40, 41, 7]
    whole = Lane(model).feed(mx.array(ids))
    lane = Lane(model)
    lane.prefill(ids[:3])
    lane.feed(mx.array([1, 2, 3]))
    lane.trim(3)
    assert mx.max(mx.abs(lane.feed(mx.array(ids[3:])) - whole[3:])).item() < 1e-4
    assert lane.length == len(ids) == lane.cache[0].offset


def test_prefill_goes_in_steps():
    asked = []

    class Counting(tiny.Scripted):
        def __call__(self, ids, cache=None):
            asked.append(ids.shape[1])
            return super().__call__(ids, cache)

    lane = Lane(Counting(4, lambda ids: 0))
    lane.prefill([1] * (PREFILL + 5))
    assert asked == [PREFILL, 5] and lane.length == PREFILL + 5
    lane.prefill([])
    assert len(asked) == 2


def test_taking_nothing_back_asks_no_cache():
    lane = Lane(With(ArraysCache(2)))
    lane.trim(0)
    with pytest.raises(CacheError, match="gave back 0 instead of 1"):
        lane.trim(1)


def test_every_layer_has_to_give_back_as_much():
    class Short(KVCache):
        def trim(self, n):
            return super().trim(n - 1)

    full, short = KVCache(), Short()
    full.offset = short.offset = 4
    lane = Lane(With(), [full, short], 4)
    with pytest.raises(CacheError, match="a cache of 4 tokens gave back 1 instead of 2"):
        lane.trim(2)
    assert lane.length == 4


@pytest.mark.parametrize(
    ("caches", "named"),
    (
        ((RotatingKVCache(8), KVCache()), "RotatingKVCache in 1 layer,"),
        ((ArraysCache(2), KVCache(), ArraysCache(2)), "ArraysCache in 2 layers,"),
        ((CacheList(KVCache(), RotatingKVCache(8)),), "RotatingKVCache in 1 layer,"),
        ((ChunkedKVCache(8), ArraysCache(1)), "ArraysCache, ChunkedKVCache in 2 layers,"),
    ),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_cache_without_a_way_back_is_refused_by_its_kind(caches, named):
    with pytest.raises(UntrimmableCache, match=f"the draft 'm' keeps {named}") as caught:
        require_trimmable(With(*caches), "draft", "m")
    assert isinstance(caught.value, UsageError) and caught.value.exit_code == 2


def test_attention_caches_are_fine():
    require_trimmable(tiny.random_model(60, 3), "target", "m")
    require_trimmable(With(CacheList(KVCache(), KVCache())), "target", "m")
    assert cache_kinds(tiny.random_model(60, 3)) == [("KVCache", True)] * 2
    assert cache_kinds(With(CacheList(KVCache()), RotatingKVCache(9))) == [
        ("CacheList", True),
        ("RotatingKVCache", False),
    ]
