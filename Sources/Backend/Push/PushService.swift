internal import Engine
internal import Logging
internal import ServiceLifecycle
package import Store
package import Wire

/// A request to wake a user, none of whose devices is connected.
package struct PushRequest: Sendable {
    package enum Reason: Sendable, Hashable {
        case call(CallInfo)
        /// The first summary of a session is ready.
        case summary(Session)
    }

    package var reason: Reason
    package var user: UserID
    /// The time after which the push is useless. For a call, when it stops ringing; then all attempts end.
    package var expiresAt: WallTime
    /// The trace context of the request that started the call or the session.
    package var trace: TraceContext?

    /// The time for which a phone may be off and still show a summary.
    private static let summarySpan = Duration.seconds(24 * 3_600)

    /// Creates a request for the summary of a session.
    package init(of session: Session, at now: WallTime) {
        self.init(.summary(session), user: session.userID, expiresAt: now + Self.summarySpan, trace: session.trace)
    }

    package init(_ reason: Reason, user: UserID, expiresAt: WallTime, trace: TraceContext? = nil) {
        self.trace = trace
        self.reason = reason
        self.user = user
        self.expiresAt = expiresAt
    }
}

/// The bounded queue to `PushService`. Requests beyond the limit are dropped and logged: phones are not woken for those calls.
package struct PushQueue: Sendable {
    static let requestsMax = 10_000

    let requests: AsyncStream<PushRequest>
    private let continuation: AsyncStream<PushRequest>.Continuation

    package init() {
        (requests, continuation) = AsyncStream.makeStream(of: PushRequest.self, bufferingPolicy: .bufferingOldest(Self.requestsMax))
    }

    func post(_ request: PushRequest) {
        if case .dropped = continuation.yield(request) {
            Logger(label: "patchbay.push").error("a push was dropped; too many are waiting")
        }
    }
}

