import Wire

/// What the desk knows of one user, or of one assistant.
struct CallUser: Sendable {
    /// In the order in which they connected.
    var devices: [DeviceID] = []
    /// The calls it was told of, oldest first; those too that were over a short while ago.
    var calls: [CallID] = []
    var starts = TokenBucket(perSecond: Limits.callStartsPerSecond, burst: Limits.callStartBurst)

    var isIdle: Bool { devices.isEmpty && calls.isEmpty }
}

/// A time at which to look at a call, or at one member of it.
struct CallTimer: Sendable {
    var at: Instant
    var call: CallID
    /// Nil where the whole call is meant.
    var party: CallParty?
    /// The member's at the time when this was set: another one since means that this is settled.
    var stamp: UInt64 = 0
}
