package import Engine
package import Store
internal import Synchronization
package import Wire

/// A message between nodes of a cluster: to the services that one node, the coordinator, runs for all of them, or from these to a room at
/// its home.
package enum NodeMessage: Sendable, Hashable, Codable {
    case dispatch(DispatchServiceMessage)
    case calls(CallServiceMessage)
    case command(RoomCommand, room: String)
    /// The sender considers the receiver ended, because its beats do not arrive.
    case takenForEnded
}

/// Carries messages to other nodes.
package typealias NodeRelay = @Sendable (NodeMessage) -> NodeRelayOutcome

package enum NodeRelayOutcome: Sendable, Hashable {
    /// The message is for this node.
    case here
    /// It will be delivered in order, once the other node can be reached.
    case taken
    /// Too many messages are waiting.
    case refused
    /// A report about a room that another node has taken over since. It is ignored.
    case outdated
}

/// A message to the dispatch service, from a room or from another service.
///
/// Reports about a room carry the epoch of its home; nil without a cluster, and from nodes of earlier versions.
package enum DispatchServiceMessage: Sendable, Hashable, Codable {
    /// A session or a call asks for an assistant.
    case create(JobRequest)
    /// The call does not need the assistant any more.
    case recall(assistant: String, CallID)
    /// A room has opened; the token that opened it asks for these assistants.
    case roomOpened(String, [AgentRequest], epoch: RoomEpoch? = nil)
    /// A room that was open before this node became the coordinator: assistants that it asks for, and those that it has.
    case roomIsOpen(String, missing: [AgentRequest], present: [Identity], epoch: RoomEpoch? = nil)
    case agent(Identity, in: String, AgentPresence, epoch: RoomEpoch? = nil)
    /// The first user has come to a room, or the last one has left it.
    case attended(String, Bool, epoch: RoomEpoch? = nil)
    /// The room, or the session whose room it would have been, has ended.
    case roomEnded(String, epoch: RoomEpoch? = nil)
}

/// A message to the call service, from a room or from another service.
package enum CallServiceMessage: Sendable, Hashable, Codable {
    /// A loss is a departure that the participant did not intend. The epoch is that of the room's home, as in `DispatchServiceMessage`.
    case room(CallID, CallRoomChange, isLoss: Bool, epoch: RoomEpoch? = nil)
    /// An event for all devices of an owner.
    case notice([UInt8], to: Identity)
    /// A user's tokens are revoked. Its calls continue.
    case revoked(Identity)
    case deleted(Identity)
}

/// A command of a service to a room, which expects no answer.
package enum RoomCommand: Sendable, Hashable, Codable {
    case close(DisconnectReason)
    case remove(Identity)
    case giveUp(Identity)
    case hold(Identity, Bool)
    case muteParticipant(Identity, Bool)
    case agentWaiting(Identity, AgentWaitReason)
    case agentExpected(Identity, Bool)

    package var administration: Room.AdminCommand {
        switch self {
        case .close(let reason): .close(reason)
        case .remove(let identity): .remove(identity)
        case .giveUp(let identity): .giveUp(identity)
        case .hold(let identity, let isHeld): .hold(identity, isHeld)
        case .muteParticipant(let identity, let isMuted): .muteParticipant(identity, isMuted)
        case .agentWaiting(let identity, let reason): .agentWaiting(identity, reason)
        case .agentExpected(let identity, let isExpected): .agentExpected(identity, isExpected)
        }
    }
}

/// Messages of one node to another, which are delivered together and in order.
package struct NodeMessageBatch: Sendable {
    /// The sender, by its name in the cluster.
    package var sender: String
    /// Higher than in all earlier batches of this sender to this receiver. A repeated batch has the same number.
    package var number: UInt64
    package var messages: [NodeMessage]

    package init(sender: String, number: UInt64, messages: [NodeMessage]) {
        (self.sender, self.number, self.messages) = (sender, number, messages)
    }

    private struct Wrapper: Encodable {
        var sender: String
        var number: UInt64
        var messages: [NodeMessage]
    }

    package var bytes: [UInt8] {
        // Encoding strings and numbers cannot fail.
        (try? JSON.encode(Wrapper(sender: sender, number: number, messages: messages), names: .asDeclared)) ?? []
    }

    /// Ignores messages of kinds that this version does not know.
    ///
    /// - Returns: nil for bytes that are no batch.
    package init?(_ bytes: [UInt8]) {
        struct Lenient: Decodable {
            var sender: String
            var number: UInt64
            var messages: [Known]

            struct Known: Decodable {
                var message: NodeMessage?
                init(from decoder: any Decoder) throws { message = try? NodeMessage(from: decoder) }
            }
        }
        guard let batch = try? JSON.decode(Lenient.self, from: bytes, names: .asDeclared) else { return nil }
        self.init(sender: batch.sender, number: batch.number, messages: batch.messages.compactMap(\.message))
    }
}

// MARK: - Notices

/// A notice to all other nodes of a cluster that state which they keep in memory is out of date.
///
/// Unlike messages, notices are not ordered, and the sender can wait until they have taken effect.
package enum NodeNotice: Sendable, Hashable, Codable {
    /// Definitions of assistants have changed in the store.
    case assistants
    /// Sessions of the user, or the content of their briefings, have changed in the store.
    case sessions(of: UserID)
    /// Guesses for an account have failed; they are limited across all nodes (`GuessLimit`).
    case failures(of: String, count: Int)

    /// Whether the notice is sent again to a node that does not respond.
    package var mustArrive: Bool { if case .failures = self { false } else { true } }
}

/// Handles notices from other nodes. Created before the services that handle them.
package final class NodeNotices: Sendable {
    private let handler = Mutex<(@Sendable (NodeNotice) async -> Void)?>(nil)

    func handle(_ body: @escaping @Sendable (NodeNotice) async -> Void) { handler.withLock { $0 = body } }

    /// Returns when the notice has taken effect on this node.
    package func apply(_ notice: NodeNotice) async { await handler.withLock { $0 }?(notice) }
}
