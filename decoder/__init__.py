"""decoder: exact speculative decoding across vocabularies, on MLX.

    from decoder import load_pair, stream_generate

    pair = load_pair("bielik-11b", "bielik-1.5b", settings="pair.json")
    for response in stream_generate(pair, "Warszawa jest", max_tokens=100):
        print(response.text, end="", flush=True)
"""

from decoder.generate import GenerationResponse, Pair, generate, load_pair, stream_generate

__all__ = ["GenerationResponse", "Pair", "generate", "load_pair", "stream_generate"]
