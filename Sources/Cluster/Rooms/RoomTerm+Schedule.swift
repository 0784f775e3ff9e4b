internal import Wire

extension RoomTerm {
    /// When the record may be written or read, and when it must be.
    struct Schedule {
        /// No write or read that is not for confirmation earlier.
        var notBefore: Instant
        /// The time to read the record if there is nothing to write.
        var confirmAt: Instant
        /// The time to write it even if nothing has changed.
        let refreshAt: Instant
        /// Until then, the writes so far take up one interval each.
        private let paidOffAt: Instant

        init(writtenAt now: Instant, after previous: Schedule? = nil) {
            paidOffAt = max(previous?.paidOffAt ?? now, now) + ClusterLimits.writeInterval
            notBefore = paidOffAt + (.zero - ClusterLimits.writeBurst)
            confirmAt = now + ClusterLimits.confirmationInterval
            refreshAt = now + ClusterLimits.refreshInterval
        }
    }
}
