internal import Wire

/// What the agenda holds. Lines, shards and peers by number.
enum Happening {
    // On a path.
    case departs(line: Int)
    case arrives(line: Int)
    case reads(line: Int)
    case reaches(line: Int)
    case writable(line: Int)
    // At a shard.
    case turn(shard: Int)
    case wakes(shard: Int)
    case closes(line: Int)
    case upgraded(line: Int)
    // At a peer.
    case connects(peer: Int)
    case acts(peer: Int)
    case speaks(stay: Int, track: Int)
    case keepsAlive(stay: Int)
    case answers(stay: Int, call: String)
    case reports(stay: Int, track: TrackSID)
    // In the world.
    case trouble
    case review
    case phase(Phase)
}

/// What is expected of a world.
enum Phase {
    /// Faults run; nothing may be wrong.
    case chaos
    /// No more faults. Everybody comes back and asks for what it wants.
    case healed
    /// What is said from now on must be heard by all who may hear it.
    case audible
    /// Nobody speaks any more; what was said is waited for.
    case hushed
    /// Everybody has been heard, and goes.
    case leaving
    /// Nothing may be left of anybody.
    case over
}
