/// The services' interface to the gateway's shards, implemented by `Gateway`.
package struct ShardControl: Sendable {
    /// Number of shards.
    package var count: Int
    /// The home shard of an open room; nil if no room of that name is open.
    package var homeShard: @Sendable (_ room: String) -> Int?
    /// Whether the gateway is draining and admits no new participants.
    package var isDraining: @Sendable () -> Bool
    /// Sends a request to a shard's mailbox. A stopped shard drops it.
    package var send: @Sendable (ShardRequest, _ shard: Int) -> Void

    package init(
        count: Int, homeShard: @escaping @Sendable (_ room: String) -> Int?, isDraining: @escaping @Sendable () -> Bool,
        send: @escaping @Sendable (ShardRequest, _ shard: Int) -> Void
    ) {
        self.count = count
        self.homeShard = homeShard
        self.isDraining = isDraining
        self.send = send
    }
}

/// A request to one shard.
package enum ShardRequest: Sendable {
    case query(RoomQuery, RoomQueryReply)
    case device(DeviceCommand)
}
