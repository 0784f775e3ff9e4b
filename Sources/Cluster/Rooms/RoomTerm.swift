internal import Wire

/// A node's term as the home of one room, from its claim until it has stepped down: when the record is written and read, and what follows from
/// the answers.
///
/// At most one read, snapshot or write is under way at a time. Promises are replies that may be sent once the record holds what they promise.
struct RoomTerm {
    private(set) var epoch: RoomEpoch
    /// Replaces `epoch` with the next write, because durable effects of the present one are refused.
    private var raisedEpoch: RoomEpoch?
    /// Nil if the record must be read before it can be written.
    private var revision: UInt64?
    private(set) var operation: Operation?
    private(set) var ending: Ending?
    /// Of the snapshot or write under way, which may have begun before `ending` and `raisedEpoch` were set.
    private var carried = Carried()
    private var otherFields: [JSONValue.Member]
    private var isDirty = false
    /// A write was refused and the record has not been read since.
    private var isInDoubt = false
    /// The broker refuses the room's snapshots, for example because they are too big.
    private var isRefused = false
    /// The record's snapshot, with which the room moves because its last one was refused. Read before it is written.
    private var fallback: [UInt8]?
    private var schedule: Schedule
    private var promises = Promises()

    private struct Carried {
        /// Nil if the term goes on after the write.
        var ending: Ending?
        /// Nil if the record has `epoch`.
        var raisedEpoch: RoomEpoch?
    }

    /// When the record may be written or read, and when it must be.
    private struct Schedule {
        /// The earliest time of the next read or write, except for confirmation.
        var notBefore: Instant
        /// When to read the record if there is nothing to write.
        private(set) var confirmAt: Instant
        /// Until then, the record is read more often: the broker has lost writes, and another home may write its own record again.
        private var watchedUntil: Instant?
        /// When to write it even if nothing has changed.
        let refreshAt: Instant
        /// When the writes so far conform to `writeInterval` on average.
        private let paidOffAt: Instant

        init(writtenAt now: Instant, after previous: Schedule? = nil) {
            paidOffAt = max(previous?.paidOffAt ?? now, now) + ClusterLimits.writeInterval
            notBefore = paidOffAt + (.zero - ClusterLimits.writeBurst)
            refreshAt = now + ClusterLimits.refreshInterval
            (confirmAt, watchedUntil) = (now, previous?.watchedUntil)
            confirmed(at: now)
        }

        mutating func noteLoss(at now: Instant) { watchedUntil = now + ClusterLimits.lossWatch }

        /// The record has been read or written.
        mutating func confirmed(at now: Instant) {
            let isWatched = watchedUntil.map { now < $0 } ?? false
            confirmAt = now + (isWatched ? ClusterLimits.lossConfirmationInterval : ClusterLimits.confirmationInterval)
        }
    }

    private struct Promises {
        /// Since the snapshot under way was collected.
        var given: [PromiseID] = []
        /// Kept by the write under way.
        var covered: [PromiseID] = []
    }

    init(_ record: RoomRecord, revision: UInt64, at now: Instant) {
        epoch = record.epoch
        otherFields = record.otherFields
        self.revision = revision
        schedule = Schedule(writtenAt: now)
    }

    /// When `next` may have something to do.
    var deadline: Instant? {
        guard operation == nil else { return nil }
        return needsWrite || revision == nil ? schedule.notBefore : schedule.confirmAt
    }

    private var needsWrite: Bool { isDirty || !promises.given.isEmpty || ending != nil || raisedEpoch != nil }

    // MARK: Wishes

    mutating func changed() { isDirty = true }

    mutating func promise(_ id: PromiseID) -> Promised {
        guard ending == nil else { return .broken }
        guard !isRefused else {
            isDirty = true
            return .kept
        }
        promises.given.append(id)
        return .waits
    }

    mutating func end(_ ending: Ending, at now: Instant) {
        // A room that is over does not move.
        if self.ending != .closed { self.ending = ending }
        // The last write may succeed where others are refused.
        if isRefused { schedule.notBefore = now }
    }

    /// The record may have changed without this node's knowledge.
    mutating func doubtRevision(at now: Instant) {
        revision = nil
        schedule.notBefore = now
    }

    /// The store refuses durable effects, because a higher epoch has written.
    mutating func superseded(by number: UInt64, claim: UInt64, at now: Instant) {
        // A raised epoch stays: the record may hold it already, although its write was not acknowledged.
        guard number >= (raisedEpoch ?? epoch).number else { return }
        raisedEpoch = RoomEpoch(number: number + 1, claim: claim)
        doubtRevision(at: now)
    }

