internal import Engine

/// Sums over the whole gateway. What goes in must come out, or be counted.
struct Tally {
    var framesIn = 0
    var malformed = 0
    var admitted = 0
    /// By `DropReason`: refused at the publisher's shard, and dropped on the way to one subscriber.
    var refused = [Int](repeating: 0, count: DropReason.allCases.count)
    var dropped = [Int](repeating: 0, count: DropReason.allCases.count)
    var handed = 0
    var written = 0
    var heard = 0
    /// Places that were taken back.
    var resumed = 0
}
