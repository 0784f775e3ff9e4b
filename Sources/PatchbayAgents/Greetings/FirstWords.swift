internal import Wire

/// Decides whether the first user, who was in the room before the assistant, is greeted, or is answered because of earlier speech. A pure value.
///
/// The gateway sends earlier speech directly after the room's state. So the greeting waits for a moment, and if something was said, until it
/// is known whether it had words.
struct FirstWords: Sendable, Hashable {
    /// How long earlier speech may take to arrive after the room's state.
    static let arrivalMax = Duration.milliseconds(60)
    /// Pause after the last earlier frame; live frames follow by then, or silence.
    static let settleSpan = Duration.milliseconds(200)

    let name: String
    /// When the greeting begins if nobody speaks.
    private var greetsAt: Instant

    init(name: String, at now: Instant) {
        self.name = name
        greetsAt = now + Self.arrivalMax
    }

    /// A frame of earlier speech has arrived.
    mutating func heard(at now: Instant) {
        greetsAt = now + Self.settleSpan
    }

    /// Whether there is nothing to answer, so that the greeting begins.
    ///
    /// - Parameter isTalking: an utterance is in progress or waits for its recognition or response.
    func isOver(isTalking: Bool, at now: Instant) -> Bool { !isTalking && now >= greetsAt }
}

/// Whether the first user was greeted or answered.
struct FirstArrival: Sendable, Hashable {
    /// Set while it is open whether the user is greeted or answered.
    var firstWords: FirstWords?
    /// The user has been greeted or answered.
    var isWelcomed = false
    /// The notice about the language is said as soon as nobody speaks.
    var isNoticeDue = false
}
