/// What the services need of the gateway's shards. `Gateway` supplies it; nothing here knows sockets or threads.
package struct ShardControl: Sendable {
    /// Number of shards.
    package var count: Int
    /// The shard that an open room is homed on; nil if no room of that name is open.
    package var homeShard: @Sendable (_ room: String) -> Int?
    /// Whether the gateway is about to stop, so that nobody is admitted to a room any more.
    package var isDraining: @Sendable () -> Bool
    /// Sends a request to a shard's mailbox. A shard that has ended drops it.
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

/// What a service asks of one shard.
package enum ShardRequest: Sendable {
    case query(RoomQuery, RoomQueryReply)
    case device(DeviceOrder)
}
