internal import PatchbayClient
internal import Wire

/// Sends the assistant's speech: encodes it, runs ahead of playout, stops and continues, and knows what was heard.
///
/// Commands are performed in the order of `submit`, one after another; frames are sent by a task of each turn beside them.
actor SpeechOutput {
    enum Command: Sendable {
        case begin(TurnID)
        /// A sentence follows, whose audio comes in pieces. `continues`: it is the next clause of the sentence before.
        case sentence(TurnID, String, continues: Bool = false)
        /// Continues the text of the last sentence. May arrive ahead of its audio.
        case text(TurnID, String)
        case audio(TurnID, SynthesizedSpeech)
        /// Nothing more follows in this turn.
        case complete(TurnID)
        /// Stop at once and keep what was not played.
        case interrupt(TurnID)
        /// Continue after `interrupt`.
        case resume(TurnID)
        /// End the turn without playing the rest, and yield what was heard of it.
        case abandon(TurnID, AsyncStream<HeardSpeech>.Continuation)
        /// Everything sent up to this time on the track was played; nil if the time is not known.
        case playoutFinished(MediaTime?)
        /// The track was replaced: continue on the new one.
        case rejoined
        /// Frames were lost with a connection: continue from what was played.
        case resumedWithLoss
        /// The gateway has lost the unplayed audio: continue from this time on the track; nil if nothing is known to have been played.
        case queueLost(MediaTime?)
    }

    enum Report: Sendable {
        case started(TurnID)
        /// Everything was played, or the turn had no audio. `heard` is its text.
        case finished(TurnID, heard: String)
        /// The words of a turn so far, for its transcript.
        case extended(TurnID, SpeechProgress)
        /// The audio cannot be encoded.
        case failed(TurnID, any Error)
    }

    /// How far frames are sent ahead of their playout.
    static let aheadMax = Duration.seconds(10)
    /// Silence in addition to that of the audio.
    static let pauseBetweenSentences = Duration.milliseconds(140)
    /// With `SpeechTrimming.kept` on both sides, the pause that a speaker makes at a comma: 90 ms.
    static let pauseBetweenClauses = Duration.milliseconds(50)

    /// Why the track is cleared after a loss, for the gateway's log.
    private static let lossReason = "connection lost"

    /// The audio being played, for echo detection.
    nonisolated let reference = EchoReference()
    private let room: any AgentRoom
    private let clock: PipelineClock
    private let report: @Sendable (Report) async -> Void
    private let commands: AsyncStream<Command>
    private let sink: AsyncStream<Command>.Continuation
    private var turn: SpokenTurn?

    init(room: any AgentRoom, clock: PipelineClock, report: @escaping @Sendable (Report) async -> Void) {
        self.room = room
        self.clock = clock
        self.report = report
        // Bounded by the responses, which are limited in length.
        (commands, sink) = AsyncStream.makeStream()
    }

    nonisolated func submit(_ command: Command) {
        if case .terminated = sink.yield(command), case .abandon(_, let heard) = command { heard.finish() }
    }

    /// Performs commands until `end()`.
    func run() async {
        for await command in commands { await perform(command) }
        turn?.sender?.cancel()
    }

    nonisolated func end() {
        sink.finish()
    }

    private func perform(_ command: Command) async {
        switch command {
        case .begin(let id):
            turn?.sender?.cancel()
            turn = SpokenTurn(id: id)
        case .sentence(let id, let text, let continues):
            guard let current = turn, current.id == id else { return }
            let pause = continues ? Self.pauseBetweenClauses : Self.pauseBetweenSentences
            let silence = current.silence(at: clock.now())
            turn?.beginSentence(text, pauseBefore: max(pause - silence, .zero))
        case .text(let id, let text):
            guard turn?.id == id else { return }
            turn?.utterance.extendText(by: text)
            await reportProgress()
        case .audio(let id, let speech): await append(speech, to: id)
        case .complete(let id): await complete(id)
        case .interrupt(let id): await interrupt(id, reason: "barge-in")
        case .resume(let id): await resume(id)
        case .abandon(let id, let heard):
            heard.yield(await abandon(id))
            heard.finish()
        case .playoutFinished(let end):
            guard let current = turn, !current.isPaused, !current.utterance.hasFrames, !current.isBeyond(end, at: clock.now()) else {
                return
            }
            turn?.isPlayed = true
            turn?.playedEnd = current.utterance.sentEnd
            await finishIfPlayed()
        case .rejoined:
            turn?.sender?.cancel()
            turn?.sender = nil
            turn?.utterance.rewind(played: nil)
            send()
        case .resumedWithLoss:
            guard let current = turn, !current.isPaused else { return }
            await interrupt(current.id, reason: Self.lossReason)
            await resume(current.id)
        case .queueLost(let end):
            guard let current = turn, !current.isPaused else { return }
            turn?.isPaused = true
            if await stopSending() {
                // Frames sent since the loss must not be played before those that were lost.
                _ = try? await room.clearVoice(reason: Self.lossReason)
                rewind(to: end)
            }
            await resume(current.id)
        }
    }

    // MARK: Commands

    private func append(_ speech: SynthesizedSpeech, to id: TurnID) async {
        guard turn?.id == id else { return }
        do { try turn?.encode(speech) } catch { return await report(.failed(id, error)) }
        send()
        await reportProgress()
    }

    private func complete(_ id: TurnID) async {
        guard turn?.id == id else { return }
        do { try turn?.finishEncoding() } catch { return await report(.failed(id, error)) }
        turn?.isComplete = true
        send()
        await reportProgress()
        await finishIfPlayed()
    }

    private func interrupt(_ id: TurnID, reason: String) async {
        guard turn?.id == id, turn?.isPaused == false else { return }
        turn?.isPaused = true
        await clear(reason: reason)
    }

    private func resume(_ id: TurnID) async {
        guard let current = turn, current.id == id, current.isPaused else { return }
        turn?.isPaused = false
        turn?.part += 1
        turn?.isPlayed = !current.utterance.hasFrames
        send()
        await reportProgress()
        await finishIfPlayed()
    }

    private func abandon(_ id: TurnID) async -> HeardSpeech {
        guard turn?.id == id else { return HeardSpeech() }
        if turn?.isPaused == false { await clear(reason: "barge-in") }
        defer { turn = nil }
        return turn?.heard ?? HeardSpeech()
    }

    /// Discards what was not played, and rewinds to it.
    private func clear(reason: String) async {
        guard await stopSending() else { return }
        // Without an answer nothing is known of the playout; what was sent since the last pause of it counts as not heard.
        let heard = try? await room.clearVoice(reason: reason)
        rewind(to: heard?.playedTs.map { MediaTime(ticks: $0) })
    }

    /// - Returns: whether anything was sent in this epoch.
    private func stopSending() async -> Bool {
        let sender = turn?.sender
        sender?.cancel()
        await sender?.value
        turn?.sender = nil
        guard turn?.utterance.anchor != nil else { return false }
        reference.clear(after: clock.now())
        turn?.sendsUntil = nil
        return true
    }

    /// - Parameter end: up to where the track was played. It may be a time before this epoch, at which other audio was played.
    private func rewind(to end: MediaTime?) {
        guard let current = turn else { return }
        let reported = end.flatMap { current.utterance.position(at: $0) }
        let played = [reported, current.playedEnd, current.utterance.anchor?.position].compactMap { $0 }.max()
        turn?.utterance.rewind(played: played)
    }

    private func finishIfPlayed() async {
        guard let current = turn, current.isComplete, !current.isPaused, !current.utterance.hasFrames else { return }
        // A turn without audio has nothing to wait for.
        guard current.isPlayed || current.utterance.frames.isEmpty else { return }
        turn = nil
        await report(.finished(current.id, heard: current.utterance.text()))
    }

    private func reportProgress() async {
        turn?.reports += 1
        guard let current = turn, !current.isPaused, current.utterance.anchor != nil else { return }
        await report(.extended(current.id, SpeechProgress(of: current)))
    }

    // MARK: Frames

    private func send() {
        guard let current = turn, !current.isPaused, current.sender == nil, current.utterance.hasFrames else { return }
        turn?.isPlayed = false
        let id = current.id
        turn?.sender = Task { [weak self] in await self?.sendFrames(of: id) }
    }

    private func sendFrames(of id: TurnID) async {
        while !Task.isCancelled, turn?.id == id {
            if turn?.utterance.anchor == nil {
                guard let start = await room.voicePosition(), !Task.isCancelled else { break }
                turn?.utterance.willStart(at: start)
                await reportProgress()
            }
            guard let (frame, time) = turn?.utterance.popFrame() else { break }
            let now = clock.now()
            do { try room.speak(frame, at: time) } catch { break }
            let end = max(turn?.sendsUntil ?? now, now) + Duration(ticks: frame.ticks + frame.silenceBefore)
            turn?.sendsUntil = end
            reference.append(-Double(frame.level.level), from: end + (.zero - Duration(ticks: frame.ticks)), to: end)
            if turn?.hasStarted == false {
                turn?.hasStarted = true
                await report(.started(id))
            }
            if end - now > Self.aheadMax { try? await clock.sleep(end - now - Self.aheadMax) }
        }
        if !Task.isCancelled, turn?.id == id { turn?.sender = nil }
    }
}
