/// The bodies of the events that come with every talkspurt or every few seconds, written without `Codable`.
///
/// What `Codable` does around each value (a container in a box, the metadata of each generic call) takes ten times as long as writing it, and
/// in a conversation these are nine of ten events. The others stay as they are.
extension Event {
    /// How many milliseconds later it may be told: it says how things are, and nobody does anything about it but to show it. Who began to
    /// talk is told with the first frame to those who hear it, and who speaks is a mean over 400 ms in any case. The ends of things do
    /// not wait: an assistant answers to them.
    var deferralMilliseconds: UInt8 {
        switch self {
        case .talkStarted, .agentState, .playoutStarted: 20
        case .speakersChanged, .stats: 100
        default: 0
        }
    }

    /// The same as `typeAndBody`; nil for all other events.
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
    /// Its level is a number that JSON has a word for.
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
