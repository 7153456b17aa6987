"""Energy where it is counted, null with the reason where it is not."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

from decoder import energy


@pytest.fixture
def zeus(monkeypatch):
    """Install a monitor that reads what the test says."""

    def install(**monitor) -> list[tuple[str, str]]:
        calls: list[tuple[str, str]] = []

        class Monitor:
            def __init__(self) -> None:
                if "refuses" in monitor:
                    raise RuntimeError(monitor["refuses"])

            def begin_window(self, key: str, sync_execution: bool) -> None:
                calls.append(("begin", key))
                assert sync_execution is False
                if "fails" in monitor:
                    raise RuntimeError(monitor["fails"])

            def end_window(self, key: str, sync_execution: bool) -> SimpleNamespace:
                calls.append(("end", key))
                return SimpleNamespace(**monitor["reading"])

        package, module = ModuleType("zeus"), ModuleType("zeus.monitor")
        module.ZeusMonitor = Monitor  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "zeus", package)
        monkeypatch.setitem(sys.modules, "zeus.monitor", module)
        return calls

    energy._monitor.cache_clear()
    yield install
    energy._monitor.cache_clear()


def read() -> energy.Energy:
    with energy.measured() as meter:
        pass
    assert meter.energy is not None and meter.energy.seconds >= 0
    return meter.energy


def test_without_zeus(monkeypatch, zeus):
    monkeypatch.setitem(sys.modules, "zeus", None)
    found = read()
    assert found.joules is None and found.per_token(5) is None
    assert found.reason == "zeus is not installed; install tokalign-decoder[energy]"


def test_apple_silicon_and_a_card(zeus):
    soc = SimpleNamespace(
        cpu_total_mj=500, gpu_mj=2000, gpu_sram_mj=None, dram_mj=250, ane_mj=0, efficiency_cores_mj=[1]
    )
    zeus(reading={"gpu_energy": {}, "cpu_energy": None, "dram_energy": None, "soc_energy": soc})
    found = read()
    assert found.joules == 2.75 and found.reason is None
    assert found.parts == {"cpu": 0.5, "gpu": 2.0, "dram": 0.25, "ane": 0.0}
    assert found.per_token(11) == 0.25 and found.per_token(0) is None


def test_nvidia_and_rapl(zeus):
    calls = zeus(reading={"gpu_energy": {0: 3.0, 1: 4.0}, "cpu_energy": {0: 1.0}, "soc_energy": None})
    assert read().joules == 8.0
    read()
    assert [c for c, _ in calls] == ["begin", "end"] * 2 and len({k for _, k in calls}) == 2


def test_why_there_is_none(zeus):
    zeus(reading={"gpu_energy": {}, "soc_energy": None})
    assert read().reason == "this machine has no energy counter that zeus can read"
    energy._monitor.cache_clear()
    zeus(reading={"gpu_energy": {0: 0.0}})
    assert read().reason == "the energy counters did not move; measure for longer"
    energy._monitor.cache_clear()
    zeus(refuses="no driver.\nmore")
    assert read().reason == "zeus cannot measure here: no driver"
    energy._monitor.cache_clear()
    zeus(fails="permission denied")
    assert read().reason == "zeus cannot measure here: permission denied"


def test_an_error_inside_the_block_goes_on(zeus):
    zeus(reading={"gpu_energy": {0: 1.0}})
    with pytest.raises(KeyError), energy.measured() as meter:
        raise KeyError
    assert meter.energy.joules == 1.0
