internal import Dispatch
internal import Synchronization
internal import Wire

/// English speech recognition with Moonshine tiny on this machine.
///
/// A segment takes 6 to 20 % of its duration. Segments wait in one queue for a small number of models, each of which serves one segment at a time
/// on a queue of its own, so that recognition never occupies the threads of Swift's concurrency.
///
/// The result of a partial segment has `isFinal == false`; its stream ends without a result if it was skipped because a later segment of the same
/// utterance (the same `start`) arrived first. Segments over 15 s are recognized in parts, with a revision after each part.
public final class MoonshineRecognizer: SpeechRecognizer {
    public struct Settings: Sendable, Hashable {
        /// Models in memory, about 90 MB each; so many segments are recognized at once.
        public var models = 1
        /// Segments that may wait. The oldest partial segment is skipped beyond it, then final segments fail with `overloaded`.
        public var queueMax = 64
        /// Longer segments are divided, because memory grows with the length. At least 1 s.
        public var partMax = Duration.seconds(15)

        public init() {}
    }

    typealias Results = AsyncThrowingStream<Recognition, any Error>

    private struct Job {
        let segment: SpeechSegment
        let results: Results.Continuation
    }

    private struct State {
        var queue: RecognitionQueue
        var jobs: [Int: Job] = [:]
        var nextID = 0
        /// Workers without a segment.
        var idle: [Worker]
    }

    private let state: Mutex<State>
    private let partMax: Int
    private let memory = PartMemory()

    /// Loads the models, 0.3 to 0.7 s each.
    ///
    /// - Throws: `ProviderError` with code `unavailable`.
    public init(models: ModelsFolder = .standard, settings: Settings = Settings()) async throws {
        try models.require(.recognizer)
        var workers: [Worker] = []
        for index in 0..<max(settings.models, 1) { workers.append(try await Worker(index, models)) }
        partMax = max(Int(settings.partMax / .milliseconds(1)), 1_000) * SpeechSegment.sampleRate / 1_000
        state = Mutex(State(queue: RecognitionQueue(limit: max(settings.queueMax, 1)), idle: workers))
    }

    public func recognize(_ segment: SpeechSegment) -> AsyncThrowingStream<Recognition, any Error> {
        let (stream, results) = Results.makeStream()
        let (id, admission, worker) = state.withLock { state -> (Int, RecognitionQueue.Admission, Worker?) in
            let id = state.nextID
            state.nextID += 1
            let admission = state.queue.add(.init(id: id, start: segment.start, isPartial: segment.isPartial))
            if admission != .full { state.jobs[id] = Job(segment: segment, results: results) }
            return (id, admission, admission == .full ? nil : state.idle.popLast())
        }
        switch admission {
        case .queued(let skipped):
            results.onTermination = { [weak self] end in if case .cancelled = end { self?.abandon(id) } }
            for id in skipped { finish(id) }
        case .full: results.finish(throwing: ProviderError(.overloaded, "Too many segments wait for the speech recognizer."))
        }
        if let worker { worker.queue.async { self.work(worker) } }
        return stream
    }

    /// Recognizes segments until none waits.
    private func work(_ worker: Worker) {
        while let (id, segment) = next(worker) {
            do {
                try recognize(segment, id: id, with: worker)
                finish(id)
            } catch {
                finish(id, throwing: error)
            }
        }
    }

    private func next(_ worker: Worker) -> (Int, SpeechSegment)? {
        state.withLock { state in
            while let id = state.queue.next() { if let job = state.jobs[id] { return (id, job.segment) } }
            state.idle.append(worker)
            return nil
        }
    }

