import Engine
import Testing
import Wire

/// A screen that may show no text, a car's: nothing that people read comes to it, and everybody else sees all.
struct TextlessTests {
    private var world = RoomWorld()
    private let phone, car, helper: ParticipantHandle

    init() {
        phone = world.join("phone")
        car = world.join("car", receivesText: false)
        helper = world.join("helper", kind: .agent)
        world.forgetNews()
    }

    private let segment = TranscriptSegment(id: "s1", role: .assistant, text: "hello", final: true)

    @Test mutating func noSegmentComesToIt() {
        world.ask(helper, .segment(segment))
        #expect(world.trace == ["reply > helper", "segment > phone"])
    }

    @Test mutating func noneOfTheLastFiftyGreetsIt() {
        world.ask(helper, .segment(segment))
        let late = world.join("late car", receivesText: false)
        #expect(world.news(late).words == ["hello"])
        #expect(world.news(world.join("late phone")).words == ["hello", "segment"])
    }

    @Test mutating func itMaySpeakAndBeTranscribed() {
        #expect(world.ask(car, .segment(TranscriptSegment(id: "s2", role: .user, text: "hi", final: true))) == .reply(.done))
        #expect(world.trace == ["reply > car", "segment > phone helper"])
    }

    @Test mutating func noTextComesToItEvenIfItIsMeantAlone() {
        world.ask(phone, .sendText(TextMessage(text: "hi")))
        #expect(world.trace == ["reply > phone", "text > helper"])
        guard case .reply(.textSent)? = world.ask(phone, .sendText(TextMessage(text: "hi", to: ["car"]))) else {
            Issue.record("whose screen shows what is not the sender's to know")
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
    mutating func dataComesToItOnlyIfNobodyCouldReadIt(payload: DataPayload, comes: Bool) {
        world.ask(phone, .sendData(DataMessage(topic: "t", payload: payload)))
        #expect(world.trace == ["reply > phone", "data > \(comes ? "car " : "")helper"])
    }

    @Test mutating func aBackendCannotWriteOnItEither() {
        world.happens(.administered(.sendData(DataMessage(topic: "t", payload: .text("your summary")))))
        #expect(world.trace == ["data > phone helper"])
    }

    @Test mutating func itStillAnswersCallsOfWhatItOffers() {
        world.ask(phone, .callProcedure(ProcedureCall(to: "car", method: "volume", payload: "3", timeoutMs: 1_000)))
        #expect(world.trace == ["procedureCalled > car"])
    }

    @Test mutating func whatAClearRevisesDoesNotComeToIt() throws {
        let track = try world.publish(helper, PublishTrack(source: .assistant, mode: .ahead))
        world.happens(.playout(track.sid, .started(epoch: 0, at: MediaTime(ticks: 0), playsAt: world.now)))
        world.ask(helper, .segment(segment))
        world.forgetNews()
        world.ask(phone, .playoutClear(track.sid, reason: nil))
        world.happens(.playout(track.sid, .cleared(epoch: 1, end: MediaTime(ticks: 48_000))))
        #expect(!world.news(car).words.contains("segment"))
        #expect(world.news(phone).words.contains("segment"))
    }

    @Test mutating func itComesBackAsWhatItWas() {
        world.happens(.connectionLost(car, .signalClose))
        world.ask(helper, .segment(segment))
        let back = world.join("car", receivesText: false, session: "session-car", token: "next", resuming: "resume-car")
        #expect(world.history.contains { if case .handOver(car, back) = $0 { true } else { false } })
        #expect(!world.news(back).words.contains("segment"))
    }

    @Test(arguments: [true, false])
    mutating func aPlaceIsNotTakenBackByAScreenOfTheOtherKind(receivesText: Bool) {
        let name = receivesText ? "car" : "phone"
        world.join(name, receivesText: receivesText, token: "next", resuming: "resume-\(name)")
        #expect(!world.history.contains { if case .handOver = $0 { true } else { false } })
        #expect(world.closed[receivesText ? car : phone] == .duplicateIdentity)
    }

    @Test mutating func aFreshTokenSaysItAgain() {
        world.ask(car, .refreshToken)
        #expect(world.tokens.last?.content.receivesText == false)
    }
}
