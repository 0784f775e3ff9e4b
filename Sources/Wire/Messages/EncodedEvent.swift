/// An event encoded once for all recipients. Only `seq` differs between connections and is inserted when the event is written.
public struct EncodedEvent: Sendable {
    private let text: [UInt8]
    /// Offset of the digits of `seq`.
    private let seqOffset: UInt32
    /// How many milliseconds the event may be deferred to be coalesced with later messages to the same participant; 0 sends it at once.
    public let deferralMilliseconds: UInt8
    /// Whether the event (`stats`) makes an earlier queued one to the same participant obsolete.
    public let supersedesPrevious: Bool

    public init(_ event: Event) {
        let (type, body) = event.frequentTypeAndBody ?? event.typeAndBody
        var name = type.rawValue
        seqOffset = UInt32(Self.beforeType.utf8CodeUnitCount + name.utf8.count + Self.beforeSeq.utf8CodeUnitCount)
        deferralMilliseconds = event.deferralMilliseconds
        supersedesPrevious = type == .stats
        // Allocated exactly: event logs retain the text.
        let count = Int(seqOffset) + Self.beforeBody.utf8CodeUnitCount + body.count + 1
        text = Array(unsafeUninitializedCapacity: count) { text, end in
            func append(_ bytes: UnsafeBufferPointer<UInt8>) { end = text[end...].update(fromContentsOf: bytes) }
            func append(_ words: StaticString) { append(UnsafeBufferPointer(start: words.utf8Start, count: words.utf8CodeUnitCount)) }
            append(Self.beforeType)
            name.withUTF8 { append($0) }
            append(Self.beforeSeq)
            append(Self.beforeBody)
            body.withUnsafeBufferPointer { append($0) }
            append("}")
        }
    }

    private static var beforeType: StaticString { #"{"type":""# }
    private static var beforeSeq: StaticString { #"","seq":"# }
    private static var beforeBody: StaticString { #","data":"# }

    /// Length of the message without the digits of `seq`.
    public var byteCount: Int { text.count }

    /// The complete message for a connection on which this is event number `seq`.
    public func bytes(seq: UInt64) -> [UInt8] {
        let count = byteCount(seq: seq)
        return Array(unsafeUninitializedCapacity: count) { bytes, written in
            write(seq: seq, to: UnsafeMutableRawPointer(bytes.baseAddress!))
            written = count
        }
    }

    /// Length of `bytes(seq:)`.
    package func byteCount(seq: UInt64) -> Int { text.count + Self.digits(of: seq) }

    /// Writes `bytes(seq:)` to memory with room for `byteCount(seq:)` bytes.
    package func write(seq: UInt64, to start: UnsafeMutableRawPointer) {
        let digits = Self.digits(of: seq)
        let (head, tail) = (Int(seqOffset), text.count - Int(seqOffset))
        text.withUnsafeBytes {
            start.copyMemory(from: $0.baseAddress!, byteCount: head)
            (start + head + digits).copyMemory(from: $0.baseAddress! + head, byteCount: tail)
        }
        var rest = seq
        for offset in (head..<head + digits).reversed() {
            start.storeBytes(of: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10), toByteOffset: offset, as: UInt8.self)
            rest /= 10
        }
    }

    private static func digits(of number: UInt64) -> Int {
        var (digits, rest) = (1, number)
        while rest >= 10 {
            rest /= 10
            digits += 1
        }
        return digits
    }
}

/// Encodes the most frequent events without `Codable`.
///
/// `Codable` spends ten times as long on container boxes and generic metadata as on the values, and these are nine of ten events in a
/// conversation.
extension Event {
    /// Status displays tolerate a delay; the end of a talkspurt or of playout does not, because assistants react to it. The start of a
    /// talkspurt is visible in the frames as well, and active speakers are a mean over 400 ms.
    var deferralMilliseconds: UInt8 {
        switch self {
        case .talkStarted, .agentState, .playoutStarted: 20
        case .speakersChanged, .stats: 100
        default: 0
        }
    }

    /// Equal to `typeAndBody`; nil for events that `Codable` encodes.
    var frequentTypeAndBody: (EventType, [UInt8])? {
        switch self {
        case .speakersChanged(let speakers):
            guard speakers.allSatisfy(\.level.isFinite) else { return nil }
            return Self.frequent(.speakersChanged) { json in
                json.writeMember("speakers", speakers)
            }
        case .talkStarted(let who, let track, let time):
            return Self.frequent(.talkStarted) { json in
                json.write(who, track)
                json.writeMember("ts", time.ticks)
            }
        case .talkStopped(let who, let track, let time, let reason):
            return Self.frequent(.talkStopped) { json in
                json.write(who, track)
                json.writeMember("reason", reason.rawValue)
                json.writeMember("ts", time.ticks)
            }
        case .agentState(let who, let state):
            return Self.frequent(.agentState) { json in
                json.writeMember("participant", who.text)
                json.writeMember("state", state.rawValue)
            }
        case .playoutStarted(let track, let who, let epoch, let time):
            return Self.frequent(.playoutStarted) { json in
                json.write(who, track)
                json.writeMember("ts", time.ticks)
                json.writeMember("epoch", epoch)
            }
        case .playoutFinished(let track, let who, let epoch, let heard):
            return Self.frequent(.playoutFinished) { json in
                json.writeMember("track", track.text)
                json.writeMember("participant", who.text)
                json.writeMember("epoch", epoch)
                json.writeMember("played_ts", heard.playedTs)
                json.writeMember("played_ms", heard.playedMs)
                json.writeMember("estimated", heard.isEstimated)
            }
        case .stats(let stats):
            guard stats.rttMs.isFinite, stats.lateP99Ms.isFinite else { return nil }
            return Self.frequent(.stats) { json in
                json.writeMember("rtt_ms")
                try? json.write(stats.rttMs)
                json.writeMember("sent", stats.sent)
                json.writeMember("dropped", stats.dropped)
                json.writeMember("late_p99_ms")
                try? json.write(stats.lateP99Ms)
            }
        default: return nil
        }
    }

    private static func frequent(_ type: EventType, _ members: (inout JSONOutput) -> Void) -> (EventType, [UInt8]) {
        var json = JSONOutput(names: .asDeclared)
        json.writeObject(members)
        return (type, json.bytes)
    }
}

extension Speaker: JSONWritable {
    /// - Precondition: `level` is finite.
    package func write(to json: inout JSONOutput) {
        json.writeObject { json in
            json.write(participant, track)
            json.writeMember("level")
            try? json.write(level)
            json.writeMember("active", active)
        }
    }
}

extension JSONOutput {
    fileprivate mutating func write(_ participant: Identity, _ track: TrackSID) {
        writeMember("participant", participant.text)
        writeMember("track", track.text)
    }
}
