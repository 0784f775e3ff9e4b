internal import Wire

/// A job and what the state machine knows of its agent.
struct Job: Sendable {
    var info: JobInfo
    /// The worker that was asked or has accepted. Nil while none has, and while an agent runs whose worker's channel is closed.
    var worker: DeviceID?
    /// Workers that did not take it in this round, or lost its agent.
    var refusals: [DeviceID] = []
    /// Whether `refusals` will be cleared by a timer.
    var isRetrying = false
    /// Consecutive attempts that failed.
    var failures = 0
    /// When the agent joined in this attempt.
    var joinedAt: Instant?
    /// A worker is sought from the beginning of a round until then.
    var roundEndsAt: Instant
    /// Changes with each round; invalidates the timer of earlier ones.
    var round: UInt64 = 0
    /// The reason that its room was given while it waits for a worker.
    var waitReason: AgentWaitReason?
    /// It ended while no user was in its room: when one comes, it is created again.
    var isMissed = false
    /// Changes with each status and with the agent's presence; invalidates earlier timers.
    var stamp: UInt64 = 0

    var id: JobID { info.id }
    var isOver: Bool { info.status.isOver }
    var hasOffer: Bool { info.status == .offered }
    var isTaken: Bool { info.status == .accepted || info.status == .running }
}

/// A registered worker.
struct Worker: Sendable {
    var assistant: String
    var capacity: Int
    /// 0 to 1.
    var load: Double
    var isDraining = false
    /// False from an expired offer to the next message.
    var isResponsive = true
    /// Jobs that were offered to it or that it has accepted.
    var jobs: [JobID] = []
    /// As last reported.
    var reportedJobs = 0

    /// The product of its free places and its idle part; 0 if nothing may be offered to it.
    var weight: Int {
        guard !isDraining, isResponsive, load < 1 else { return 0 }
        let free = capacity - max(jobs.count, reportedJobs)
        return free > 0 ? free * max(1, Int((1 - load) * 1_000)) : 0
    }
}

/// The jobs of one room, and who is in it. An assistant has at most one active job per room.
struct DispatchRoom: Sendable {
    /// Whether a user is in the room.
    var isAttended = false
    /// In order of creation, recently ended ones included.
    var jobs: [JobID] = []
    private(set) var agents: [(assistant: String, isAway: Bool)] = []

    var isIdle: Bool { jobs.isEmpty && agents.isEmpty && !isAttended }

    /// Nil if the agent is not in the room.
    func isAway(_ assistant: String) -> Bool? { agents.first { $0.assistant == assistant }?.isAway }

    mutating func note(_ assistant: String, isAway: Bool?) {
        agents.removeAll { $0.assistant == assistant }
        if let isAway { agents.append((assistant, isAway)) }
    }

    mutating func removeEverybody() {
        agents = []
        isAttended = false
    }
}

/// Timers of jobs. Each kind has one duration, so that each queue is in order of time.
enum JobTimer: Int, Sendable, CaseIterable {
    case offer, pending, lost, retry, join, away, over

    var span: Duration {
        switch self {
        case .offer: Limits.jobOfferMax
        case .pending: Limits.jobPendingMax
        case .lost: Limits.jobLostMax
        case .retry: Limits.jobRetryInterval
        case .join: Limits.jobJoinMax
        case .away: Limits.jobAgentAwayMax
        case .over: Limits.jobOverKeptSpan
        }
    }
}
