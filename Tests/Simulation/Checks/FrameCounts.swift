internal import Engine

/// Totals over all shards. Every frame must be delivered, or dropped and counted.
struct FrameCounts {
    var framesIn = 0
    var malformed = 0
    var admitted = 0
    /// By `DropReason`: rejected on the publisher's shard, and dropped on the way to one subscriber.
    var rejected = [Int](repeating: 0, count: DropReason.allCases.count)
    var dropped = [Int](repeating: 0, count: DropReason.allCases.count)
    var handed = 0
    var written = 0
    var received = 0
    /// Sent to agents that subscribed later.
    var earlier = 0
    /// Successful resumes.
    var resumed = 0
}
