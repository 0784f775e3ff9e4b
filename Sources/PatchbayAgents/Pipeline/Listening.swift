internal import Logging
internal import PatchbayClient
internal import Wire

/// The input side of a pipeline: its users' microphones and the recognitions in progress.
struct Listening {
    private let configuration: PipelineConfiguration
    private var microphones: [TrackSID: Microphone] = [:]
    /// At most one for each user.
    private(set) var recognitions: [RecognitionID: Task<Void, Never>] = [:]

    init(_ configuration: PipelineConfiguration) {
        self.configuration = configuration
    }

    // MARK: Microphones

    func microphone(of user: Identity) -> Microphone? {
        microphones.values.first { $0.track.participant == user }
    }

    func tracks(of user: Identity) -> [TrackSID] {
        microphones.values.filter { $0.track.participant == user }.map(\.track.sid)
    }

    /// Nil if the track is not heard.
    func user(of track: TrackSID) -> Identity? { microphones[track]?.track.participant }

    mutating func open(_ track: TrackInfo, at now: Instant) {
        do {
            microphones[track.sid] = try Microphone(
                track: track, detector: configuration.engines.detector.makeDetector(), at: now)
        } catch {
            configuration.logger.error("Cannot listen to a track", metadata: ["track": "\(track.sid)", "error": "\(error)"])
        }
    }

    mutating func close(_ track: TrackSID) {
        microphones[track] = nil
    }

    /// - Parameter reference: what the assistant plays.
    /// - Returns: the windows that the frame completes.
    mutating func receive(_ frame: ReceivedFrame, of track: TrackSID, at now: Instant, _ reference: EchoReference?) -> [TurnInput] {
        guard let microphone = microphones[track] else { return [] }
        // Speech from before the assistant joined cannot be its echo.
        return inputs(of: microphone, at: now, frame.isEarlier ? nil : reference) { try $0.receive(frame, at: now) }
    }

    /// The silence of users from whom no frames arrive.
    mutating func advance(at now: Instant, _ reference: EchoReference?) -> [TurnInput] {
        microphones.values.flatMap { inputs(of: $0, at: now, reference) { try $0.advance(to: now) } }
    }

    private mutating func inputs(
        of microphone: Microphone, at now: Instant, _ reference: EchoReference?, _ windows: (Microphone) throws -> [Microphone.Window]
    ) -> [TurnInput] {
        do {
            let windows = try windows(microphone)
            guard !windows.isEmpty else { return [] }
            let played = reference?.current(at: now)
            return windows.map { window in
                var activity = window.activity
                if let played { activity.isEcho = microphone.echo.isEcho(level: window.level, at: now, reference: played) }
                return .window(microphone.track.participant, activity, level: window.level)
            }
        } catch {
            configuration.logger.error(
                "Voice activity detection failed", metadata: ["track": "\(microphone.track.sid)", "error": "\(error)"])
            close(microphone.track.sid)
            return []
        }
    }

    // MARK: Recognitions

    /// - Parameter take: receives results and a failure, then nil at the end.
    mutating func recognize(
        _ id: RecognitionID, _ who: Identity, isPartial: Bool, take: @escaping @Sendable (TurnInput?) async -> Void
    ) {
        guard let segment = microphone(of: who)?.segment(isPartial: isPartial, language: configuration.speech.language) else { return }
        recognitions[id] = Task { [configuration] in
            do {
                for try await result in configuration.engines.recognizer.recognize(segment) { await take(.recognized(id, result)) }
            } catch is CancellationError {
                return
            } catch {
                configuration.logger.warning("Recognition failed", metadata: ["error": "\(error)"])
                await take(.recognitionFailed(id))
            }
            await take(nil)
        }
    }

    /// Judges by its sound whether a user's utterance has ended. Without a judgement the text decides, so that a failure is only logged.
    ///
    /// - Parameter take: receives the judgement.
    func judgeEnd(_ id: RecognitionID, _ who: Identity, silence: Duration, take: @escaping @Sendable (TurnInput) async -> Void) {
        guard let detector = configuration.engines.turnDetector, let samples = microphone(of: who)?.endOfSpeech(silence: silence) else {
            return
        }
        // Ends by itself within milliseconds.
        Task { [configuration] in
            do {
                await take(.endJudged(id, probability: try await detector.probabilityOfEnd(of: samples)))
            } catch {
                configuration.logger.warning("Turn detection failed", metadata: ["error": "\(error)"])
            }
        }
    }

    mutating func cancel(_ id: RecognitionID) {
        recognitions.removeValue(forKey: id)?.cancel()
    }

    mutating func ended(_ id: RecognitionID) {
        recognitions[id] = nil
    }

    mutating func cancelAll() {
        for task in recognitions.values { task.cancel() }
        recognitions = [:]
    }

    /// The end of a turn, with the end of the user's voice in place of the detector's.
    ///
    /// - Parameter message: the last one of the turn.
    func heard(_ end: EndOfTurn, of message: UserMessage?) -> EndOfTurn {
        guard let message, message.kind == .speech, let microphone = microphone(of: message.speaker) else { return end }
        var heard = end
        heard.speechEnded = microphone.lastVoice(before: end.speechEnded)
        return heard
    }

    func segment(of transcript: UserTranscript, idSuffix: String) -> TranscriptSegment {
        let microphone = microphone(of: transcript.speaker)
        return TranscriptSegment(
            id: "u\(transcript.utterance)-\(idSuffix)", rev: transcript.revision, role: .user, participant: transcript.speaker,
            track: microphone?.track.sid, text: transcript.text, final: transcript.isFinal,
            language: transcript.language.isEmpty ? configuration.speech.language : transcript.language,
            endTs: microphone?.position?.ticks)
    }
}
