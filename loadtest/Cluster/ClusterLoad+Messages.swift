import Sockets
import Wire

/// Text messages: events are counted and numbered, and what the gateway has acknowledged must stay.
extension ClusterLoad {
    private static let publish = [
        OutgoingRequest(.publish(PublishTrack(name: "mic", source: .microphone)), id: 1).bytes,
        OutgoingRequest(.publish(PublishTrack(name: "voice", source: .assistant)), id: 1).bytes,
    ]
    /// Requests with higher numbers set the counter to their number less this.
    private static let firstUpdate: UInt64 = 10
    private static let attribute = "counter"

    /// Sets the next value of the counter in its attributes.
    func update(_ caller: Caller) {
        guard caller.isJoined else { return }
        caller.counter += 1
        let change = ParticipantUpdate(attributes: [Self.attribute: String(caller.counter)])
        caller.connection?.write(text: OutgoingRequest(.updateParticipant(change), id: Self.firstUpdate + caller.counter).bytes)
    }

    func received(text message: UnsafeRawBufferPointer, from connection: Connection) {
        guard let caller = caller(of: connection) else { return }
        caller.alive(at: clock)
        do {
            switch try ServerMessage(parsing: Array(message)) {
            case .event(.hello(let hello), let seq): received(hello, number: seq, caller)
            case .event(let event, let seq):
                number(seq, caller)
                if case .participantUpdated(let info, _) = event { seen(info, caller) }
            case .unknownEvent(_, let seq): number(seq, caller)
            case .reply(re: 1, let fields):
                caller.track = fields.track?.alias
                caller.isPublished = true
                timeline.counts.acknowledged += 1
            case .reply(let number, _) where number > Self.firstUpdate:
                caller.acknowledged = max(caller.acknowledged, number - Self.firstUpdate)
                timeline.counts.acknowledged += 1
            case .error(_, let error):
                timeline.counts.requestsRefused += 1
                timeline.note("error \(error.code): \(error.message)")
            case .reply: break
            }
        } catch {
            timeline.note("unreadable: \(error)")
        }
    }

    private func received(_ hello: Hello, number seq: UInt64, _ caller: Caller) {
        let isFresh = hello.resumed != true
        // Events are numbered from 1 again.
        if isFresh {
            if caller.resumeToken != nil {
                timeline.counts.freshJoins += 1
                timeline.note("a fresh join instead of a resume")
            }
            caller.forget()
            caller.counter = 0
        } else {
            timeline.counts.resumes += 1
            if hello.snapshot == true { timeline.counts.snapshots += 1 }
            if caller.lostAt > 0 { timeline.counts.resumeMax = max(timeline.counts.resumeMax, clock - caller.lostAt) }
        }
        number(seq, caller)
        if hello.snapshot != true { countSkipped(caller) }
        caller.joined(at: clock)
        caller.resumeToken = hello.resumeToken
        caller.home = hello.server.node
        if let other = hello.participants.first(where: { $0.identity.text != caller.identity }) { seen(other, caller) }
        seen(hello.participant, caller)
        let track = hello.participant.tracks?.first
        if caller.isPublished, track == nil { loseAcknowledged(1, "a published track has gone") }
        caller.track = track?.alias
        caller.isPublished = track != nil
        if track == nil { caller.connection?.write(text: Self.publish[caller.index % 2]) }
    }

    // MARK: Checks

    /// Each event has the number after that of the one before.
    private func number(_ seq: UInt64, _ caller: Caller) {
        if seq <= caller.lastEvent {
            timeline.counts.eventsRepeated += 1
            timeline.note("an event number that is not higher than the last")
        }
        if seq > caller.lastEvent + 1 { caller.hasSkippedEvents = true }
        caller.lastEvent = max(seq, caller.lastEvent)
        // Before the `hello` of a resume, which may be a snapshot, nothing can be said.
        if caller.isJoined { countSkipped(caller) }
    }

    private func countSkipped(_ caller: Caller) {
        guard caller.hasSkippedEvents else { return }
        timeline.counts.eventsSkipped += 1
        timeline.note("event numbers were left out")
        caller.hasSkippedEvents = false
    }

    private func seen(_ info: ParticipantInfo, _ caller: Caller) {
        let value = info.attributes[Self.attribute].flatMap { UInt64($0) } ?? 0
        if info.identity.text == caller.identity {
            compare(caller, with: value, "an acknowledged change has gone")
        } else {
            caller.othersCounter = value
        }
    }

    /// The counter must not be lower than the highest acknowledged one.
    func compare(_ caller: Caller, with value: UInt64, _ problem: String) {
        guard value < caller.acknowledged else { return }
        loseAcknowledged(Int(caller.acknowledged - value), problem)
        caller.acknowledged = value
    }

    private func loseAcknowledged(_ count: Int, _ problem: String) {
        timeline.counts.acknowledgedLost += count
        timeline.note(problem)
    }
}