    // MARK: Steps

    /// The next step, which is then under way.
    mutating func next(at now: Instant) -> Step? {
        guard operation == nil else { return nil }
        guard let revision else {
            guard now >= schedule.notBefore else { return nil }
            operation = .reading
            return .read
        }
        if now >= schedule.refreshAt { isDirty = true }
        if needsWrite {
            guard now >= schedule.notBefore else { return nil }
            guard ending != .closed else { return write([], as: .closed, after: revision) }
            if let fallback { return write(fallback, as: .moved, after: revision) }
            operation = .collecting
            carried.ending = ending
            isDirty = false
            promises = Promises(covered: promises.given)
            return .collect(isLast: ending == .moved)
        }
        guard now >= schedule.confirmAt else { return nil }
        operation = .reading
        return .read
    }

    /// The snapshot that was asked for. It is read again first if the record was doubted meanwhile.
    mutating func collected(_ snapshot: [UInt8], home: NodeIdentity) -> Step? {
        guard operation == .collecting else { return nil }
        guard let revision else {
            operation = nil
            giveBack()
            return nil
        }
        guard ending != .closed else { return write([], as: .closed, after: revision) }
        return write(snapshot, home: home, as: carried.ending, after: revision)
    }

    /// - Parameter home: unless this is the last write.
    private mutating func write(_ snapshot: [UInt8], home: NodeIdentity? = nil, as ending: Ending?, after revision: UInt64) -> Step {
        operation = .writing
        carried = Carried(ending: ending, raisedEpoch: raisedEpoch)
        var record = RoomRecord(epoch: raisedEpoch ?? epoch, home: ending == nil ? home : nil, snapshot: snapshot)
        record.otherFields = otherFields
        return .write(record, after: revision)
    }

    // MARK: Answers

    mutating func written(_ result: Result<UInt64, BrokerError>, at now: Instant) -> Outcome {
        operation = nil
        switch result {
        case .success(let revision):
            isRefused = false
            // A doubt that came up meanwhile remains.
            if self.revision != nil { self.revision = revision }
            schedule = Schedule(writtenAt: now, after: schedule)
            let kept = promises.covered
            promises.covered = []
            if let ending, ending == carried.ending { return .ended(ending, kept: kept) }
            guard let written = carried.raisedEpoch else { return .continues(kept: kept) }
            epoch = written
            if raisedEpoch == written { raisedEpoch = nil }
            return .raised(kept: kept)
        case .failure(.refused(let reason)): return refused(reason, at: now)
        case .failure(let error):
            giveBack()
            isInDoubt = error == .conflict
            doubtRevision(at: error == .conflict ? now : now + ClusterLimits.retryInterval)
            return .continues(kept: [])
        }
    }

    /// The next attempt would hardly succeed, so replies do not wait for it. A room that is to move does not wait either.
    private mutating func refused(_ reason: String, at now: Instant) -> Outcome {
        let wasLast = carried.ending == .moved && fallback == nil
        if wasLast { fallback = [] }
        giveBack()
        let kept = ending == nil ? promises.given : []
        if ending == nil { promises = Promises() }
        doubtRevision(at: wasLast ? now : now + ClusterLimits.refusalInterval)
        defer { isRefused = true }
        return isRefused ? .continues(kept: kept) : .refused(reason, kept: kept)
    }

    mutating func read(_ result: Result<(RoomRecord, revision: UInt64)?, BrokerError>, at now: Instant) -> Outcome {
        operation = nil
        switch result {
        case .success(let found?) where found.0.epoch > epoch && found.0.epoch != raisedEpoch:
            return .lost(to: found.0.home)
        case .success(let found):
            // A lower epoch, or none, is left if the broker has lost its last writes.
            if found?.0.epoch != epoch {
                isDirty = true
                schedule.noteLoss(at: now)
            }
            (revision, isInDoubt) = (found?.revision ?? 0, false)
            if fallback != nil { fallback = found?.0.snapshot ?? [] }
            schedule.confirmed(at: now)
            return .continues(kept: [])
        case .failure:
            // The refusal has told that somebody else has written.
            guard !isInDoubt else { return .lost(to: nil) }
            doubtRevision(at: now + ClusterLimits.retryInterval)
            return .continues(kept: [])
        }
    }

    private mutating func giveBack() {
        isDirty = true
        promises = Promises(given: open)
    }

    /// The promises that have not been kept, for the end of the term.
    var open: [PromiseID] { promises.covered + promises.given }
}
