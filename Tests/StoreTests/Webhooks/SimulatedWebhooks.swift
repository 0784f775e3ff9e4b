import Identity
import OutgoingHTTP
import Synchronization

@testable import Store

/// An in-memory queue, scripted endpoints, and a manual clock.
final class SimulatedWebhooks: WebhookQueue {
    struct Row {
        var webhook: StoredWebhook
        var due: WallTime
        var isLeased = false
    }

    private struct State {
        var rows: [Row] = []
        var now = WallTime(milliseconds: 0)
        var statuses: [String: Int] = [:]
        var requests: [OutgoingHTTPRequest] = []
        var delivered: [String: [Int64]] = [:]
        var givenUp: [Int64] = []
        var retries = 0
        var inFlight: [String: Int] = [:]
        var inFlightMost: [String: Int] = [:]
        var storeFailures = 0
    }

    private let state = Mutex(State())
    private let changes = AsyncStream<Void>.makeStream()

    static let key: IssuerKey = {
        let settings = IssuerSettings(issuer: "devkey", algorithm: .hs256, key: SecretText("secret"))
        guard let key = try? KeyRing([settings]).signer else { fatalError("the tests' own key is refused") }
        return key
    }()

    /// `hang` never answers.
    static let hang = 0

    func answer(_ url: String, with status: Int) { state.withLock { $0.statuses[url] = status } }
    func failStore(times: Int) { state.withLock { $0.storeFailures = times } }

    func put(_ id: Int64, to url: String, lane: String) {
        state.withLock { state in
            let webhook = StoredWebhook(
                number: id, webhook: OutgoingWebhook(event: "e", endpoint: url, room: lane, body: "\(id)"), enqueuedAt: state.now,
                expiresAt: state.now + .seconds(24 * 3_600), attempts: 0)
            state.rows.append(Row(webhook: webhook, due: state.now))
        }
    }

    func advance(by span: Duration) { state.withLock { $0.now = $0.now + span } }

    var now: WallTime { state.withLock { $0.now } }
    var requests: [OutgoingHTTPRequest] { state.withLock { $0.requests } }
    var givenUp: [Int64] { state.withLock { $0.givenUp } }
    /// Failures reported to the queue.
    var retries: Int { state.withLock { $0.retries } }
    func delivered(to url: String) -> [Int64] { state.withLock { $0.delivered[url] ?? [] } }
    func inFlightMost(at url: String) -> Int { state.withLock { $0.inFlightMost[url] ?? 0 } }

    /// Until `condition` holds, looked at whenever anything has happened.
    func wait(until condition: () -> Bool) async {
        if condition() { return }
        for await _ in changes.stream where condition() { return }
    }

    func delivered(_ webhook: StoredWebhook, at now: WallTime) -> Bool {
        change { state in
            guard let index = state.rows.firstIndex(where: { $0.webhook.number == webhook.number }) else { return }
            state.rows.remove(at: index)
            state.delivered[webhook.webhook.endpoint, default: []].append(webhook.number)
        }
        return true
    }

    func retry(_ webhook: StoredWebhook, due: WallTime, reason: String) {
        change { state in
            guard let index = state.rows.firstIndex(where: { $0.webhook.number == webhook.number }) else { return }
            state.rows[index].webhook = webhook
            state.retries += 1
            state.rows[index].due = due
            state.rows[index].isLeased = false
        }
    }

    func giveUp(_ webhook: StoredWebhook, reason: String, at now: WallTime) {
        change { state in
            state.rows.removeAll { $0.webhook.number == webhook.number }
            state.givenUp.append(webhook.number)
        }
    }

    func lease(to url: String, limit: Int, for span: Duration, at now: WallTime) throws(StoreError) -> [StoredWebhook] {
        try state.withLock { state throws(StoreError) in
            if state.storeFailures > 0 {
                state.storeFailures -= 1
                throw .busy
            }
            var lanes: Set<String> = []
            var leased: [StoredWebhook] = []
            for (index, row) in state.rows.enumerated() where row.webhook.webhook.endpoint == url && leased.count < limit {
                guard lanes.insert(row.webhook.webhook.room).inserted, !row.isLeased, row.due <= now else { continue }
                state.rows[index].isLeased = true
                let stored = row.webhook
                leased.append(
                    StoredWebhook(
                        number: stored.number, webhook: stored.webhook, enqueuedAt: stored.enqueuedAt, expiresAt: stored.expiresAt,
                        attempts: stored.attempts + 1))
            }
            return leased
        }
    }

    var send: Outgoing {
        { request in
            let status = self.state.withLock { state in
                state.requests.append(request)
                state.inFlight[request.url, default: 0] += 1
                state.inFlightMost[request.url] = max(state.inFlightMost[request.url] ?? 0, state.inFlight[request.url] ?? 0)
                return state.statuses[request.url] ?? 200
            }
            defer { self.state.withLock { $0.inFlight[request.url, default: 0] -= 1 } }
            self.changes.continuation.yield()
            if status == Self.hang {
                // Ends when the delivery is cancelled.
                try await ContinuousClock().sleep(for: .seconds(3_600))
            }
            await Task.yield()
            return OutgoingResponse(status: status)
        }
    }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
        changes.continuation.yield()
    }

    /// Runs a delivery to `urls` while `body` runs.
    func delivering(to urls: [String], _ body: (SimulatedWebhooks) async -> Void) async {
        let delivery = WebhookDelivery(
            self, to: urls, signedWith: Self.key, clock: ContinuousClock(), pause: .milliseconds(2), now: { self.now }, random: { 0.5 },
            sending: send)
        await withDiscardingTaskGroup { group in
            group.addTask { await delivery.run() }
            await body(self)
            group.cancelAll()
        }
    }
}
