/// The bodies of the events that come with every talkspurt, written without `Codable`.
///
/// What `Codable` does around each value (a container in a box, the metadata of each generic call) takes ten times as long as writing it, and
/// in a conversation these are nine of ten events. The others stay as they are.
extension Event {
    /// The same as `typeAndBody`; nil for all other events.
    var frequentTypeAndBody: (EventType, [UInt8])? {
        var body = Body()
        let type: EventType
        switch self {
        case .speakersChanged(let speakers):
            type = .speakersChanged
            guard (try? body.write(speakers)) != nil else { return nil }
        case .talkStarted(let who, let track, let time):
            type = .talkStarted
            body.write("participant", who.text)
            body.write("track", track.text)
            body.write("ts", time.ticks)
        case .talkStopped(let who, let track, let time, let reason):
            type = .talkStopped
            body.write("participant", who.text)
            body.write("track", track.text)
            body.write("reason", reason.rawValue)
            body.write("ts", time.ticks)
        case .agentState(let who, let state):
            type = .agentState
            body.write("participant", who.text)
            body.write("state", state.rawValue)
        case .playoutStarted(let track, let who, let epoch, let time):
            type = .playoutStarted
            body.write("participant", who.text)
            body.write("track", track.text)
            body.write("ts", time.ticks)
            body.write("epoch", epoch)
        case .playoutFinished(let track, let who, let epoch, let heard):
            type = .playoutFinished
            body.write("track", track.text)
            body.write("participant", who.text)
            body.write("epoch", epoch)
            body.write("played_ts", heard.playedTs)
            body.write("played_ms", heard.playedMs)
            body.write("estimated", heard.isEstimated)
        default: return nil
        }
        return (type, body.bytes)
    }
}

/// An object that grows.
private struct Body {
    private var output = JSONOutput(names: .asDeclared)
    /// Of what is within it.
    private var depth = 0

    init() {
        depth = output.openContainer(at: 0, UInt8(ascii: "{"), UInt8(ascii: "}"))
    }

    var bytes: [UInt8] {
        mutating get {
            output.closeContainers(downTo: 0)
            return output.bytes
        }
    }

    mutating func write(_ name: String, _ text: String) {
        output.beginMember(name, at: depth)
        output.write(text)
    }

    mutating func write(_ name: String, _ number: some FixedWidthInteger) {
        output.beginMember(name, at: depth)
        output.write(number)
    }

    mutating func write(_ name: String, _ number: UInt32?) {
        output.beginMember(name, at: depth)
        if let number { output.write(number) } else { output.writeNull() }
    }

    mutating func write(_ name: String, _ truth: Bool) {
        output.beginMember(name, at: depth)
        output.write(truth)
    }

    /// - Throws: `EncodingError` for a level that JSON has no word for.
    mutating func write(_ speakers: [Speaker]) throws {
        output.beginMember("speakers", at: depth)
        let list = output.openContainer(at: depth, UInt8(ascii: "["), UInt8(ascii: "]"))
        let outer = depth
        for speaker in speakers {
            output.beginElement(at: list)
            depth = output.openContainer(at: list, UInt8(ascii: "{"), UInt8(ascii: "}"))
            write("participant", speaker.participant.text)
            write("track", speaker.track.text)
            output.beginMember("level", at: depth)
            try output.write(speaker.level)
            write("active", speaker.active)
        }
        depth = outer
    }
}
