internal import Store

/// Produces the audio of clips: by the generator, or from an equal clip.
struct ClipProducer: Sendable {
    typealias Clip = (audio: [UInt8], details: ClipDetails)

    /// How long a generator may take for one text.
    private static let generationMax = Duration.seconds(180)
    /// The share of a job's progress that the generator accounts for; the rest is for encoding.
    private static let generatingPercent = 90

    let generator: any SpeechGenerator
    let store: Clips

    /// - Parameter progress: called with 0 to 100, from any thread.
    func clip(for request: SpeechRequest, progress: @escaping @Sendable (Int) -> Void) async throws -> Clip {
        // Another's equal clip saves the work, but not the time: the requester must not learn that there is one.
        if let known = try await store.spokenClip(request), let course = known.details.generation {
            try await course.repeated(progress: progress)
            return known
        }
        return try await generate(request, progress)
    }

    @concurrent
    private func generate(_ request: SpeechRequest, _ progress: @escaping @Sendable (Int) -> Void) async throws -> Clip {
        let course = ClipCourse()
        let report = { @Sendable (percent: Int) in
            course.note(percent)
            progress(percent)
        }
        let speech = try await withThrowingTaskGroup(of: GeneratedSpeech.self) { group in
            group.addTask {
                try await generator.generate(request.text, voice: request.voice, provider: request.provider) { percent in
                    report(percent * Self.generatingPercent / 100)
                }
            }
            group.addTask {
                try await Task.sleep(for: Self.generationMax)
                throw SpeechGenerationError("the generator took too long", isRetryable: true)
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw CancellationError() }
            return first
        }
        var clip = try await ClipEncoder.encode(speech) { percent in
            report(Self.generatingPercent + percent * (100 - Self.generatingPercent) / 100)
        }
        clip.details.generation = course.generation
        return clip
    }
}

/// The running generations of clips, and cancelled ones that have not ended yet.
struct RunningGenerations {
    typealias Generation = Task<Void, Never>

    private var latest: [ClipID: (number: Int, task: Generation)] = [:]
    private var lastNumber = 0
    /// No other generation starts.
    private(set) var isStopped = false

    /// Starts the generation of a clip, unless the process stops.
    ///
    /// - Parameter task: makes its task, which waits for the cancelled generation of the same clip if there is one, and calls
    ///   `ended(_:of:)` with the number at its end.
    mutating func start(_ id: ClipID, _ task: (_ number: Int, _ previous: Generation?) -> Generation) {
        guard !isStopped else { return }
        lastNumber += 1
        latest[id] = (lastNumber, task(lastNumber, latest[id]?.task))
    }

    /// Cancels the latest generation of a clip. It counts until it has ended.
    func cancel(_ id: ClipID) {
        latest[id]?.task.cancel()
    }

    mutating func ended(_ number: Int, of id: ClipID) {
        if latest[id]?.number == number { latest[id] = nil }
    }

    /// Cancels all generations.
    ///
    /// - Returns: those that have not ended yet.
    mutating func stop() -> [Generation] {
        isStopped = true
        let running = latest.values.map(\.task)
        for task in running { task.cancel() }
        return running
    }
}

extension Result where Failure == any Error {
    init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
