package import Wire

/// The one time at which a room wants to be woken.
///
/// It is set to the earliest of many deadlines and never put off when one of them moves: being woken too early costs a
/// look around, keeping all deadlines sorted would cost on every event.
package struct EarliestDeadline: Sendable {
    package private(set) var instant: Instant?

    package init() {}

    package mutating func include(_ deadline: Instant) {
        instant = instant.map { min($0, deadline) } ?? deadline
    }

    package mutating func include(_ deadline: Instant?) {
        if let deadline { include(deadline) }
    }

    package mutating func clear() {
        instant = nil
    }
}
