import Cluster
import Testing
import Wire

/// A node with its effects, and a clock that only `pass` moves. The broker returns its beats at once, unless it is frozen.
final class ScriptedNode {
    var machine: ClusterStateMachine
    var now = Instant(nanoseconds: 1_000_000_000_000)
    let local = NodeIdentity(name: "a", incarnation: 2)
    /// The broker takes beats and returns none, while the connection stays open.
    var isFrozen = false

    init(isConnected: Bool = true) {
        machine = ClusterStateMachine(NodeBeat(node: local, number: 0, build: "1"), seed: 1, at: now)
        if isConnected { handle(.connected) }
    }

    @discardableResult
    func handle(_ input: ClusterStateMachine.Input) -> [ClusterStateMachine.Effect] {
        var effects: [ClusterStateMachine.Effect] = []
        machine.handle(input, at: now, into: &effects)
        for case .publish(let beat) in effects where !isFrozen { machine.handle(.received(beat), at: now, into: &effects) }
        return effects.filter { if case .publish = $0 { false } else { true } }
    }

    /// Lets time pass, as a shell would: `deadlinePassed` at each deadline.
    @discardableResult
    func pass(_ span: Duration) -> [ClusterStateMachine.Effect] {
        let end = now + span
        var effects: [ClusterStateMachine.Effect] = []
        while machine.deadline <= end {
            now = max(now, machine.deadline)
            effects += handle(.deadlinePassed)
        }
        now = end
        return effects
    }

    /// Becomes the home of a room that nobody has.
    func begin(_ room: String) throws -> RoomEpoch {
        handle(.wanted(room: room, by: RequesterID(99)))
        handle(.read(room: room, .success(nil)))
        handle(.written(room: room, .success(1)))
        return try #require(machine.epoch(of: room))
    }

    /// Writes as often as it may without waiting. The record has revision 4 then.
    func spendBurst(of room: String) throws {
        for revision in 1...3 as ClosedRange<UInt64> {
            guard handle(.changed(room: room)) == [.collect(room: room, isLast: false)] else { throw UnexpectedEffects([]) }
            handle(.collected(room: room, snapshot: []))
            handle(.written(room: room, .success(revision + 1)))
        }
    }
}

struct UnexpectedEffects: Error {
    let effects: [ClusterStateMachine.Effect]
    init(_ effects: [ClusterStateMachine.Effect]) { self.effects = effects }
}
