import Testing

@testable import Wire

/// The writer without `Codable` gives the same bytes as `Codable`.
struct FrequentEventTests {
    private static let names = ["ann", #"a "quoted\" name"#, "Zoë\n🎧\u{1}"].map { Identity(text: $0) }
    private static let track = TrackSID(text: "TR_AMqpgHxtwLLtpN")
    private static let times = [0, 960, UInt32.max].map { MediaTime(ticks: $0) }

    private static var events: [Event] {
        names.flatMap { who -> [Event] in
            let speakers = [0, 0.125, 1].map { Speaker(participant: who, track: track, level: $0, active: $0 > 0) }
            return [
                .speakersChanged([]), .speakersChanged(speakers), .speakersChanged([speakers[1]]),
                .playoutFinished(track, of: who, epoch: 255, HeardPosition(playedTs: nil, playedMs: 0, isEstimated: false)),
                .playoutFinished(track, of: who, epoch: 0, HeardPosition(playedTs: .max, playedMs: 60_000, isEstimated: true)),
            ]
                + times.flatMap { time in
                    [
                        .talkStarted(who, track, at: time), .talkStopped(who, track, at: time, reason: .silence),
                        .playoutStarted(track, of: who, epoch: 3, at: time),
                    ]
                }
                + [0, 0.41, 1_234.5].map { .stats(ConnectionStats(rttMs: $0, sent: .max, dropped: 0, lateP99Ms: $0)) }
                + [AgentState.speaking, .listening, .idle].map { .agentState(who, $0) }
        }
    }

    @Test func bothWritersAgree() throws {
        for event in Self.events {
            let (type, body) = try #require(event.frequentTypeAndBody)
            #expect(type == event.typeAndBody.0)
            #expect(body == event.typeAndBody.1, "\(String(decoding: body, as: UTF8.self))")
        }
    }

    @Test func messagesSurviveARoundTrip() throws {
        for event in Self.events {
            guard case .event(let found, seq: 7) = try ServerMessage(parsing: EncodedEvent(event).bytes(seq: 7)) else {
                Issue.record("not an event")
                continue
            }
            #expect(found == event)
        }
    }

    @Test(arguments: [0, 7, 9, 10, 99, 100, 123_456_789, UInt64.max]) func numbersAreEncodedExactly(seq: UInt64) {
        let event = EncodedEvent(.callHeld(by: Identity(text: "ann")))
        let text = #"{"type":"call.held","seq":\#(seq),"data":{"participant":"ann"}}"#
        #expect(String(decoding: event.bytes(seq: seq), as: UTF8.self) == text && event.byteCount(seq: seq) == text.utf8.count)
    }

    @Test func otherTextIsRejected() {
        #expect(Event.bye(.clientInitiated, retryable: true).frequentTypeAndBody == nil)
    }
}
