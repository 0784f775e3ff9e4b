package import Wire

/// The inputs and effects of a node's decisions.
extension ClusterStateMachine {
    package enum Input: Sendable {
        case connected
        case disconnected
        case received(NodeBeat)
        /// A join, a resume or the start of a session needs the room's home.
        case wanted(room: String, by: RequesterID)
        /// A request concerns a room only if it is open: unlike `wanted`, it begins none.
        case sought(room: String, by: RequesterID)
        /// The state of a room whose home is this node has changed, so that its snapshot is out of date.
        case changed(room: String)
        /// As `changed`, for a reply that may be sent only once the record holds it.
        case promised(room: String, PromiseID)
        /// The answer to `collect`.
        case collected(room: String, snapshot: [UInt8])
        case closed(room: String)
        /// Hands a room over to whoever wants it next.
        case moved(room: String)
        /// The store has refused a durable effect of a room, because this epoch has written.
        case superseded(room: String, byNumber: UInt64)
        case read(room: String, Result<StoredRecord?, BrokerError>)
        case written(room: String, Result<UInt64, BrokerError>)
        /// Another node reports that it considers this one ended, so others may be the homes of its rooms.
        case takenForEnded
        /// This node takes no new rooms from now on.
        case drain
        /// The current load of this node, about once a second.
        case measured(NodeLoad)
        case deadlinePassed
    }

    package enum Effect: Sendable, Hashable {
        case publish(NodeBeat)
        case read(room: String)
        case write(room: String, RoomRecord, after: UInt64)
        /// The room's snapshot is needed. After the last one, nothing may change until `ended` or `resumed`.
        case collect(room: String, isLast: Bool)
        case resumed(room: String)
        case answer(RequesterID, Answer)
        /// This node is the room's home. The snapshot is empty for a new room.
        case began(room: String, RoomEpoch, snapshot: [UInt8], former: NodeIdentity?)
        case raised(room: String, RoomEpoch)
        case ended(room: String, EndReason)
        /// The broker refuses the room's snapshots. Reported once, and again only after it has accepted one.
        case refused(room: String, String)
        case kept(PromiseID)
        case broken(PromiseID)
        /// Another node with the same name runs, and was first.
        case nameTaken
    }

    package enum Answer: Sendable, Hashable {
        /// This node is the room's home.
        case local(RoomEpoch)
        case elsewhere(NodeIdentity)
        /// The broker does not answer.
        case unavailable
        /// This node takes no new rooms.
        case draining
        /// No node has the room, and there is nothing to go on with. Answers only `sought`.
        case notOpen
    }

    package enum EndReason: Sendable, Hashable {
        case closed, moved
        /// Another node is the home, if it is known.
        case lost(to: NodeIdentity?)
    }
}

/// The inputs and results of one term.
extension RoomTerm {
    enum Operation {
        case reading, collecting, writing
    }

    /// Why the record will be written for the last time.
    enum Ending {
        /// The room is over.
        case closed
        /// Another node is to go on with it.
        case moved
    }

    enum Promised {
        case waits
        /// The broker refuses the record, and the room goes on without it.
        case kept
        /// The room is ending, so that nothing can be promised any more.
        case broken
    }

    enum Step {
        case read
        /// A snapshot is needed; it is the last one if the room is to move.
        case collect(isLast: Bool)
        case write(RoomRecord, after: UInt64)
    }

    enum Outcome {
        case continues(kept: [PromiseID])
        /// The store accepts durable effects again.
        case raised(kept: [PromiseID])
        /// The first refusal since a record was accepted.
        case refused(String, kept: [PromiseID])
        /// The last write is done.
        case ended(Ending, kept: [PromiseID])
        /// Another node is the room's home, or has been.
        case lost(to: NodeIdentity?)
    }
}

/// Identifies a request for a room's home.
package struct RequesterID: Hashable, Sendable {
    package let number: UInt64
    package init(_ number: UInt64) { self.number = number }
}

/// A reply that waits for its room's record.
package struct PromiseID: Hashable, Sendable {
    package let number: UInt64
    package init(_ number: UInt64) { self.number = number }
}
