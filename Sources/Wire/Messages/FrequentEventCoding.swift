/// The bodies of the events that come with every talkspurt, written without `Codable`.
///
/// What `Codable` does around each value (a container in a box, the metadata of each generic call) takes ten times as long as writing it, and
/// in a conversation these are nine of ten events. The others stay as they are.
extension Event {
    /// The same as `typeAndBody`; nil for all other events.
    var frequentTypeAndBody: (EventType, [UInt8])? {
        switch self {
        case .speakersChanged(let speakers):
            guard speakers.allSatisfy(\.level.isFinite) else { return nil }
            return Self.frequent(.speakersChanged) { json in
                json.writeMember("speakers")
                speakers.write(to: &json)
            }
        case .talkStarted(let who, let track, let time):
            return Self.frequent(.talkStarted) { json in
                json.write(who, track)
                json.write("ts", time.ticks)
            }
        case .talkStopped(let who, let track, let time, let reason):
            return Self.frequent(.talkStopped) { json in
                json.write(who, track)
                json.write("reason", reason.rawValue)
                json.write("ts", time.ticks)
            }
        case .agentState(let who, let state):
            return Self.frequent(.agentState) { json in
                json.write("participant", who.text)
                json.write("state", state.rawValue)
            }
        case .playoutStarted(let track, let who, let epoch, let time):
            return Self.frequent(.playoutStarted) { json in
                json.write(who, track)
                json.write("ts", time.ticks)
                json.write("epoch", epoch)
            }
        case .playoutFinished(let track, let who, let epoch, let heard):
            return Self.frequent(.playoutFinished) { json in
                json.write("track", track.text)
                json.write("participant", who.text)
                json.write("epoch", epoch)
                json.write("played_ts", heard.playedTs)
                json.write("played_ms", heard.playedMs)
                json.write("estimated", heard.isEstimated)
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
    /// Its level is a number that JSON has a word for.
    package func write(to json: inout JSONOutput) {
        json.writeObject { json in
            json.write(participant, track)
            json.writeMember("level")
            try? json.write(level)
            json.write("active", active)
        }
    }
}

extension JSONOutput {
    fileprivate mutating func write(_ participant: Identity, _ track: TrackSID) {
        write("participant", participant.text)
        write("track", track.text)
    }

    fileprivate mutating func write(_ name: StaticString, _ text: String) {
        writeMember(name)
        write(text)
    }

    fileprivate mutating func write(_ name: StaticString, _ number: some FixedWidthInteger) {
        writeMember(name)
        write(number)
    }

    fileprivate mutating func write(_ name: StaticString, _ number: UInt32?) {
        writeMember(name)
        if let number { write(number) } else { writeNull() }
    }

    fileprivate mutating func write(_ name: StaticString, _ truth: Bool) {
        writeMember(name)
        write(truth)
    }
}
