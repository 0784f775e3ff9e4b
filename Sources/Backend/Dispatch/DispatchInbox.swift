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
/// | `workers` | `queriesMax` queued | dropped: the query has no result |
/// | `drain` | one | ignored |
package final class DispatchInbox: Sendable {
    package enum Message: Sendable {
        /// An assistant's channel.
        case opened(ChannelAddress, assistant: Identity)
        case closed(DeviceID)
        case request(WorkerRequest, id: UInt64?, from: DeviceID)
        /// A session or a call asks for an assistant.
        case create(JobRequest)
        /// The call does not need the assistant any more.
        case recall(assistant: String, CallID)
        /// A room has opened; the token that opened it asks for these assistants.
        case roomOpened(String, [AgentRequest])
        case agent(Identity, in: String, AgentPresence)
        /// The first user has come to a room, or the last one has left it.
        case attended(String, Bool)
        /// The room, or the session whose room it would have been, has ended.
        case roomEnded(String)
        /// An operator requests the list of workers.
        case workers(QueryReply<[WorkerReport]>)
        case drain
    }

    package struct Limits: Sendable {
        package var queriesMax = 100
        package var devicesMax = 100_000
        package var requestsMax = 10_000
        package var changesMax = 100_000

        package init() {}
    }

    private enum Kind {
        case device, request, creation, change, query, drain
    }

    /// Counters of jobs and workers, readable from any thread.
    package let registry = DispatchRegistry()
    private let inbox: ServiceInbox<Message, Never, Kind>

    package init(limits: Limits = Limits()) {
        inbox = ServiceInbox(
            limits: [
                .device: limits.devicesMax, .request: limits.requestsMax, .creation: limits.requestsMax, .change: limits.changesMax,
                .query: limits.queriesMax, .drain: 1,
            ]
        ) { message in
            switch message {
            case .closed: .device
            case .request: .request
            case .create, .recall: .creation
            case .roomOpened, .agent, .attended, .roomEnded: .change
            case .workers: .query
            case .opened, .drain: nil
            }
        }
    }

    /// - Returns: false if the message was refused because of its limit.
    @discardableResult
    package func post(_ message: Message) -> Bool {
        let kind: Kind? =
            switch message {
            case .opened: .device
            case .closed: nil
            case .request: .request
            case .create, .recall: .creation
            case .roomOpened, .agent, .attended, .roomEnded: .change
            case .workers: .query
            case .drain: .drain
            }
        let isPosted = inbox.post(message, as: kind)
        // Of these nobody else learns that they were refused.
        if !isPosted, kind == .creation || kind == .change { registry.count { $0.lost += 1 } }
        return isPosted
    }

    /// Returns all workers, the busiest first; none after dispatch has ended.
    package func workers() async -> [WorkerReport] {
        let (answers, reply) = AsyncStream.makeStream(of: [WorkerReport].self, bufferingPolicy: .bufferingOldest(1))
        post(.workers(QueryReply(reply)))
        for await workers in answers { return workers }
        return []
    }

    /// Ends `messages` after the queued ones.
    package func finish() {
        inbox.finish()
    }

    /// Single reader only.
    package var messages: some AsyncSequence<Message, Never> & Sendable { inbox.messages }
}
