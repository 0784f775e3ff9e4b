package import Store
package import Wire

/// Decides when clips are generated, and who learns about it. Deterministic: time and randomness are arguments.
///
/// Requests for the same clip share one job. A job ends when its clip is ready, has failed for good, or nobody wants it any more. Failed
/// attempts are repeated after a delay, behind the jobs that are waiting.
struct SpeechQueue {
    enum Effect: Hashable {
        case start(ClipID)
        /// Cancel its generation.
        case stop(ClipID)
        case tell(SpeechEvent, Set<SpeechRequester>)
        /// Store that the clip has failed for good.
        case fail(ClipID, reason: String)
    }

    /// Why a request is refused.
    enum Refusal: Error, Hashable {
        /// All jobs together.
        case full
        /// The requester's.
        case tooMany
    }

    private struct Job {
        var requesters: Set<SpeechRequester>
        var isRunning = false
        var progress = 0
        var failures = 0
        /// The delay after a failed attempt.
        var notBefore: Instant?
    }

    /// Recently cancelled jobs whose requesters may still ask for their state.
    private static let cancelledMax = 256

    private let limits: SpeechLimits
    private var jobs: [ClipID: Job] = [:]
    /// In the order in which they start.
    private var waiting: [ClipID] = []
    private var cancelled: [(id: ClipID, requester: SpeechRequester)] = []

    init(limits: SpeechLimits) {
        self.limits = limits
    }

    // MARK: Queries

    var count: Int { jobs.count }

    func hasJob(_ id: ClipID) -> Bool { jobs[id] != nil }

    private var runningCount: Int { jobs.count - waiting.count }

    /// The state of a clip that has a job, or had one that the requester cancelled.
    func state(of id: ClipID, for requester: SpeechRequester) -> (status: SpeechStatus, progress: Int)? {
        if let job = jobs[id], job.requesters.contains(requester) || requester.isAdministrator {
            return (job.isRunning ? .generating : .queued, job.progress)
        }
        return cancelled.contains { $0 == (id, requester) } ? (.cancelled, 0) : nil
    }

    /// Whether a new job of this requester is accepted. O(n) in the jobs.
    func refusal(of requester: SpeechRequester) -> Refusal? {
        guard jobs.count < limits.jobsMax else { return .full }
        let count = jobs.values.count { $0.requesters.contains(requester) }
        return count < limits.jobsPerRequesterMax ? nil : .tooMany
    }

    /// When `wake` has something to do.
    var deadline: Instant? {
        guard runningCount < limits.runningMax else { return nil }
        return waiting.compactMap { jobs[$0]?.notBefore }.min()
    }

    // MARK: Inputs

    /// Adds a requester to the clip's job, or a job. Not limited; see `refusal(of:)`.
    mutating func add(_ id: ClipID, for requesters: Set<SpeechRequester>, at now: Instant, into effects: inout [Effect]) {
        cancelled.removeAll { $0.id == id && requesters.contains($0.requester) }
        if jobs[id] == nil {
            jobs[id] = Job(requesters: requesters)
            waiting.append(id)
        } else {
            jobs[id]?.requesters.formUnion(requesters)
        }
        startNext(at: now, into: &effects)
    }

    /// Ignored unless it is more than before.
    mutating func progressed(_ id: ClipID, to percent: Int, into effects: inout [Effect]) {
        guard let job = jobs[id], job.isRunning, job.progress < percent, percent <= 100 else { return }
        jobs[id]?.progress = percent
        effects.append(.tell(.progress(id, percent), job.requesters))
    }

    mutating func finished(_ id: ClipID, at now: Instant, into effects: inout [Effect]) {
        guard let job = remove(id) else { return }
        effects.append(.tell(.ready(id), job.requesters))
        startNext(at: now, into: &effects)
    }

    /// - Parameter random: 0 to 1.
    mutating func failed(
        _ id: ClipID, _ error: SpeechGenerationError, at now: Instant, random: Double, into effects: inout [Effect]
    ) {
        guard var job = jobs[id], job.isRunning else { return }
        job.failures += 1
        if error.isRetryable, job.failures < limits.attemptsMax {
            job.isRunning = false
            job.progress = 0
            job.notBefore = now + limits.backoff.delay(afterFailures: job.failures, random: random)
            jobs[id] = job
            waiting.append(id)
        } else {
            _ = remove(id)
            effects.append(.fail(id, reason: error.message))
            effects.append(.tell(.failed(id, message: error.message), job.requesters))
        }
        startNext(at: now, into: &effects)
    }

