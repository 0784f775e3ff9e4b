internal import Logging
public import PatchbayClient
internal import Wire

/// The room's side of the pipeline.
extension VoicePipeline {
    /// How long the snapshot of the room's transcript takes after joining, at most.
    private static let snapshotSpan = Duration.milliseconds(250)
    /// How often time passes for the turn machine while nothing arrives.
    private static let tickInterval = Duration.milliseconds(40)
    /// How long the assistant waits for a user to come, or to come back.
    static let emptyMax = Duration.seconds(20)

    /// Speaks with the users of `room` until they have left, the room has ended, or the assistant ends the call.
    ///
    /// - Throws: `RequestFailure` if the track cannot be published.
    ///
    /// - Parameter continues: the assistant replaces one that was lost: it does not greet, remembers the room's transcript, and answers what
    ///   was not answered.
    public func run(in room: RoomConnection, continues: Bool = false) async throws {
        let joined = try await JoinedRoom(room)
        if continues {
            hasGreeted = true
            continuesAt = MediaClock.now + Self.snapshotSpan
        }
        attach(to: joined)
        async let events: Void = joined.follow { await self.take($0) }
        await run()
        joined.leave(reason: "the assistant has finished")
        await events
    }

    /// Prepares the pipeline for events of `room`.
    func attach(to room: some AgentRoom) {
        self.room = room
        output = SpeechOutput(room: room) { [weak self] in await self?.take($0) }
    }

    /// Runs until the call has ended.
    func run() async {
        guard let output else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await output.run() }
            while !hasEnded, !Task.isCancelled {
                tick()
                continueConversation()
                if let emptySince, MediaClock.now - emptySince >= Self.emptyMax { break }
                try? await Task.sleep(for: Self.tickInterval)
            }
            responses.cancelAll()
            output.end()
        }
        self.room = nil
        self.output = nil
    }

    /// The room has ended: so does the pipeline.
    func end() {
        hasEnded = true
    }

    /// Takes an event of the room.
    func take(_ event: AgentRoomEvent) {
        switch event {
        case .userJoined(let who, let name): welcome(who, name: name)
        case .userLeft(let who): userLeft(who)
        case .microphone(let track): open(track)
        case .frame(let track, let frame): receive(frame, of: track)
        case .microphonePaused(let track): if let microphone = microphones[track] { handle(.microphoneEnded(microphone.track.participant)) }
        case .microphoneEnded(let track): close(track)
        case .text(let who, let text): handle(.text(who, text))
        case .digits(let who, let digits): handle(.digits(who, digits))
        case .data(let who, AssistantMessage.topic, let text):
            if let choice = cards.choice(in: text) { handle(.text(who, choice)) }
        case .data: break
        case .held(let held): handle(.held(held))
        case .playoutStarted: if let turn = machine.currentTurn { stopwatches[turn]?.playoutStarted(at: MediaClock.now) }
        case .playoutFinished: output?.submit(.playoutFinished)
        case .segment(let segment):
            if segment.id.hasSuffix(transcripts.prefix) { transcripts.revised(segment.id, segment.rev) } else { past.take(segment) }
        case .rejoined: output?.submit(.rejoined)
        case .ended: end()
        }
    }

    /// Takes over a conversation, once what was said is known.
    private func continueConversation() {
        guard let time = continuesAt, MediaClock.now >= time else { return }
        continuesAt = nil
        let (messages, unanswered) = past.resumed()
        for (message, heard) in messages {
            if let message { log.append(message) } else { log.append(assistant: heard) }
        }
        if let unanswered { handle(.text(unanswered.speaker, unanswered.text)) }
    }

    // MARK: Users

    private func welcome(_ who: Identity, name: String) {
        users.insert(who)
        emptySince = nil
        log.setName(name, of: who)
        guard !hasGreeted else { return }
        hasGreeted = true
        handle(.tick)
        guard let greeting = greeting(for: name), let turn = machine.beginOwnTurn(at: MediaClock.now) else { return }
        say(turn, greeting)
    }

    /// One of the greetings, with the user's name.
    private func greeting(for name: String) -> String? {
        definition.greetings.randomElement().map { AssistantGreeting.text(of: $0, userName: name) }
    }

    private func userLeft(_ who: Identity) {
        users.remove(who)
        for microphone in microphones.values where microphone.track.participant == who { close(microphone.track.sid) }
        if users.isEmpty { emptySince = MediaClock.now }
    }

    // MARK: Microphones

    private func open(_ track: TrackInfo) {
        guard microphones[track.sid] == nil else { return }
        do {
            // One microphone per user: a newer one replaces it.
            if let before = microphone(of: track.participant) { close(before.track.sid) }
            microphones[track.sid] = try Microphone(track: track, detector: engines.detector.makeDetector(), at: MediaClock.now)
        } catch {
            logger.error("Cannot listen to a track", metadata: ["track": "\(track.sid)", "error": "\(error)"])
        }
    }

    private func close(_ track: TrackSID) {
        guard let microphone = microphones[track] else { return }
        handle(.microphoneEnded(microphone.track.participant))
        microphones[track] = nil
    }
}

/// Greetings are templates: `{name}` stands for the user's name.
enum AssistantGreeting {
    /// Without a name, `{name}` disappears together with the comma before it.
    static func text(of template: String, userName: String) -> String {
        if !userName.isEmpty { return template.replacing("{name}", with: userName) }
        return template.replacing(", {name}", with: "").replacing(" {name}", with: "").replacing("{name}", with: "")
    }
}
