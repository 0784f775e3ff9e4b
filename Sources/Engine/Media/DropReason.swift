/// Why a frame went no further. Each is counted by shard and shown by `/metrics`.
package enum DropReason: Int, CaseIterable, Sendable {
    /// Not a frame at all (PROTOCOL section 3).
    case malformed
    /// The alias is of no track that the sender has published.
    case notPublished
    case muted
    /// The publisher is on hold.
    case held
    /// An epoch that is over.
    case epoch
    /// More than 100 frames a second.
    case rate
    /// More than 60 s, or 2 MiB, ahead of what plays.
    case ahead
    /// It was cleared, or its track ended, before it was let out.
    case cleared
    /// It waited too long for a subscriber that is slow.
    case age
    /// A subscriber's outbox, the shard's store, or what is kept for a subscriber that is behind, was full.
    case full
    /// The subscriber left while it waited.
    case left
    /// The subscriber's socket is lost, or has just come back and is told what it missed.
    case away

    /// As `/metrics` names it.
    package var name: String {
        switch self {
        case .malformed: "malformed"
        case .notPublished: "not_published"
        case .muted: "muted"
        case .held: "held"
        case .epoch: "epoch"
        case .rate: "rate"
        case .ahead: "ahead"
        case .cleared: "cleared"
        case .age: "age"
        case .full: "full"
        case .left: "left"
        case .away: "away"
        }
    }
}