    /// Removes a requester from a job, which ends with its last one.
    ///
    /// - Parameter isReady: whether the store already has the clip, so that nothing is cancelled: its job is about to end.
    /// - Returns: whether the requester was waiting for the clip.
    mutating func cancel(
        _ id: ClipID, for requester: SpeechRequester, isReady: Bool = false, at now: Instant, into effects: inout [Effect]
    ) -> Bool {
        guard let job = jobs[id], job.requesters.contains(requester) else { return false }
        if !isReady {
            cancelled.append((id, requester))
            if cancelled.count > Self.cancelledMax { cancelled.removeFirst() }
        }
        jobs[id]?.requesters.remove(requester)
        if job.requesters == [requester] { end(id, at: now, into: &effects) }
        return true
    }

    /// Ends a job for all requesters, because its clip has been deleted.
    mutating func end(_ id: ClipID, at now: Instant, into effects: inout [Effect]) {
        guard let job = remove(id) else { return }
        if job.isRunning { effects.append(.stop(id)) }
        if !job.requesters.isEmpty { effects.append(.tell(.failed(id, message: "the clip was deleted"), job.requesters)) }
        startNext(at: now, into: &effects)
    }

    mutating func wake(at now: Instant, into effects: inout [Effect]) {
        startNext(at: now, into: &effects)
    }

    private mutating func remove(_ id: ClipID) -> Job? {
        waiting.removeAll { $0 == id }
        return jobs.removeValue(forKey: id)
    }

    private mutating func startNext(at now: Instant, into effects: inout [Effect]) {
        while runningCount < limits.runningMax {
            let next = waiting.firstIndex { id in (jobs[id]?.notBefore).map { $0 <= now } ?? true }
            guard let next else { return }
            let id = waiting.remove(at: next)
            jobs[id]?.isRunning = true
            jobs[id]?.notBefore = nil
            effects.append(.start(id))
        }
    }
}

/// Limits of speech clips: of the jobs that make them, and of what is kept.
package struct SpeechLimits: Sendable {
    /// Jobs in progress.
    package var runningMax = 2
    /// Jobs altogether.
    package var jobsMax = 256
    /// Jobs that one user, assistant or administrator waits for.
    package var jobsPerRequesterMax = 8
    /// Of one process; see also `StoreLimits.clipAttemptsMax`.
    package var attemptsMax = 3
    package var backoff = Backoff(.exponential, unit: .seconds(1), delayMax: .seconds(30), jitter: .upperHalf)
    package var clips = ClipLimits()

    package init() {}
}

/// The user, assistant or administrator that requests clips.
enum SpeechRequester: Hashable, Sendable {
    case user(UserID)
    /// By its id.
    case assistant(String)
    /// By the issuer of its token.
    case administrator(String)
    /// Services that asked before the last start.
    case earlierService

    init(_ requester: Requester) {
        self =
            switch requester {
            case .user(let user): .user(user)
            case .assistant(let id): .assistant(id)
            case .service(let issuer): .administrator(issuer)
            }
    }

    var owner: ClipOwner {
        switch self {
        case .user(let user): .user(user)
        case .assistant, .earlierService: .service
        case .administrator: .administrator
        }
    }

    var user: UserID? {
        if case .user(let user) = self { user } else { nil }
    }

    var isAdministrator: Bool {
        if case .administrator = self { true } else { false }
    }

    /// The owner of the requester's channel.
    var channel: Identity? {
        switch self {
        case .user(let user): Identity(text: user.text)
        case .assistant(let id): CallParty.assistant(id).identity
        case .administrator, .earlierService: nil
        }
    }
}

enum SpeechStatus: String, Sendable, CaseIterable {
    case queued, generating, ready, failed, cancelled
}

/// An event on the requester's own channel (docs/protocol/assistants.md, "Speech clips").
enum SpeechEvent: Hashable, Sendable {
    case progress(ClipID, Int)
    case ready(ClipID)
    case failed(ClipID, message: String)

    var bytes: [UInt8] {
        let (type, data): (String, JSONValue) =
            switch self {
            case .progress(let id, let percent): ("speech.progress", ["id": .string(id.text), "progress": .integer(Int64(percent))])
            case .ready(let id): ("speech.ready", ["id": .string(id.text)])
            case .failed(let id, let message): ("speech.failed", ["id": .string(id.text), "message": .string(message)])
            }
        let message: JSONValue = ["type": .string(type), "data": data]
        return (try? JSON.encode(message, names: .asDeclared)) ?? []
    }
}
