internal import Wire

/// An event of the simulation. Connections, shards and peers are identified by number.
enum ScheduledEvent {
    // Paths.
    case departs(connection: Int)
    case arrives(connection: Int)
    case reads(connection: Int)
    case reaches(connection: Int)
    case writable(connection: Int)
    // Shards.
    case turn(shard: Int)
    case wakes(shard: Int)
    case closes(connection: Int)
    case upgraded(connection: Int)
    // Peers.
    case connects(peer: Int)
    case acts(peer: Int)
    case speaks(session: Int, track: Int)
    case keepsAlive(session: Int)
    case answers(session: Int, call: String)
    case reports(session: Int, track: TrackSID)
    // The world.
    case fault
    case expectation
    case administration
    case review
    case phase(Phase)
}

/// Phases of a world, in order.
enum Phase {
    /// Faults are injected; only safety is checked.
    case chaos
    /// Faults have ended. All peers reconnect and subscribe to everything.
    case recovery
    /// Frames sent from now on must reach every permitted subscriber.
    case liveness
    /// Publishing has stopped; sent frames are still being delivered.
    case draining
    /// All peers leave.
    case leaving
    /// No state may remain.
    case over
}
