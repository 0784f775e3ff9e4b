import Testing
import Wire

@testable import Engine

struct TranscriptTests {
    @Test func segmentIsRelayedWithItsSpeaker() {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        #expect(world.send(ann, .segment(TranscriptSegment(id: "s1", role: .user, text: "hi"))) == .reply(.done))
        #expect(world.trace == ["reply > ann", "segment > bob"])
        #expect(world.takeEvents(bob).last == .segment(TranscriptSegment(id: "s1", role: .user, participant: "ann", text: "hi")))
    }

    @Test func onlyNewerRevisionsAreRelayed() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("bob")
        for (revision, isTold) in [(2, true), (2, false), (1, false), (3, true)] {
            let segment = TranscriptSegment(id: "s1", rev: revision, role: .user, text: "hi \(revision)")
            #expect(world.send(ann, .segment(segment)) == .reply(.done))
            #expect(world.trace == ["reply > ann"] + (isTold ? ["segment > bob"] : []))
        }
        let cid = world.join("cid")
        #expect(world.replay(cid).map(\.text) == ["hi 3"])
    }

    @Test func newcomerReceivesTheLastFiftySegmentsInOrder() {
        var world = RoomWorld()
        let ann = world.join("ann")
        for number in 1...60 { world.send(ann, .segment(TranscriptSegment(id: "s\(number)", role: .user, text: "\(number)"))) }
        let bob = world.join("bob")
        #expect(world.replay(bob).map(\.text) == (11...60).map(String.init))
    }

    @Test func revisionReplacesItsSegmentInPlace() {
        var world = RoomWorld()
        let ann = world.join("ann")
        for number in 1...3 { world.send(ann, .segment(TranscriptSegment(id: "s\(number)", role: .user, text: "\(number)"))) }
        world.send(ann, .segment(TranscriptSegment(id: "s1", rev: 1, role: .user, text: "one", final: true)))
        let bob = world.join("bob")
        #expect(world.replay(bob).map(\.text) == ["one", "2", "3"])
    }

    @Test func segmentsOutliveTheirSpeaker() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("bob")
        world.send(ann, .segment(TranscriptSegment(id: "s1", role: .user, text: "hi")))
        world.receive(.left(ann, .clientInitiated))
        let cid = world.join("cid")
        #expect(world.replay(cid).map(\.participant) == ["ann"])
    }

    @Test func agentTranscribesForItselfAndOthers() {
        var world = RoomWorld()
        let ann = world.join("ann")
        let helper = world.join("helper", kind: .agent)
        #expect(world.send(helper, .segment(TranscriptSegment(id: "s1", role: .user, participant: "ann", text: "hi"))) == .reply(.done))
        #expect(world.trace == ["reply > helper", "segment > ann"])
        #expect(world.send(helper, .segment(TranscriptSegment(id: "s2", role: .assistant, text: "hello"))) == .reply(.done))
        #expect(world.takeEvents(ann).last == .segment(TranscriptSegment(id: "s2", role: .assistant, participant: "helper", text: "hello")))
    }

    @Test func standardParticipantTranscribesOnlyItself() {
        var world = RoomWorld()
        world.join("ann")
        let bob = world.join("bob", isRoomAdmin: true)
        let others = TranscriptSegment(id: "s1", role: .user, participant: "ann", text: "hi")
        #expect(world.send(bob, .segment(others))?.code == .notAllowed)
        let posing = TranscriptSegment(id: "s1", role: .assistant, text: "hi")
        #expect(world.send(bob, .segment(posing))?.code == .notAllowed)
        let own = TranscriptSegment(id: "s1", role: .user, participant: "bob", text: "hi")
        #expect(world.send(bob, .segment(own)) == .reply(.done))
    }

    @Test func segmentIDOfAnotherParticipantIsRejected() {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        world.send(ann, .segment(TranscriptSegment(id: "s1", role: .user, text: "hi")))
        let taken = TranscriptSegment(id: "s1", rev: 5, role: .user, text: "ho")
        #expect(world.send(bob, .segment(taken))?.code == .invalidArgument)
        #expect(world.trace.count == 1)
    }

    @Test func unknownAndHiddenParticipantsCannotBeTranscribed() {
        var world = RoomWorld()
        let helper = world.join("helper", kind: .agent)
        let spy = world.join("spy", permission: Permission(hidden: true))
        for name: Identity in ["nobody", "spy"] {
            let segment = TranscriptSegment(id: "s1", role: .user, participant: name, text: "hi")
            #expect(world.send(helper, .segment(segment))?.code == .notFound)
        }
        #expect(world.send(spy, .segment(TranscriptSegment(id: "s1", role: .user, text: "hi")))?.code == .notFound)
    }

    @Test func transcribingRequiresTheGrant() {
        var world = RoomWorld()
        let mute = world.join("mute", kind: .agent, permission: Permission(canPublishData: false))
        #expect(world.send(mute, .segment(TranscriptSegment(id: "s1", role: .assistant, text: "hi")))?.code == .notAllowed)
    }

    @Test(arguments: [
        (TranscriptSegment(id: "", role: .user, text: ""), RequestError.Code.invalidArgument),
        (TranscriptSegment(id: String(repeating: "s", count: 129), role: .user, text: ""), .invalidArgument),
        (TranscriptSegment(id: "s1", rev: -1, role: .user, text: ""), .invalidArgument),
        (TranscriptSegment(id: "s1", rev: Int(Int32.max) + 1, role: .user, text: ""), .invalidArgument),
        (TranscriptSegment(id: "s1", rev: .max, role: .user, text: ""), .invalidArgument),
        (TranscriptSegment(id: "s1", role: .user, text: String(repeating: "x", count: 16_385)), .limitExceeded),
        (
            TranscriptSegment(
                id: "s1", role: .user, text: "", words: Array(repeating: TranscriptWord(text: "", startTs: 0, endTs: 0), count: 4_097)),
            .limitExceeded
        ),
    ])
    func segmentSizesAreLimited(segment: TranscriptSegment, code: RequestError.Code) {
        var world = RoomWorld()
        let ann = world.join("ann")
        #expect(world.send(ann, .segment(segment))?.code == code)
    }
}

extension RoomWorld {
    /// The segments replayed to a newcomer.
    fileprivate mutating func replay(_ newcomer: ParticipantHandle) -> [TranscriptSegment] {
        takeEvents(newcomer).compactMap { if case .segment(let segment) = $0 { segment } else { nil } }
    }
}
