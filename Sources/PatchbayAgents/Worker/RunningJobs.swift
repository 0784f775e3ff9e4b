internal import Wire

/// The jobs of a worker, each from its acceptance until its handler has returned.
struct RunningJobs {
    private struct Job {
        var info: JobInfo
        var task: Task<Void, any Error>?
        /// The gateway has taken it back.
        var isCancelled = false
    }

    private var jobs: [JobID: Job] = [:]
    private var waiters: [CheckedContinuation<Void, Never>] = []

    var count: Int { jobs.count }

    var infos: [JobInfo] { jobs.values.map(\.info) }

    func contains(_ id: JobID) -> Bool { jobs[id] != nil }

    /// Whether the job is running and the gateway has not taken it back.
    func keeps(_ id: JobID) -> Bool { jobs[id]?.isCancelled == false }

    mutating func add(_ job: JobInfo) { jobs[job.id] = Job(info: job) }

    mutating func update(_ id: JobID, to info: JobInfo) { jobs[id]?.info = info }

    /// The job's handler runs as a task.
    mutating func start(_ id: JobID, _ task: Task<Void, any Error>) { jobs[id]?.task = task }

    /// The gateway takes a job back.
    mutating func cancel(_ id: JobID) {
        jobs[id]?.isCancelled = true
        jobs[id]?.task?.cancel()
    }

    /// Cancels all handlers. Their jobs end as the handlers do.
    func cancelTasks() {
        for job in jobs.values { job.task?.cancel() }
    }

    mutating func remove(_ id: JobID) {
        jobs[id] = nil
        resumeWaiters()
    }

    /// Resumes `waiter` when there are no jobs.
    mutating func addWaiter(_ waiter: CheckedContinuation<Void, Never>) {
        waiters.append(waiter)
        resumeWaiters()
    }

    private mutating func resumeWaiters() {
        guard jobs.isEmpty else { return }
        for waiter in waiters { waiter.resume() }
        waiters = []
    }
}
