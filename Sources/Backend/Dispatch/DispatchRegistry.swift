package import Engine
package import HTTPServer
internal import HTTPTypes
internal import Synchronization
package import Wire

/// The published state of dispatch: which assistants have workers, which jobs are active, and counters. Thread-safe.
///
/// Written by `DispatchService` after each step; read by shards, calls and `/metrics`.
package final class DispatchRegistry: Sendable {
    /// Counters for `/metrics`.
    package struct Counters: Sendable {
        package var sizes = DispatchSizes()
        /// Ended jobs by outcome.
        package var jobs: [JobStatus: UInt64] = [:]
        package var offers: [DispatchStateMachine.OfferOutcome: UInt64] = [:]
        /// Messages that did not fit into the inbox.
        package var lost: UInt64 = 0
        package var turns = TurnCounters()
    }

    private struct Assignment: Hashable {
        var room: String
        var assistant: String
    }

    /// In milliseconds since 1970.
    struct JobTimes: Sendable {
        var createdAt: Int64
        /// Nil while the job is active.
        var endedAt: Int64?
    }

    private struct State {
        var workers: [String: Int] = [:]
        /// Assistants that have or had workers, at most `assistantsMax`.
        var assistants: Set<String> = []
        /// Attempts of active jobs, and nil for those that have ended recently.
        var attempts: [JobID: Int?] = [:]
        var times: [JobID: JobTimes] = [:]
        var active: Set<Assignment> = []
        var counters = Counters()
        var isDraining = false
        var lost = RecentList<DeviceID, WorkerReport>(limit: lostWorkersMax)
        var latencies = AssistantLatencies()
    }

    /// The attribute of an agent's token that names its job and attempt.
    static let attribute = "patchbay.job"

    private static let assistantsMax = 10_000
    /// The number of lost workers to keep for operators.
    private static let lostWorkersMax = 50

    private let state = Mutex(State())

    /// The value of the attribute of an agent's token that names its job; nil for any other token.
    package static func job(in attributes: [String: String]) -> String? { attributes[attribute] }

    static func attributeValue(of job: JobInfo) -> String { "\(job.id).\(job.attempt)" }

    // MARK: Writing

    /// - Parameter time: milliseconds since 1970.
    func note(_ job: JobInfo, at time: Int64) {
        state.withLock { state in
            state.times[job.id, default: JobTimes(createdAt: time)].endedAt = job.status.isOver ? time : nil
            let assignment = Assignment(room: job.room, assistant: job.assistant)
            if job.status.isOver {
                state.attempts[job.id] = .some(nil)
                state.active.remove(assignment)
                state.counters.jobs[job.status, default: 0] += 1
            } else {
                state.attempts[job.id] = job.attempt
                state.active.insert(assignment)
            }
        }
    }

    /// From now on no agent is refused because of its job: a shard that does not drain yet must not end agents that move to another gateway.
    func startDraining() {
        state.withLock { $0.isDraining = true }
    }

    /// Another node dispatches from now on.
    func forgetJobs() {
        state.withLock { ($0.attempts, $0.times, $0.active) = ([:], [:], []) }
    }

    func forget(_ job: JobID) {
        state.withLock { state in
            state.attempts[job] = nil
            state.times[job] = nil
        }
    }

    func noteWorker(of assistant: String, _ difference: Int) {
        state.withLock { state in
            let count = (state.workers[assistant] ?? 0) + difference
            state.workers[assistant] = count > 0 ? count : nil
            if count > 0, state.assistants.count < Self.assistantsMax { state.assistants.insert(assistant) }
        }
    }

    /// Records that a worker's channel was lost, or that the worker closed it while it had jobs.
    ///
    /// - Parameter time: milliseconds since 1970.
    func noteLoss(of worker: WorkerReport, at time: Int64) {
        state.withLock { $0.lost.append(worker, as: worker.id, at: time) }
    }

    func note(_ turns: [TurnMetrics], of assistant: String, at time: Int64) {
        state.withLock { $0.latencies.add(turns, of: assistant, at: time) }
    }

    func count(_ body: (inout Counters) -> Void) {
        state.withLock { body(&$0.counters) }
    }

    // MARK: Reading

    package var counters: Counters { state.withLock { $0.counters } }

    /// Nil for a job that is not known.
    func times(of job: JobID) -> JobTimes? { state.withLock { $0.times[job] } }

    /// The most recently lost workers, newest first.
    var lostWorkers: [LostWorkerView] {
        state.withLock { $0.lost.entries.reversed().map { LostWorkerView($0.value, at: $0.at) } }
    }

    var latencies: [AssistantLatencyView] { state.withLock { $0.latencies.views } }

    /// Whether a worker of the assistant is connected, or was since the gateway started.
    func hasHadWorkers(of assistant: String) -> Bool {
        state.withLock { $0.workers[assistant] != nil || $0.assistants.contains(assistant) }
    }

    func hasWorkers(of assistant: String) -> Bool { state.withLock { $0.workers[assistant] != nil } }

    /// The assistants that have workers, by id.
    var assistantsWithWorkers: [String] { state.withLock { $0.workers.keys.sorted() } }

    /// Why an agent may not join with the token of a job: the job has ended, or another worker has it. Nil if it may, also if the job is
    /// unknown: after a restart its worker has not registered yet.
    ///
    /// - Parameter job: the value of the token's attribute that names the job.
    package func joinError(job: String?) -> HTTPError? {
        guard let job, let dot = job.lastIndex(of: ".") else { return nil }
        let id = JobID(text: String(job[..<dot]))
        let attempt = Int(job[job.index(after: dot)...])
        guard let known = state.withLock({ $0.isDraining ? nil : $0.attempts[id] }), known != attempt || known == nil else { return nil }
        return HTTPError(.jobEnded, "the token's job is over, or another worker has it")
    }

    /// Whether a participant is an agent that is being replaced if it was lost.
    func isReplacing(_ identity: Identity, in room: String) -> Bool {
        guard case .assistant(let id) = CallParty(identity) else { return false }
        return state.withLock { $0.active.contains(Assignment(room: room, assistant: id)) }
    }
}

/// Counters of the turns that workers have reported.
package struct TurnCounters: Sendable {
    /// Upper bounds in seconds: from a first token of a rules engine to a slow model with tools.
    package static let bounds = [0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.9, 1.2, 2, 5, 10]

    private var histograms: [TurnMetrics.Stage: Histogram] = [:]
    package private(set) var interrupted: UInt64 = 0
    package private(set) var completed: UInt64 = 0
    /// Turns that workers did not report because too many waited.
    package private(set) var dropped: UInt64 = 0

    /// How long this stage took, in seconds, over all turns that had it.
    package func seconds(of stage: TurnMetrics.Stage) -> Histogram { histograms[stage] ?? Histogram(bounds: Self.bounds) }

    mutating func add(_ turns: [TurnMetrics], dropped: Int) {
        for turn in turns { add(turn) }
        self.dropped += UInt64(dropped)
    }

    private mutating func add(_ turn: TurnMetrics) {
        if turn.interrupted { interrupted += 1 } else { completed += 1 }
        for stage in TurnMetrics.Stage.allCases {
            guard let milliseconds = turn.milliseconds(of: stage) else { continue }
            histograms[stage, default: Histogram(bounds: Self.bounds)].add(Double(milliseconds) / 1_000)
        }
    }
}
