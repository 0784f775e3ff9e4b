internal import Engine
internal import Logging
internal import ServiceLifecycle
package import Store
package import Wire

/// A user to be woken for an incoming call, because none of its devices is connected.
package struct PushRequest: Sendable {
    package var call: CallInfo
    package var user: UserID
    /// When the call stops ringing, and with it every attempt.
    package var expiresAt: WallTime
    /// Of the request that started the call.
    package var trace: TraceContext?

    package init(call: CallInfo, user: UserID, expiresAt: WallTime, trace: TraceContext? = nil) {
        self.trace = trace
        self.call = call
        self.user = user
        self.expiresAt = expiresAt
    }
}

/// The bounded queue from `CallService` to `PushService`. Beyond the limit requests are dropped and logged: their calls ring in vain.
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

/// Wakes phones for incoming calls: iPhones by APNs, if it is configured, and all others through a webhook that a backend passes on.
///
/// A request ends when its call is answered or stops ringing, so the number of requests is bounded by that of ringing invitations.
package struct PushService: Service {
    private let queue: PushQueue
    private let store: SessionStore
    private let webhooks: WebhookWriter
    private let apns: APNsSender<ContinuousClock>?
    private let counters: ServiceCounters
    private let isRinging: @Sendable (PushRequest) async -> Bool
    private let log = Logger(label: "patchbay.push")

    init(
        _ queue: PushQueue, store: SessionStore, webhooks: WebhookWriter, apns: APNsSender<ContinuousClock>?, counters: ServiceCounters,
        isRinging: @escaping @Sendable (PushRequest) async -> Bool
    ) {
        self.queue = queue
        self.store = store
        self.webhooks = webhooks
        self.apns = apns
        self.counters = counters
        self.isRinging = isRinging
    }

    /// Runs until the task is cancelled or graceful shutdown begins. Call once.
    package func run() async {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                for await request in queue.requests { group.addTask { await wake(request) } }
            }
        }
    }

    private func wake(_ request: PushRequest) async {
        do {
            let devices = try await store.pushDevices(of: request.user)
            let direct = apns == nil ? [] : devices.filter { $0.platform == .ios }
            let others = devices.filter { !direct.contains($0) }
            if !others.isEmpty { try await send(request, to: others) }
            await withDiscardingTaskGroup { group in
                for device in direct { group.addTask { await send(request, to: device) } }
            }
        } catch {
            log.error("a phone was not woken; the store failed", metadata: ["call": .string(request.call.id.text), "error": "\(error)"])
        }
    }

    private func send(_ request: PushRequest, to devices: [PushDevice]) async throws {
        let webhooks = webhooks.webhooks(for: request, to: devices, at: .now)
        guard !webhooks.isEmpty else { return }
        try await store.enqueue(webhooks, at: .now)
        counters.add(devices.count, to: .pushes, "webhook")
    }

    private func send(_ request: PushRequest, to device: PushDevice) async {
        guard let apns else { return }
        let outcome = await apns.send(request, to: device.token, while: { await isRinging(request) })
        counters.add(to: .pushes, outcome.name)
        switch outcome {
        case .delivered, .expired: break
        case .unregistered(let time):
            // A registration after the one that failed stays.
            try? await store.removePushDevice(device.id, of: request.user, registeredBefore: time ?? device.registeredAt)
        case .rejected(let reason):
            log.error("APNs rejected a push", metadata: ["call": .string(request.call.id.text), "reason": .string(reason)])
        }
    }
}

/// The invitations of running calls. One push per invitation: a device that repeatedly loses its connection is not woken each time.
struct CallPushes {
    private struct Invitation {
        let since: WallTime
        var isPushed = false
    }

    private var invitations: [CallID: [CallParty: Invitation]] = [:]

    /// Takes the push of a party's invitation.
    ///
    /// - Returns: the time of the invitation; nil if its push was taken already.
    mutating func take(_ call: CallID, _ party: CallParty) -> WallTime? {
        guard let invitation = invitations[call]?[party], !invitation.isPushed else { return nil }
        invitations[call]?[party]?.isPushed = true
        return invitation.since
    }

    mutating func note(_ record: CallRecord, at now: WallTime) {
        switch record.change {
        case .call(let status): if status.isOver { invitations[record.call.id] = nil }
        case .member(let party, .invited): invitations[record.call.id, default: [:]][party] = Invitation(since: now)
        case .member: break
        }
    }
}
