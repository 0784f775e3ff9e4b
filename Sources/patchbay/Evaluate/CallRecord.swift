import Audio
import PatchbayClient
import Synchronization
import Wire

/// A span of time in a call, in milliseconds of its recording.
struct Span: Sendable, Hashable, Codable {
    var start: Int
    var end: Int

    /// The resolution of `audible`: 5 ms at 48 kHz.
    static let window = 240

    func overlap(with other: Span) -> Int { max(0, min(end, other.end) - max(start, other.start)) }

    /// The spans in which a sound at 48 kHz is audible.
    ///
    /// - Parameters:
    ///   - level: in -dBov, exclusive.
    ///   - pause: shorter silences, in milliseconds, belong to the span around them.
    static func audible(in samples: [Int16], above level: UInt8, closing pause: Int) -> [Span] {
        var spans: [Span] = []
        for start in stride(from: 0, to: samples.count, by: window) {
            let end = min(start + window, samples.count)
            guard AudioLevel(of: samples.span.extracting(start..<end)).value < level else { continue }
            spans.append(Span(start: start / 48, end: end / 48))
        }
        return closed(spans, below: pause)
    }

    /// Joins spans that are less than `pause` apart.
    static func closed(_ spans: [Span], below pause: Int) -> [Span] {
        spans.reduce(into: []) { joined, span in
            if let last = joined.last, span.start - last.end < pause {
                joined[joined.count - 1].end = span.end
            } else {
                joined.append(span)
            }
        }
    }
}

/// What happened in a call, as the caller heard it. Times are milliseconds of the recording.
struct CallRecord: Sendable {
    /// A line as it was spoken.
    struct SpokenLine: Sendable {
        var number: Int
        var line: CallerLine
        /// Where the caller is audible; empty if the line could not be said.
        var voiced: [Span]

        var start: Int { voiced.first?.start ?? 0 }
        var end: Int { voiced.last?.end ?? 0 }
    }

    /// The latest revision of a segment.
    struct Transcript: Sendable {
        var id: String
        var isCaller: Bool
        var text: String
        var firstAt: Int
        var isFinal = true
        var words: [TranscriptWord] = []
        /// Characters of an interrupted text that the assistant believes were heard; nil if it was not interrupted.
        var heardChars: Int?

        /// The part of an interrupted text that the assistant believes was heard.
        var keptText: String { heardChars.map { String(String.UnicodeScalarView(text.unicodeScalars.prefix($0))) } ?? text }
        /// The same for people.
        var heardText: String { heardChars == nil ? text : keptText + "…" }
    }

    /// The assistant's queued speech was discarded.
    struct Clear: Sendable {
        var at: Int
        /// How far the caller had heard it, on the track's clock.
        var heardTo: MediaTime?
    }

    var lines: [SpokenLine] = []
    /// Where the assistant is audible: above −50 dBov; pauses below 120 ms belong to it.
    var assistant: [Span] = []
    var transcripts: [Transcript] = []
    var clears: [Clear] = []
    /// Whether the gateway queues the assistant's speech (mode `ahead`), so that each stop is a clear and each end of an answer is not.
    var reportsPlayout = false
    var lengthMs = 0
}

/// Collects the events of a call.
final class CallNotes: Sendable {
    fileprivate struct State {
        var transcripts: [CallRecord.Transcript] = []
        var clears: [CallRecord.Clear] = []
        var reportsPlayout = false
        var agentState: AgentState?
        var hasEnded = false
    }

    private let state = Mutex(State())

    var agentState: AgentState? { state.withLock { $0.agentState } }
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// - Parameter user: who hears the assistant.
    func take(_ event: RoomEvent, of user: RecordedUser) {
        let now = user.position
        state.withLock { state in
            switch event {
            case .gateway(.segment(let segment), _): state.note(segment, at: now)
            case .gateway(.agentState(_, let agentState), _): state.agentState = agentState
            case .gateway(.playoutStarted, _): state.reportsPlayout = true
            case .gateway(.playoutCleared(let cleared, _), _):
                let heard = user.heardTo(inEpoch: cleared.epoch &- 1) ?? cleared.heard.playedTs.map(MediaTime.init(ticks:))
                state.clears.append(CallRecord.Clear(at: now, heardTo: heard))
            case .disconnected: state.hasEnded = true
            default: break
            }
        }
    }

    /// Adds what was noted to a record.
    func complete(_ record: inout CallRecord) {
        state.withLock { state in
            record.transcripts = state.transcripts
            record.clears = state.clears
            record.reportsPlayout = state.reportsPlayout
        }
    }
}

extension CallNotes.State {
    mutating func note(_ segment: TranscriptSegment, at now: Int) {
        let index = transcripts.firstIndex { $0.id == segment.id }
        let transcript = CallRecord.Transcript(
            id: segment.id, isCaller: segment.role == .user, text: segment.text, firstAt: index.map { transcripts[$0].firstAt } ?? now,
            isFinal: segment.final, words: segment.words ?? [],
            heardChars: segment.spoken == .interrupted ? segment.spokenChars : nil)
        if let index { transcripts[index] = transcript } else { transcripts.append(transcript) }
    }
}
