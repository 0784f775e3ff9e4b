/// A run's stages, in their order.
enum RunPhase: Int, Comparable, Sendable {
    /// Calls begin, and talk already.
    case ramping
    /// All have begun; what is counted does not count yet.
    case warming
    case measuring
    /// Nothing is sent any more; what is on its way may arrive.
    case draining
    case leaving
    case done

    static func < (left: RunPhase, right: RunPhase) -> Bool { left.rawValue < right.rawValue }
}
