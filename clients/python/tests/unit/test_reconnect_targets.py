"""At which addresses a lost connection is opened again."""

from patchbay.connection.address import GatewayAddress
from patchbay.connection.targets import ReconnectTargets

FIRST = GatewayAddress.parse("wss://voice.example")


def targets(*nodes: object) -> ReconnectTargets:
    found = ReconnectTargets(FIRST)
    found.connected(FIRST, nodes)
    return found


def hosts(found: ReconnectTargets) -> list[str]:
    return [address.host for address in found.addresses]


def test_without_other_nodes_all_attempts_are_at_the_same_address() -> None:
    assert hosts(ReconnectTargets(FIRST)) == hosts(targets()) == ["voice.example"]


def test_the_lost_node_is_tried_first_and_then_the_others_in_turn() -> None:
    found = targets("wss://n2.example", "wss://n3.example:443")
    tried = [found.address(attempt).host for attempt in range(6)]
    assert tried == ["voice.example", "voice.example", "n2.example", "n3.example", "voice.example", "n2.example"]
    assert found.address(3).port == 443


def test_the_node_that_worked_is_the_first_of_the_next_attempts() -> None:
    found = targets("wss://n2.example", "wss://n3.example")
    found.connected(found.address(2), ["wss://n4.example"])
    assert hosts(found) == ["n2.example", "n4.example", "voice.example"]
    assert found.is_current(GatewayAddress.parse("wss://n2.example"))


def test_the_node_that_asks_the_client_to_leave_is_tried_last() -> None:
    found = targets("wss://n2.example", "wss://n3.example")
    found.leave()
    assert hosts(found) == ["n2.example", "n3.example", "voice.example"]
    assert found.address(0) == FIRST
    found.connected(found.address(1), [])
    assert hosts(found) == ["n2.example", "voice.example"]


def test_each_address_is_tried_once_per_round() -> None:
    assert hosts(targets("wss://voice.example:443", "wss://n2.example", "wss://n2.example/")) == [
        "voice.example",
        "n2.example",
    ]


def test_the_token_is_not_sent_unencrypted() -> None:
    bad = [
        "ws://n2.example",
        "http://n2.example",
        "https://n2.example",
        "n2.example",
        "",
        "wss://",
        "wss://u@n2.example",
    ]
    assert hosts(targets(*bad, "wss://[", None, 7, "wss://n3.example")) == ["voice.example", "n3.example"]


def test_at_most_eight_nodes_are_kept() -> None:
    assert hosts(targets(*(f"wss://n{number}.example" for number in range(20)))) == [
        "voice.example",
        *(f"n{number}.example" for number in range(8)),
    ]
