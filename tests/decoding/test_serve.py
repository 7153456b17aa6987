"""The HTTP server, asked by OpenAI's own client over a real socket."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("starlette", reason="the extra 'serve' is not installed")
pytest.importorskip("uvicorn", reason="the extra 'serve' is not installed")
pytest.importorskip("prometheus_client", reason="the extra 'serve' is not installed")
httpx = pytest.importorskip("httpx", reason="httpx is not installed")

from decoder.generation import stream_generate  # noqa: E402
from decoder.serve.metrics import COUNTERS, TIMES  # noqa: E402
from decoder.serve.schema import Defaults  # noqa: E402
from decoder.session import Session  # noqa: E402
from decoding import makers as tiny  # noqa: E402
from decoding import serving  # noqa: E402
from decoding.serving import HELLO, KEY  # noqa: E402

N = 24


@pytest.fixture(scope="module")
def server():
    with serving.running(lambda: Session(serving.pair()), defaults=Defaults(64)) as running:
        yield running


@pytest.fixture(scope="module")
def openai(server):
    pytest.importorskip("openai", reason="openai is not installed")
    with server.openai() as client:
        yield client


def reference(prompt, n=N, **options):
    return list(stream_generate(serving.pair(), prompt, max_tokens=n, **options))


def text(found):
    return "".join(r.text for r in found)


def test_a_chat_is_what_the_library_generates(openai):
    for _ in range(2):  # the second time from a kept cache
        done = openai.chat.completions.create(model="tiny", messages=HELLO, max_tokens=N, seed=1)
        wanted = reference(HELLO)
        assert done.choices[0].message.content == text(wanted)
        assert done.choices[0].message.role == "assistant"
        assert done.choices[0].finish_reason == wanted[-1].finish_reason
        assert done.usage.completion_tokens == len(wanted)
        assert done.usage.prompt_tokens == wanted[0].prompt_tokens
    assert done.usage.prompt_tokens_details.cached_tokens == wanted[0].prompt_tokens - 1


def test_a_streamed_chat_is_the_same_text(openai):
    chunks = list(
        openai.chat.completions.create(
            model="tiny",
            messages=HELLO,
            max_completion_tokens=N,
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    wanted = reference(HELLO)
    assert chunks[0].choices[0].delta.role == "assistant"
    assert "".join(c.choices[0].delta.content or "" for c in chunks[:-1]) == text(wanted)
    assert [c.choices[0].finish_reason for c in chunks[:-1]].count(None) == len(chunks) - 2
    assert chunks[-2].choices[0].finish_reason == wanted[-1].finish_reason
    assert chunks[-1].choices == [] and chunks[-1].usage.completion_tokens == len(wanted)
    assert all(c.usage is None for c in chunks[:-1])
    assert len({c.id for c in chunks}) == 1
    figures = chunks[-1].usage.speculation
    assert figures["tokens"] == len(wanted) and 0 <= figures["acceptance"] <= 1


def test_a_completion_streamed_and_not(openai):
    prompt = tiny.PROMPT
    done = openai.completions.create(model="tiny", prompt=prompt, max_tokens=N)
    assert done.choices[0].text == text(reference(prompt))
    chunks = list(openai.completions.create(model="tiny", prompt=prompt, max_tokens=N, stream=True))
    assert "".join(c.choices[0].text for c in chunks) == done.choices[0].text
    assert chunks[-1].choices[0].finish_reason == done.choices[0].finish_reason
    assert openai.completions.create(model="tiny", prompt=prompt).usage.completion_tokens == 16


def test_a_prompt_of_ids(openai):
    ids = serving.pair().target.encode_prompt(tiny.PROMPT)
    for prompt in (ids, [ids]):
        done = openai.completions.create(model="tiny", prompt=prompt, max_tokens=N)
        assert done.choices[0].text == text(reference(ids))


def test_sampling_with_a_seed_is_the_librarys(openai):
    options = {"temperature": 0.8, "top_p": 0.9, "seed": 11}
    done = openai.chat.completions.create(model="tiny", messages=HELLO, max_tokens=N, **options)
    assert done.choices[0].message.content == text(reference(HELLO, **options))
    extra = openai.chat.completions.create(
        model="tiny", messages=HELLO, max_tokens=N, temperature=0.8, seed=1, extra_body={"top_k": 1}
    )
    assert extra.choices[0].message.content == text(reference(HELLO))


def test_without_a_seed_samples_differ(openai):
    made = {
        openai.chat.completions.create(model="tiny", messages=HELLO, max_tokens=N, temperature=1.5)
        .choices[0]
        .message.content
        for _ in range(3)
    }
    assert len(made) == 3


def test_stop_texts(openai):
    whole = text(reference(HELLO))
    stop = whole[len(whole) // 2 :][:2]
    done = openai.chat.completions.create(model="tiny", messages=HELLO, max_tokens=N, stop=stop)
    assert done.choices[0].message.content == whole[: whole.index(stop)]
    assert done.choices[0].finish_reason == "stop"
    chunks = openai.chat.completions.create(
        model="tiny", messages=HELLO, max_tokens=N, stop=[stop, "nigdy"], stream=True
    )
    assert "".join(c.choices[0].delta.content or "" for c in chunks) == whole[: whole.index(stop)]


def test_every_event_is_whole_utf8(server):
    body = {"model": "tiny", "messages": HELLO, "max_tokens": 64, "stream": True, "temperature": 1.2, "seed": 5}
    shown = ""
    with server.client() as client, client.stream("POST", "/v1/chat/completions", json=body) as reply:
        assert reply.headers["content-type"].startswith("text/event-stream")
        events = [line for line in b"".join(reply.iter_raw()).split(b"\n\n") if line]
    assert events[-1] == b"data: [DONE]"
    for event in events[:-1]:
        assert event.startswith(b"data: ") and b"\n" not in event
        value = json.loads(event[6:].decode())  # strict
        shown += value["choices"][0]["delta"].get("content", "")
    wanted = text(reference(HELLO, 64, temperature=1.2, seed=5))
    assert shown == wanted and any(ord(c) > 127 for c in wanted)


def test_a_letter_that_tokens_cut_comes_in_one_event():
    """A model that writes Polish byte by byte."""
    target, _ = tiny.PAIRS["sentencepiece-from-bytes"]()
    written = "Zażółć gęślą jaźń 🙂"
    ids = [i for b in written.encode() for i in target.encode_bytes(bytes([b]))]

    def make():
        from decoder.generation import Pair

        prompt = tiny.loaded(target, None).encode_prompt("x")
        return Session(Pair(tiny.loaded(target, tiny.follows(prompt, ids, len(target.vocabulary.table))), k=0))

    body = {"model": "tiny", "prompt": "x", "max_tokens": len(ids), "stream": True}
    with serving.running(make) as running, running.client() as client:
        events = client.post("/v1/completions", json=body).content.split(b"\n\n")[:-2]
    parts = [json.loads(e[6:].decode())["choices"][0]["text"] for e in events]
    assert "".join(parts) == written and len(parts) >= len(written)


def test_models(openai, server):
    assert [m.id for m in openai.models.list()] == ["tiny"]
    assert openai.models.retrieve("tiny").object == "model"
    with server.client() as client:
        assert client.get("/v1/models/other").json()["error"]["code"] == "model_not_found"
        assert client.get("/health").json() == {"status": "ok"}


def test_errors_reach_openais_client_as_its_own(openai):
    from openai import BadRequestError, NotFoundError

    with pytest.raises(NotFoundError, match="'gpt-4' is not served here; use 'tiny'"):
        openai.chat.completions.create(model="gpt-4", messages=HELLO)
    with pytest.raises(BadRequestError, match="temperature"):
        openai.chat.completions.create(model="tiny", messages=HELLO, temperature=3)
    with pytest.raises(BadRequestError, match="'n' is not supported"):
        openai.chat.completions.create(model="tiny", messages=HELLO, n=2)


def test_what_a_chat_template_refuses_is_the_clients_fault():
    template = "{{ raise_exception('roles must alternate') }}"
    target, _ = tiny.PAIRS["same"]()

    def make():
        from decoder.generation import Pair

        return Session(Pair(tiny.loaded(target, tiny.Scripted(9, len), template=template)))

    body = {"model": "tiny", "messages": HELLO, "stream": True}
    with serving.running(make) as running, running.client() as client:
        reply = client.post("/v1/chat/completions", json=body)
    assert reply.status_code == 400 and "roles must alternate" in reply.json()["error"]["message"]


def test_metrics(server):
    with server.client() as client:
        before = figures(client)
        client.post("/v1/chat/completions", json={"model": "tiny", "messages": HELLO, "max_tokens": 7})
        client.post("/v1/chat/completions", json={})
        client.get("/nowhere")
        after = figures(client)
    assert after["decoder_tokens_total"] - before["decoder_tokens_total"] == 7
    for name in COUNTERS:
        assert after[f"decoder_{name}_total"] >= before[f"decoder_{name}_total"]
    for name in TIMES:
        assert after[f"decoder_{name}_count"] - before[f"decoder_{name}_count"] == 1
    bad = 'decoder_requests_total{route="/v1/chat/completions",status="400"}'
    assert after[bad] - before.get(bad, 0) == 1
    assert after['decoder_requests_total{route="other",status="404"}'] >= 1
    assert after["decoder_running_replies"] == after["decoder_waiting_requests"] == 0


def figures(client) -> dict[str, float]:
    lines = client.get("/metrics").text.splitlines()
    return {name: float(value) for name, value in (x.rsplit(" ", 1) for x in lines if not x.startswith("#"))}


def test_the_key():
    with serving.running(lambda: Session(serving.pair()), key=KEY) as running:
        for key in (None, "wrong", KEY + "x", KEY[:-1], "żółć"):
            headers = {"Authorization": f"Bearer {key}".encode()} if key else {}
            with running.client() as client:
                reply = client.get("/v1/models", headers=headers)
                assert reply.status_code == 401 and reply.headers["www-authenticate"] == "Bearer"
                assert reply.json()["error"]["code"] == "invalid_api_key"
                assert client.get("/metrics", headers=headers).status_code == 401
                assert client.get("/health").status_code == 200
        with running.client(KEY) as client:
            assert client.get("/v1/models").status_code == 200
            assert client.get("/v1/models", headers={"Host": "example.org"}).status_code == 200


def test_without_a_key_only_this_machines_names_are_heard(server):
    with server.client() as client:
        for host in ("evil.example", "evil.example:8080", "127.0.0.1.evil.example", "", "[::2]:80"):
            assert client.get("/v1/models", headers={"Host": host}).status_code == 403, host
        for host in ("localhost", "localhost:1", "127.0.0.1:8080", "[::1]:8080", "LOCALHOST"):
            assert client.get("/v1/models", headers={"Host": host}).status_code == 200, host
