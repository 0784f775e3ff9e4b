package import Engine
package import Wire

/// The queue through which shards and other services reach `DispatchService`, from any thread. Messages are handled in the order of posting.
///
/// | message | limit | beyond it |
/// |---|---|---|
/// | `opened` | `devicesMax` channels whose `closed` is not yet handled | refused: the shard closes the channel |
/// | `closed` | one for each accepted `opened` | always accepted |
/// | `request` | `requestsMax` waiting | refused with `limit_exceeded` |
/// | `create` | `requestsMax` waiting, counted apart | refused and counted as lost |
/// | rooms and agents | `changesMax` waiting | dropped and counted as lost |
/// | `drain` | one | ignored |
package final class DispatchInbox: Sendable {
    package enum Message: Sendable {
        /// An assistant's channel.
        case opened(DeviceAddress, assistant: Identity)
        case closed(DeviceID)
        case request(WorkerRequest, id: UInt64?, from: DeviceID)
        /// A session or a call asks for an assistant.
        case create(JobRequest)
        /// The call does not need the assistant any more.
        case recall(assistant: String, CallID)
        /// A room has opened; the token that opened it asks for these assistants.
        case roomOpened(String, [AgentRequest])
        case agent(Identity, in: String, AgentPresence)
        /// The room, or the session whose room it would have been, has ended.
        case roomEnded(String)
        case drain
    }

    package struct Limits: Sendable {
        package var devicesMax = 100_000
        package var requestsMax = 10_000
        package var changesMax = 100_000

        package init() {}
    }

    private struct Counts {
        var devices = 0
        var requests = 0
        var creations = 0
        var changes = 0
        var isDraining = false
    }

    /// Counters of jobs and workers, readable from any thread.
    package let registry = DispatchRegistry()
    private let limits: Limits
    private let inbox: ServiceInbox<Message, Never, Counts>

    package init(limits: Limits = Limits()) {
        self.limits = limits
        inbox = ServiceInbox(counts: Counts()) { message, counts in
            switch message {
            case .closed: counts.devices -= 1
            case .request: counts.requests -= 1
            case .create, .recall: counts.creations -= 1
            case .roomOpened, .agent, .roomEnded: counts.changes -= 1
            case .opened, .drain: break
            }
        }
    }

    /// - Returns: false if the message was refused because of its limit.
    @discardableResult
    package func post(_ message: Message) -> Bool {
        let isPosted = inbox.post(message) { [limits] counts in
            func admit(_ count: WritableKeyPath<Counts, Int>, _ limit: Int) -> Bool {
                guard counts[keyPath: count] < limit else { return false }
                counts[keyPath: count] += 1
                return true
            }
            switch message {
            case .opened: return admit(\.devices, limits.devicesMax)
            case .closed: return true
            case .request: return admit(\.requests, limits.requestsMax)
            case .create, .recall: return admit(\.creations, limits.requestsMax)
            case .roomOpened, .agent, .roomEnded: return admit(\.changes, limits.changesMax)
            case .drain:
                defer { counts.isDraining = true }
                return !counts.isDraining
            }
        }
        if !isPosted, message.isLostWhenRefused { registry.count { $0.lost += 1 } }
        return isPosted
    }

    /// Ends `messages` after the queued ones.
    package func finish() {
        inbox.finish()
    }

    /// Single reader only.
    package var messages: some AsyncSequence<Message, Never> & Sendable { inbox.messages }
}

extension DispatchInbox.Message {
    /// Whether nobody else learns that the message was refused.
    fileprivate var isLostWhenRefused: Bool {
        switch self {
        case .create, .recall, .roomOpened, .agent, .roomEnded: true
        case .opened, .closed, .request, .drain: false
        }
    }
}
