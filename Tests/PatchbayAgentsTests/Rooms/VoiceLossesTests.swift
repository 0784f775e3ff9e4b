import Testing
import Wire

@testable import PatchbayAgents

/// Losses of the assistant's speech with a connection or a node.
struct VoiceLossesTests {
    private var losses = VoiceLosses()

    private static func cleared(_ reason: String?, playedTs: UInt32? = 960) -> ClearedPlayout {
        ClearedPlayout(
            track: TrackSID(text: "TR_voice"), epoch: 2, heard: HeardPosition(playedTs: playedTs, playedMs: 20, isEstimated: false),
            discardedMs: 0, reason: reason)
    }

    /// The loss that is reported after a reconnect.
    private mutating func reconnected(_ isResumed: Bool = true, framesUnsent: UInt64 = 0) -> String {
        switch losses.take(isResumed: isResumed, framesUnsent: framesUnsent) {
        case .queueLost(let end): "queue after \(end.map { String($0.ticks) } ?? "nothing")"
        case .resumedWithLoss: "frames"
        case nil: "nothing"
        default: "something else"
        }
    }

    @Test(arguments: ["node_lost", "moved"])
    mutating func queueIsLostWithItsNode(reason: String) {
        losses.note(Self.cleared(reason), by: Identity(text: ""))
        #expect(reconnected(framesUnsent: 5) == "queue after 960", "and the frames are part of what was lost")
        #expect(reconnected(framesUnsent: 5) == "nothing")
        losses.note(Self.cleared(reason, playedTs: nil), by: Identity(text: ""))
        #expect(reconnected(framesUnsent: 5) == "queue after nothing")
    }

    @Test mutating func clearOfSomebodyElseIsNoLoss() {
        losses.note(Self.cleared("moved"), by: Identity(text: "ann"))
        losses.note(Self.cleared("barge-in"), by: Identity(text: ""))
        losses.note(Self.cleared(nil), by: Identity(text: ""))
        #expect(reconnected() == "nothing")
    }

    @Test mutating func framesAreLostWithTheirConnection() {
        #expect(reconnected(framesUnsent: 3) == "frames")
        #expect(reconnected(framesUnsent: 3) == "nothing")
    }

    @Test mutating func anotherSessionBeginsWithAnotherTrack() {
        losses.note(Self.cleared("node_lost"), by: Identity(text: ""))
        #expect(reconnected(false, framesUnsent: 3) == "nothing")
        #expect(reconnected(framesUnsent: 3) == "nothing")
    }
}
