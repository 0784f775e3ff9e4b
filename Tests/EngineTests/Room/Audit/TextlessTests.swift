import Testing
import Wire

@testable import Engine

/// A participant that must not receive text, such as a car's screen. Others receive everything.
struct TextlessTests {
    private var world = RoomWorld()
    private let phone, car, helper: ParticipantHandle

    init() {
        phone = world.join("phone")
        car = world.join("car", receivesText: false)
        helper = world.join("helper", kind: .agent)
        world.discardEvents()
    }

    private let segment = TranscriptSegment(id: "s1", role: .assistant, text: "hello", final: true)

    @Test mutating func textlessParticipantReceivesNoSegments() {
        world.send(helper, .segment(segment))
        #expect(world.trace == ["reply > helper", "segment > phone"])
    }

    @Test mutating func textlessNewcomerReceivesNoTranscript() {
        world.send(helper, .segment(segment))
        let late = world.join("late car", receivesText: false)
        #expect(world.takeEvents(late).words == ["hello"])
        #expect(world.takeEvents(world.join("late phone")).words == ["hello", "segment"])
    }

    @Test mutating func textlessParticipantCanSpeakAndBeTranscribed() {
        #expect(world.send(car, .segment(TranscriptSegment(id: "s2", role: .user, text: "hi", final: true))) == .reply(.done))
        #expect(world.trace == ["reply > car", "segment > phone helper"])
    }

    @Test mutating func textlessParticipantReceivesNoDirectText() {
        world.send(phone, .sendText(TextMessage(text: "hi")))
        #expect(world.trace == ["reply > phone", "text > helper"])
        guard case .reply(.textSent)? = world.send(phone, .sendText(TextMessage(text: "hi", to: ["car"]))) else {
            Issue.record("the sender must not learn who receives text")
            return
        }
        #expect(world.trace == ["reply > phone"])
    }

    @Test(arguments: [
        (DataPayload.text("hi"), false),
        (.text(""), false),
        (.base64("SGVsbG8sIHdvcmxkIQ=="), false),
        (.base64("w4ziBI0="), true),
        (.base64("AAEC"), true),
        (.base64("/w=="), true),
        (.base64("R3LDvMOfZQo="), false),
    ])
    mutating func textlessParticipantReceivesOnlyUnreadableData(payload: DataPayload, comes: Bool) {
        world.send(phone, .sendData(DataMessage(topic: "t", payload: payload)))
        #expect(world.trace == ["reply > phone", "data > \(comes ? "car " : "")helper"])
    }

    @Test mutating func textlessParticipantReceivesNoTextFromTheBackend() {
        world.receive(.administered(.sendData(DataMessage(topic: "t", payload: .text("your summary")))))
        #expect(world.trace == ["data > phone helper"])
    }

    @Test mutating func textlessParticipantAnswersProcedureCalls() {
        world.send(phone, .callProcedure(ProcedureCall(to: "car", method: "volume", payload: "3", timeoutMs: 1_000)))
        #expect(world.trace == ["procedureCalled > car"])
    }

    @Test mutating func textlessParticipantReceivesNoInterruptedSegments() throws {
        let track = try world.publish(helper, PublishTrack(source: .assistant, mode: .ahead))
        world.receive(.playout(track.sid, .started(epoch: 0, at: MediaTime(ticks: 0), playsAt: world.now)))
        world.send(helper, .segment(segment))
        world.discardEvents()
        world.send(phone, .playoutClear(track.sid, reason: nil))
        world.receive(.playout(track.sid, .cleared(epoch: 1, end: MediaTime(ticks: 48_000))))
        #expect(!world.takeEvents(car).words.contains("segment"))
        #expect(world.takeEvents(phone).words.contains("segment"))
    }

    @Test mutating func textlessParticipantResumesAsTextless() {
        world.receive(.connectionLost(car, .signalClose))
        world.send(helper, .segment(segment))
        let back = world.join("car", receivesText: false, session: "session-car", resuming: "resume-car")
        #expect(world.history.contains { if case .handOver(car, back) = $0 { true } else { false } })
        #expect(!world.takeEvents(back).words.contains("segment"))
    }

    @Test(arguments: [true, false])
    mutating func resumeRequiresTheSameTextSetting(receivesText: Bool) {
        let name = receivesText ? "car" : "phone"
        world.join(name, receivesText: receivesText, resuming: "resume-\(name)")
        #expect(!world.history.contains { if case .handOver = $0 { true } else { false } })
        #expect(world.closed[receivesText ? car : phone] == .duplicateIdentity)
    }

    @Test mutating func refreshedTokenKeepsTheTextSetting() {
        world.send(car, .refreshToken)
        #expect(world.tokens.last?.content.receivesText == false)
    }
}