    private func recognize(_ segment: SpeechSegment, id: Int, with worker: Worker) throws(ProviderError) {
        // A value that is not a number would spoil the whole result.
        let samples = segment.samples.map { $0.isFinite ? min(max($0, -1), 1) : 0 }
        let parts = SegmentAnalysis.parts(of: samples, maximum: partMax)
        var text = ""
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            let spoken: String
            if !isLast, let known = memory.text(of: samples[part]) {
                spoken = known
            } else {
                spoken = try worker.model.text(of: samples[part])
                if !isLast { memory.remember(spoken, for: samples[part]) }
            }
            if !spoken.isEmpty { text += text.isEmpty ? spoken : " " + spoken }
            guard let results = state.withLock({ $0.jobs[id]?.results }) else { return }
            if isLast {
                let text = SegmentAnalysis.isInvented(text, for: samples) ? "" : text
                results.yield(Recognition(text: text, isFinal: !segment.isPartial, language: "en"))
            } else {
                results.yield(Recognition(text: text, isFinal: false, language: "en"))
            }
        }
    }

    private func finish(_ id: Int, throwing error: (any Error)? = nil) {
        state.withLock { $0.jobs.removeValue(forKey: id) }?.results.finish(throwing: error)
    }

    private func abandon(_ id: Int) {
        state.withLock { state in
            _ = state.queue.remove(id)
            state.jobs[id] = nil
        }
    }
}

/// A model and the queue on which it is used.
///
/// `@unchecked Sendable`: `model` is assigned and used on `queue` only, except for its release, when nothing uses it any more.
private final class Worker: @unchecked Sendable {
    let queue: DispatchQueue
    let model: MoonshineModel

    init(_ index: Int, _ models: ModelsFolder) async throws {
        let queue = DispatchQueue(label: "PatchbayAgents.recognizer-\(index)", qos: .userInitiated)
        self.queue = queue
        model = try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Result { Loaded(model: try MoonshineModel(models)) })
            }
        }.model
    }

    /// `@unchecked Sendable`: hands a model over to its only user.
    private struct Loaded: @unchecked Sendable {
        let model: MoonshineModel
    }
}

/// The texts of recent full parts, so that partial results of a long utterance do not recognize its beginning again and again.
private final class PartMemory: Sendable {
    private static let limit = 32
    private let texts = Mutex<[(hash: Int, text: String)]>([])

    func text(of samples: ArraySlice<Float>) -> String? {
        let hash = samples.hashValue
        return texts.withLock { $0.first { $0.hash == hash }?.text }
    }

    func remember(_ text: String, for samples: ArraySlice<Float>) {
        let hash = samples.hashValue
        texts.withLock { texts in
            if texts.count == Self.limit { texts.removeFirst() }
            texts.append((hash, text))
        }
    }
}

/// The segments that wait for a recognizer. Pure.
///
/// Final segments come first, then partial ones, each in the order of their arrival. A partial segment is skipped when a longer segment of the
/// same utterance arrives. When the queue is full, the oldest partial segment makes way; without one, the new segment is refused.
struct RecognitionQueue {
    struct Entry: Hashable {
        let id: Int
        /// When the utterance began; identifies it.
        let start: Instant
        let isPartial: Bool
    }

    enum Admission: Hashable {
        /// - Parameter skipped: entries that need no result any more.
        case queued(skipped: [Int])
        case full
    }

    private let limit: Int
    private var entries: [Entry] = []

    init(limit: Int) {
        precondition(limit > 0, "a queue holds at least one entry")
        self.limit = limit
    }

    var isEmpty: Bool { entries.isEmpty }

    mutating func add(_ entry: Entry) -> Admission {
        var skipped = entries.filter { $0.isPartial && $0.start == entry.start }.map(\.id)
        entries.removeAll { $0.isPartial && $0.start == entry.start }
        if entries.count >= limit {
            guard let oldest = entries.firstIndex(where: \.isPartial) else { return .full }
            skipped.append(entries.remove(at: oldest).id)
        }
        entries.append(entry)
        return .queued(skipped: skipped)
    }

    /// - Returns: whether the entry was still waiting.
    mutating func remove(_ id: Int) -> Bool {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return false }
        entries.remove(at: index)
        return true
    }

    /// Removes the entry that is next.
    mutating func next() -> Int? {
        if entries.isEmpty { return nil }
        return entries.remove(at: entries.firstIndex { !$0.isPartial } ?? 0).id
    }
}
