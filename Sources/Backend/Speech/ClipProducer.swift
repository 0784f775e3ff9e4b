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

extension Result where Failure == any Error {
    init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
