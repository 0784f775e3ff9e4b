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
            dialogue.opening.omitGreeting()
            dialogue.past.willContinue(at: MediaClock.now + Self.snapshotSpan)
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
                beginOnboarding()
                advanceRealtime()
                if let emptySince = dialogue.attendance.emptySince, MediaClock.now - emptySince >= Self.emptyMax { break }
                try? await Task.sleep(for: Self.tickInterval)
            }
            responses.cancelAll()
            output.end()
        }
        endRealtime()
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
        case .data(let who, AssistantMessage.topic, let text): take(text, from: who)
        case .data: break
        case .held(let held): handle(.held(held))
        case .playoutStarted: if let turn = machine.currentTurn { dialogue.stopwatches[turn]?.playoutStarted(at: MediaClock.now) }
        case .playoutFinished(let end): output?.submit(.playoutFinished(end))
        case .segment(let segment):
            if segment.id.hasSuffix(dialogue.transcripts.prefix) {
                dialogue.transcripts.revised(segment.id, segment.rev)
            } else {
                dialogue.past.take(segment)
            }
        case .rejoined: output?.submit(.rejoined)
        case .resumedWithLoss: output?.submit(.resumedWithLoss)
        case .ended: end()
        }
    }

    /// Takes over a conversation, once what was said is known.
    private func continueConversation() {
        guard dialogue.past.continues(at: MediaClock.now) else { return }
        let (messages, unanswered) = dialogue.past.resumed()
        for (message, heard) in messages {
            if let message { dialogue.log.append(message) } else { dialogue.log.append(assistant: heard) }
        }
        if let unanswered { handle(.text(unanswered.speaker, unanswered.text)) }
    }

    /// Takes a message of a user's client. Unknown ones are ignored.
    private func take(_ message: String, from who: Identity) {
        switch try? AssistantMessage(parsing: Array(message.utf8)) {
        case .cardAction(let action)?: if let choice = dialogue.cards.text(of: action) { handle(.text(who, choice)) }
        case .onboardingStart?:
            if let answer = dialogue.opening.requestOnboarding() { room?.send(answer) }
            beginOnboarding()
        default: break
        }
    }

    /// Begins the onboarding that was asked for, unless somebody speaks; then the next tick tries again.
    private func beginOnboarding() {
        guard dialogue.opening.needsOnboardingTurn, let turn = machine.beginOwnTurn(at: MediaClock.now) else { return }
        dialogue.opening.beginOnboarding(turn)
        say(turn, dialogue.opening.onboardingSentences)
    }

    // MARK: Users

    private func welcome(_ who: Identity, name: String) {
        dialogue.attendance.join(who)
        dialogue.log.setName(name, of: who)
        let greeting = dialogue.opening.takeGreeting(for: name)
        handle(.tick)
        guard !greeting.isEmpty, let turn = machine.beginOwnTurn(at: MediaClock.now) else { return }
        say(turn, greeting)
    }

    private func userLeft(_ who: Identity) {
        for microphone in microphones.values where microphone.track.participant == who { close(microphone.track.sid) }
        dialogue.attendance.leave(who, at: MediaClock.now)
    }

    // MARK: Microphones

    private func open(_ track: TrackInfo) {
        guard microphones[track.sid] == nil else { return }
        do {
            // One microphone per user: a newer one replaces it.
            if let before = microphone(of: track.participant) { close(before.track.sid) }
            microphones[track.sid] = try Microphone(
                track: track, detector: configuration.engines.detector.makeDetector(), at: MediaClock.now)
        } catch {
            configuration.logger.error("Cannot listen to a track", metadata: ["track": "\(track.sid)", "error": "\(error)"])
        }
    }

    private func close(_ track: TrackSID) {
        guard let microphone = microphones[track] else { return }
        handle(.microphoneEnded(microphone.track.participant))
        microphones[track] = nil
    }
}
