package import Engine
package import Wire

/// The queue through which shards and other services reach `DispatchService`, from any thread. Messages are handled in the order of posting.
///
/// | message | limit | beyond it |
/// |---|---|---|
/// | `opened` | `devicesMax` channels whose `closed` is not yet handled | refused: the shard closes the channel |
/// | `closed` | one for each accepted `opened` | always accepted |
/// | `request` | `requestsMax` waiting | refused with `limit_exceeded` |
/// | jobs | `requestsMax` waiting, counted apart | refused and counted as lost |
/// | rooms and agents | `changesMax` waiting | dropped and counted as lost |
/// | `workers` | `queriesMax` queued | dropped: the query has no result |
/// | `drain` | one | ignored |
/// | `resign` | one for each end of this node's time as the coordinator | always accepted |
///
/// In a cluster, messages of rooms and services go to the coordinator.
package final class DispatchInbox: Sendable {
    package enum Message: Sendable {
        /// An assistant's channel.
        case opened(ChannelAddress, assistant: Identity)
        case closed(DeviceID)
        case request(WorkerRequest, id: UInt64?, from: DeviceID)
        /// From a room or another service.
        case service(DispatchServiceMessage)
        /// An operator requests the list of workers.
        case workers(QueryReply<[WorkerReport]>)
        case drain
        /// Another node dispatches from now on.
        case resign
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
    private let relay: NodeRelay?

    /// - Parameter relay: to the node that dispatches for a cluster; nil for a gateway that runs alone.
    package init(limits: Limits = Limits(), relay: NodeRelay? = nil) {
        self.relay = relay
        inbox = ServiceInbox(
            limits: [
                .device: limits.devicesMax, .request: limits.requestsMax, .creation: limits.requestsMax, .change: limits.changesMax,
                .query: limits.queriesMax, .drain: 1,
            ]
        ) { message in
            switch message {
            case .closed: .device
            case .request: .request
            case .service(let message): Self.kind(of: message)
            case .workers: .query
            case .opened, .drain, .resign: nil
            }
        }
    }

    private static func kind(of message: DispatchServiceMessage) -> Kind {
        switch message {
        case .create, .recall: .creation
        case .roomOpened, .roomIsOpen, .agent, .attended, .roomEnded: .change
        }
    }

    /// - Returns: false if the message was refused because of its limit.
    @discardableResult
    package func post(_ message: Message) -> Bool {
        let kind: Kind? =
            switch message {
            case .opened: .device
            case .closed, .resign: nil
            case .request: .request
            case .service(let message): Self.kind(of: message)
            case .workers: .query
            case .drain: .drain
            }
        return inbox.post(message, as: kind)
    }

    /// Posts a message to the node that dispatches.
    ///
    /// - Returns: false if the message was refused because of a limit; it is then counted, because nobody else learns of it.
    @discardableResult
    package func post(_ message: DispatchServiceMessage) -> Bool {
        let isPosted =
            switch relay?(.dispatch(message)) ?? .here {
            case .here: accept(message)
            case .taken, .outdated: true
            case .refused: false
            }
        if !isPosted { registry.count { $0.lost += 1 } }
        return isPosted
    }

    /// Posts a message of this node or of another one to the dispatch service of this node.
    @discardableResult
    package func accept(_ message: DispatchServiceMessage) -> Bool { post(.service(message)) }

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