/// Wakes phones for calls and summaries: iPhones through APNs, if configured, and all others through a webhook that a backend forwards.
///
/// A request ends when its call is answered or stops ringing, so ringing invitations bound the number of requests. At most `summariesMax`
/// summaries are processed at once.
package struct PushService: Service {
    private let queue: PushQueue
    private let accounts: Accounts
    private let sessions: Sessions
    private let calls: Calls
    private let webhookStore: Webhooks
    private let webhooks: WebhookWriter
    private let apns: APNsSender<ContinuousClock>?
    private let counters: ServiceCounters
    private let isWanted: @Sendable (PushRequest) async -> Bool
    /// The maximum number of summaries pushed at once.
    private static let summariesMax = 64
    private let log = Logger(label: "patchbay.push")

    init(
        _ queue: PushQueue, _ accounts: Accounts, _ sessions: Sessions, _ calls: Calls, _ webhookStore: Webhooks, webhooks: WebhookWriter,
        apns: APNsSender<ContinuousClock>?, counters: ServiceCounters,
        isWanted: @escaping @Sendable (PushRequest) async -> Bool
    ) {
        self.queue = queue
        self.accounts = accounts
        self.sessions = sessions
        self.calls = calls
        self.webhookStore = webhookStore
        self.webhooks = webhooks
        self.apns = apns
        self.counters = counters
        self.isWanted = isWanted
    }

    /// Runs until the task is cancelled or graceful shutdown begins. Call once.
    package func run() async {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                let (summaries, sink) = AsyncStream.makeStream(
                    of: PushRequest.self, bufferingPolicy: .bufferingOldest(PushQueue.requestsMax))
                group.addTask { await wakeForSummaries(summaries) }
                for await request in queue.requests {
                    switch request.reason {
                    case .call: group.addTask { await wake(request) }
                    case .summary:
                        if case .dropped = sink.yield(request) { log.error("a push was dropped; too many summaries are waiting") }
                    }
                }
                sink.finish()
            }
        }
    }

    private func wakeForSummaries(_ requests: AsyncStream<PushRequest>) async {
        await withTaskGroup(of: Void.self) { group in
            var running = 0
            for await request in requests {
                if running == Self.summariesMax { await group.next() } else { running += 1 }
                group.addTask { await wake(request) }
            }
        }
    }

    private func wake(_ request: PushRequest) async {
        await loggingFailure(of: request) {
            guard let (push, devices) = try await whileWanted(request, { try await recipients(of: request) }) else { return }
            let direct = apns == nil ? [] : devices.filter { $0.platform == .ios }
            let others = devices.filter { !direct.contains($0) }
            await withDiscardingTaskGroup { group in
                if !others.isEmpty { group.addTask { await loggingFailure(of: request) { try await send(request, to: others) } } }
                for device in direct { group.addTask { await send(push, request, to: device) } }
            }
        }
    }

    private func loggingFailure(of request: PushRequest, _ body: () async throws -> Void) async {
        do {
            try await body()
        } catch {
            log.error("a phone was not woken; the store failed", metadata: request.logMetadata.merging(["error": "\(error)"]) { $1 })
        }
    }

    /// Runs `body`, and retries it while the store is unavailable and the push is wanted.
    ///
    /// - Returns: nil if the push is no longer wanted.
    private func whileWanted<T>(_ request: PushRequest, _ body: () async throws -> T?) async throws -> T? {
        var result: T?
        try await StoreError.retryingWhileUnavailable {
            guard request.expiresAt > .now, await isWanted(request) else { return }
            result = try await body()
        }
        return result
    }

    private func recipients(of request: PushRequest) async throws -> (APNsPush, [PushDevice])? {
        guard let push = try await push(for: request) else { return nil }
        return (push, try await calls.pushDevices(of: request.user).filter { push.isCall || $0.takesAlerts })
    }

    /// Returns the push to send; nil if the user has disabled it or the session is gone.
    private func push(for request: PushRequest) async throws -> APNsPush? {
        switch request.reason {
        case .call(let call): return APNsPush(call, until: request.expiresAt)
        case .summary(let session):
            do {
                guard try await accounts.user(request.user).settings.pushesSummaries else { return nil }
                return APNsPush(try await sessions.listing(of: session.id, of: request.user), at: .now, until: request.expiresAt)
            } catch StoreError.notFound {
                return nil
            }
        }
    }

    private func send(_ request: PushRequest, to devices: [PushDevice]) async throws {
        let webhooks = webhooks.webhooks(for: request, to: devices, at: .now)
        guard !webhooks.isEmpty else { return }
        guard try await whileWanted(request, { try await webhookStore.enqueue(webhooks, at: .now) }) != nil else { return }
        counters.add(devices.count, to: .pushes, "webhook")
    }

    private func send(_ push: APNsPush, _ request: PushRequest, to device: PushDevice) async {
        guard let apns, let token = push.isCall ? device.token : device.alertToken else { return }
        let outcome = await apns.send(push, to: token, while: { await isWanted(request) })
        counters.add(to: .pushes, outcome.name)
        switch outcome {
        case .delivered, .expired: break
        case .unregistered(let time):
            // A registration after the one that failed stays.
            let before = time ?? device.registeredAt
            if push.isCall {
                try? await calls.removePushDevice(device.id, of: request.user, registeredBefore: before)
            } else {
                // Calls use a separate token, which may be valid.
                try? await calls.removeAlertToken(of: device.id, of: request.user, registeredBefore: before)
            }
        case .rejected(let reason):
            log.error("APNs rejected a push", metadata: request.logMetadata.merging(["reason": .string(reason)]) { $1 })
        }
    }
}

extension PushRequest {
    fileprivate var logMetadata: Logger.Metadata {
        switch reason {
        case .call(let call): ["call": .string(call.id.text)]
        case .summary(let session): ["session": .string(session.id.text)]
        }
    }
}

/// The invitations of running calls. One push per invitation: a device that repeatedly loses its connection is not woken each time.
struct CallPushes {
    private struct Invitation {
        let since: WallTime
        var isPushed = false
    }

    private let waitsForStore: Bool
    private var invitations: [CallID: [CallParty: Invitation]] = [:]
    /// Calls that may be refused yet.
    private var held: Set<CallID> = []

    /// - Parameter waitsForStore: the pushes of a call that starts wait for `release`.
    init(waitsForStore: Bool) { self.waitsForStore = waitsForStore }

    /// The call is stored.
    mutating func release(_ call: CallID) { held.remove(call) }

    /// Takes the push of a party's invitation.
    ///
    /// - Returns: the time of the invitation; nil if its push waits, or was taken already.
    mutating func take(_ call: CallID, _ party: CallParty) -> WallTime? {
        guard let invitation = invitations[call]?[party], !invitation.isPushed, !held.contains(call) else { return nil }
        invitations[call]?[party]?.isPushed = true
        return invitation.since
    }

    mutating func note(_ record: CallRecord, at now: WallTime) {
        switch record.change {
        case .call(.started): if waitsForStore { held.insert(record.call.id) }
        case .call(let status):
            guard status.isOver else { return }
            invitations[record.call.id] = nil
            held.remove(record.call.id)
        case .member(let party, .invited): invitations[record.call.id, default: [:]][party] = Invitation(since: now)
        case .member: break
        }
    }
}
