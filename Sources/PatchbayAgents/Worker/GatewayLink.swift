internal import PatchbayClient

/// A worker's registration with the gateway.
struct GatewayLink {
    private(set) var isRegistered = false
    private(set) var hasRegistered = false
    /// Channels in a row that ended, or could not be opened, since the last registration.
    private(set) var failures = 0
    /// Set if the first registration is refused for good.
    private(set) var refusal: RequestFailure?
    private var hasEnded = false
    private var waiters: [CheckedContinuation<Bool, Never>] = []

    /// The gateway has registered the worker.
    mutating func register() {
        isRegistered = true
        hasRegistered = true
        failures = 0
        resumeWaiters()
    }

    mutating func refuse(_ error: RequestFailure) {
        if !hasRegistered, !error.isRetryable { refusal = error }
    }

    /// The connection is lost.
    mutating func lose() { isRegistered = false }

    mutating func countFailure() { failures += 1 }

    /// There are no more registrations.
    mutating func end() {
        hasEnded = true
        resumeWaiters()
    }

    /// Resumes `waiter` after the first registration, with true, or at the end.
    mutating func addWaiter(_ waiter: CheckedContinuation<Bool, Never>) {
        waiters.append(waiter)
        resumeWaiters()
    }

    private mutating func resumeWaiters() {
        guard hasRegistered || hasEnded else { return }
        for waiter in waiters { waiter.resume(returning: hasRegistered) }
        waiters = []
    }
}
