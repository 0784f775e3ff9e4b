package import Wire

/// Writing without `Codable`, which would take more than twice as long: images are written often, and hardly ever read.
extension RoomImage: JSONWritable {
    package func write(to json: inout JSONOutput) {
        json.writeObject { json in
            json.writeMember("version", version)
            json.writeMember("room")
            json.write(room)
            json.writeMember("settings", settings)
            json.writeMember("counters", counters)
            json.writeMember("members", members)
            json.writeMember("tracks", tracks)
            json.writeMember("speakers")
            json.writeArray(speakers) { $0.write($1) }
            json.writeMember("agents", agents)
            json.writeMember("transcript", transcript)
            if let recording { json.writeMember("recording", recording.text) }
            if let takenAt { json.writeMember("taken_at", takenAt) }
        }
    }
}

extension RoomImage.Settings: JSONWritable {
    package func write(to json: inout JSONOutput) {
        json.writeObject { json in
            json.writeMember("empty_timeout_ms", emptyTimeoutMs)
            json.writeMember("departure_timeout_ms", departureTimeoutMs)
            json.writeMember("agents")
            json.writeArray(agents) { json, agent in
                json.writeObject { json in
                    json.writeMember("assistant", agent.assistant)
                    json.writeMember("metadata", agent.metadata)
                }
            }
            json.writeMember("was_used", wasUsed)
            json.writeMember("is_draining", isDraining)
        }
    }
}

extension RoomImage.Counters: JSONWritable {
    package func write(to json: inout JSONOutput) {
        json.writeObject { json in
            json.writeMember("alias", alias)
            json.writeMember("subscription", subscription as UInt32)
        }
    }
}

extension RoomImage.Agents: JSONWritable {
    package func write(to json: inout JSONOutput) {
        json.writeObject { json in
            json.writeMember("waiting")
            json.writeArray(waiting) { json, wait in
                json.writeObject { json in
                    json.writeMember("agent", wait.agent.text)
                    json.writeMember("reason", wait.reason.rawValue)
                }
            }
            json.writeMember("expected", expected.map(\.text))
        }
    }
}

// MARK: Members

extension RoomImage.Member: JSONWritable {
    package func write(to json: inout JSONOutput) {
        json.writeObject { json in
            json.writeMember("stay", stay)
            json.writeMember("profile", profile)
            json.writeMember("permission")
            json.write(permission)
            json.writeMember("tokens", tokens)
            json.writeMember("state", state)
        }
    }
}

extension ParticipantStay: JSONWritable {
    package func write(to json: inout JSONOutput) {
        json.writeObject { json in
            json.writeMember("sid", sid.text)
            json.writeMember("identity", identity.text)
            json.writeMember("kind", kind.rawValue)
            if let session { json.writeMember("session", session) }
            json.writeMember("is_room_admin", isRoomAdmin)
            json.writeMember("auto_subscribe", autoSubscribe)
            json.writeMember("receives_text", receivesText)
            json.writeMember("joined_at", joinedAt)
        }
    }
}

extension RoomImage.Member.Profile: JSONWritable {
    package func write(to json: inout JSONOutput) {
        json.writeObject { json in
            json.writeMember("name", name)
            json.writeMember("metadata", metadata)
            json.writeMember("attributes")
            json.write(attributes)
        }
    }
}

extension ResumeTokens: JSONWritable {
    package func write(to json: inout JSONOutput) {
        json.writeObject { json in
            json.writeMember("current", current)
            if let former { json.writeMember("former", former) }
            if let chain {
                json.writeMember("chain")
                json.writeObject { json in
                    json.writeMember("secret", chain.secret.revealedText)
                    json.writeMember("number", chain.number as UInt32)
                }
            }
        }
    }
}

extension RoomImage.Member.State: JSONWritable {
    package func write(to json: inout JSONOutput) {
        json.writeObject { json in
            json.writeMember("is_held", isHeld)
            json.writeMember("is_muted_by_admin", isMutedByAdmin)
            json.writeMember("subscribed", subscribed.map(\.text))
            json.writeMember("unsubscribed", unsubscribed.map(\.text))
            if let agent { json.writeMember("agent", agent.rawValue) }
            json.writeMember("refresh_ms", refreshMs as UInt32)
        }
    }
}

// MARK: Tracks

extension RoomImage.Track: JSONWritable {
    package func write(to json: inout JSONOutput) {
        json.writeObject { json in
            json.writeMember("info")
            json.write(info)
            if let talk {
                json.writeMember("talk")
                json.writeObject { json in
                    json.writeMember("start", talk.start as UInt32)
                    json.writeMember("age", talk.age as UInt32)
                }
            }
            if let playout { json.writeMember("playout", playout) }
        }
    }
}

extension RoomImage.Playout: JSONWritable {
    package func write(to json: inout JSONOutput) {
        json.writeObject { json in
            if let utterance { json.writeMember("utterance", utterance) }
            if let furthest { json.writeMember("furthest", furthest) }
            if let clearedUpTo { json.writeMember("cleared_up_to", clearedUpTo) }
            json.writeMember("reporters", reporters.map(\.text))
            json.writeMember("marks", marks)
            json.writeMember("clears", clears)
        }
    }
}

extension RoomImage.Playout.Utterance: JSONWritable {
    package func write(to json: inout JSONOutput) {
        json.writeObject { json in
            json.writeMember("first", first as UInt32)
            json.writeMember("heard", heard)
            json.writeMember("released", released)
            if let received { json.writeMember("received", received) }
            if let later { json.writeMember("later", later) }
            if let reporter { json.writeMember("reporter", reporter.text) }
        }
    }
}

extension RoomImage.Playout.Mark: JSONWritable {
    package func write(to json: inout JSONOutput) {
        json.writeObject { json in
            json.writeMember("ts", ts as UInt32)
            json.writeMember("name", name)
        }
    }
}

extension RoomImage.Playout.Clear: JSONWritable {
    package func write(to json: inout JSONOutput) {
        json.writeObject { json in
            json.writeMember("epoch", epoch)
            json.writeMember("by", by.text)
            if let reason { json.writeMember("reason", reason) }
            json.writeMember("heard")
            json.writeObject { json in
                json.writeMember("played_ts", heard.playedTs)
                json.writeMember("played_ms", heard.playedMs)
                json.writeMember("is_estimated", heard.isEstimated)
            }
            json.writeMember("first", first)
            json.writeMember("end", end)
            json.writeMember("furthest", furthest)
            json.writeMember("marks", marks)
        }
    }
}

// MARK: Transcript

extension RoomImage.Segment: JSONWritable {
    package func write(to json: inout JSONOutput) {
        json.writeObject { json in
            json.writeMember("segment")
            json.write(segment)
            json.writeMember("age", age as UInt32)
            if let recorded { json.writeMember("recorded", recorded) }
            if let playing { json.writeMember("playing", playing.rawValue) }
        }
    }
}
