internal import Cluster
internal import DequeModule
internal import Engine
internal import Wire

/// Participants that reach this node through another one that drains. They are asked to return, a few at a time, before that node ends and
/// their connections break.
final class ForwardedParticipants {
    private let context: ShardContext
    private let slots: SlotTable<ParticipantConnection>
    private var leaving: Deque<ParticipantHandle> = []
    private var nextAt: Instant?

    private static var interval: Duration { .milliseconds(200) }
    /// Each step closes this fraction of the connections that are left, and one more.
    private static var steps: Int { 25 }

    init(_ context: ShardContext, _ slots: SlotTable<ParticipantConnection>) {
        (self.context, self.slots) = (context, slots)
    }

    /// Leaves connections alone that the node forwards from now on: their clients would reconnect through it.
    func nodeDrains(_ name: String) {
        for slot in 0..<slots.count {
            if let participant = slots[slot], participant.forwarder == name, participant.link.isUp { leaving.append(participant.handle) }
        }
        guard !leaving.isEmpty else { return }
        nextAt = nextAt ?? context.now + ClusterLimits.drainNotice
        context.wake(within: ClusterLimits.drainNotice)
    }

    func tick() {
        guard let due = nextAt else { return }
        guard due <= context.now else { return context.wake(within: due - context.now) }
        for _ in 0..<min(leaving.count, 1 + leaving.count / Self.steps) {
            // Its session stays, as after a lost connection.
            if let participant = slots.occupant(of: leaving.removeFirst()), participant.link.isUp { participant.close(.moved) }
        }
        nextAt = leaving.isEmpty ? nil : context.now + Self.interval
        if !leaving.isEmpty { context.wake(within: Self.interval) }
    }
}
