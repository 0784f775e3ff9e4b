package import Wire

extension AheadTrack {
    // Mutating, to access the track in position: a copy costs reference counting.

    package var subscriberCount: Int { mutating get { subscribers.count } }

    /// The slot of the subscriber at an index.
    package mutating func slot(ofSubscriber index: Int) -> UInt32 { subscribers[index].slot }

    /// The index of the subscriber in a slot; nil if there is none.
    package mutating func subscriber(at slot: UInt32) -> Int? { subscribers.firstIndex { $0.slot == slot } }

    /// Adds a subscriber at the next frame to play, on the common clock.
    ///
    /// - Parameter from: position of a subscriber that resumes; frames released since then play from now on, on a clock of its own.
    package mutating func add(subscriber slot: UInt32, from: MediaTime?, at now: Instant) {
        guard subscriber(at: slot) == nil else { return }
        let next = offsetOfNextToPlay(at: now)
        if let from, let offset = offset(ofFrameAt: from, before: next) {
            var cursor = AheadCursor(offset: offset, at: now)
            cursor.startClock(at: queue.entry(at: offset).timestamp, now: now)
            subscribers.append(Subscriber(slot: slot, cursor: cursor))
        } else {
            subscribers.append(Subscriber(slot: slot, cursor: reference.joining(at: next, now: now)))
        }
    }

    package mutating func remove(subscriber slot: UInt32) {
        subscribers.removeAll { $0.slot == slot }
    }

    /// The first frame that plays from now on by the reference's clock.
    func offsetOfNextToPlay(at now: Instant) -> Int {
        guard !isPaused, let clock = reference.clock else { return reference.offset }
        var offset = max(queue.start, clockStart)
        while offset < reference.offset {
            let entry = queue.entry(at: offset)
            if clock.instant(of: entry.timestamp) >= now { break }
            offset = entry.next
        }
        return offset
    }

    /// The first retained frame at or after that time; nil if there is none before `end`.
    func offset(ofFrameAt time: MediaTime, before end: Int) -> Int? {
        var offset = queue.start
        while offset < end {
            let entry = queue.entry(at: offset)
            if entry.timestamp.distance(from: time) >= 0 { return offset }
            offset = entry.next
        }
        return nil
    }
}

/// Releasing frames, and retaining released ones.
extension AheadTrack {
    /// Size of one message that was written for a subscriber.
    package struct Output: Sendable, Hashable {
        package let bytes: Int
        package let frames: Int
    }

    /// Advances the reference.
    ///
    /// - Parameter onlyIfUrgent: a pass between two regular ones; frames that are not urgent wait to be bundled.
    package mutating func releaseReference(at now: Instant, onlyIfUrgent: Bool) {
        guard !isPaused, !onlyIfUrgent || reference.isUrgent(at: now) else { return }
        while let batch = reference.take(from: queue, upTo: queue.end, frameTicks: frameTicks, at: now) { waitingFrames -= batch.frames }
    }

    /// The next header released by the reference, each once: frames are metered when they play, not when they are published.
    package mutating func nextReleasedHeader() -> FrameHeader? {
        guard sid != nil, metered < reference.offset else { return nil }
        defer { (newestMetered, metered) = (metered, queue.next(after: metered)) }
        return queue.header(at: metered)
    }

    /// Passes the frame of that header and its playout time. Valid during the call only.
    package func withReleasedFrame(_ body: (_ frame: UnsafeRawBufferPointer, _ playsAt: Instant) -> Void) {
        guard let clock = reference.clock, newestMetered >= queue.start, newestMetered < metered else { return }
        let playsAt = clock.instant(of: queue.entry(at: newestMetered).timestamp)
        queue.forEachFrame(in: newestMetered..<metered) { body($0, playsAt) }
    }

    /// Whether a message is due for a subscriber. Mutating, so that the track is accessed in place: a copy costs reference counting.
    package mutating func isDue(forSubscriber index: Int, at now: Instant, onlyIfUrgent: Bool) -> Bool {
        !isPaused && subscribers[index].cursor.isDue(in: queue, at: now) && (!onlyIfUrgent || subscribers[index].cursor.isUrgent(at: now))
    }

    /// Writes the next message due for a subscriber, and advances its cursor; nil if none is due.
    ///
    /// - Parameter buffer: room for the longest message, 16 KiB.
    package mutating func release(toSubscriber index: Int, at now: Instant, into buffer: UnsafeMutableRawPointer) -> Output? {
        guard !isPaused, let batch = takeBatch(forSubscriber: index, at: now) else { return nil }
        let afterDrop = subscribers[index].cursor.takeInterruption()
        let isBundle = batch.frames > 1
        let lengthBytes = MemoryLayout<UInt16>.size
        if isBundle {
            buffer.storeBytes(of: FrameKind.bundle.rawValue, as: UInt8.self)
            buffer.storeBytes(of: UInt8(batch.frames), toByteOffset: 1, as: UInt8.self)
            queue.copy(batch.range, to: buffer + Self.bundleHeadBytes)
        } else {
            queue.forEachFrame(in: batch.range) { buffer.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
        }
        if afterDrop {
            let flags = buffer + (isBundle ? Self.bundleHeadBytes + lengthBytes : 0) + 1
            flags.storeBytes(of: flags.load(as: UInt8.self) | FrameFlags.discontinuity.rawValue, as: UInt8.self)
        }
        return Output(bytes: batch.range.count + (isBundle ? Self.bundleHeadBytes : -lengthBytes), frames: batch.frames)
    }

    private mutating func takeBatch(forSubscriber index: Int, at now: Instant) -> AheadCursor.Batch? {
        let offset = subscribers[index].cursor.offset
        if offset == clockStart, offset < queue.end, let clock = reference.clock {
            subscribers[index].cursor.adoptLaterClock(before: queue.entry(at: offset).timestamp, of: clock)
        }
        let limit = offset < clockStart ? clockStart : queue.end
        return subscribers[index].cursor.take(from: queue, upTo: limit, frameTicks: frameTicks, at: now)
    }

    /// Frames that a subscriber lost since the last call.
    package mutating func takeSkippedFrames(ofSubscriber index: Int) -> Int {
        defer { subscribers[index].skippedFrames = 0 }
        return subscribers[index].skippedFrames
    }

    /// Drops frames that are no longer needed.
    mutating func dropOld(at now: Instant) {
        var slowest = reference.offset
        for subscriber in subscribers { slowest = min(slowest, subscriber.cursor.offset) }
        if slowest == queue.end, now - reference.playedOut > Limits.aheadRetainedSpan {
            if queue.start < queue.end { queue.release() }
            return
        }
        while queue.start < reference.offset {
            let entry = queue.entry(at: queue.start)
            if reference.offset - queue.start > Limits.aheadRetainedBytesMax {
                for index in subscribers.indices where subscribers[index].cursor.offset == queue.start {
                    subscribers[index].cursor.skip(to: entry.next)
                    subscribers[index].skippedFrames += 1
                }
            } else {
                guard queue.start < slowest, isOld(entry.timestamp) else { return }
            }
            queue.drop(before: entry.next)
        }
    }

    private func isOld(_ time: MediaTime) -> Bool {
        guard let end = reference.endOfOutput else { return true }
        return isExpired(time, age: Int(end.distance(from: time)))
    }
}

/// Reports to the room, from the publisher's shard only.
extension AheadTrack {
    package var hasReports: Bool { mutating get { !reports.isEmpty } }

    package mutating func takeReports() -> [Room.PlayoutQueueReport] {
        defer { reports.removeAll() }
        return reports
    }

    /// Produces reports that are due, and drops old frames.
    ///
    /// - Returns: when to call again; nil if nothing is left to do.
    package mutating func settle(at now: Instant) -> Instant? {
        dropOld(at: now)
        if sid != nil {
            reportReceived(at: now)
            reportDrained(at: now)
            if let report = backlog.report(queuedMilliseconds: queuedMilliseconds(at: now), at: now) { enqueue(report) }
        }
        let isIdle = queue.start == queue.end && hasReportedDrained && (sid == nil || backlog.isSettled)
        return isIdle ? nil : nextDeadline(after: now)
    }

    /// When the next release or report is due unless the track changes; at most a second ahead, for old frames.
    private func nextDeadline(after now: Instant) -> Instant {
        var next = now + .seconds(1)
        if !isPaused {
            if let due = reference.nextDue(in: queue) { next = min(next, due) }
            for subscriber in subscribers {
                if let due = subscriber.cursor.nextDue(in: queue) { next = min(next, due) }
            }
        }
        guard sid != nil else { return next }
        if !hasReportedDrained, reference.offset == queue.end {
            next = min(next, reference.playedOut + (.zero - Limits.aheadDrainedNotice))
        }
        return backlog.isSettled ? next : min(next, now + Self.backlogCheckInterval)
    }

    private static let backlogCheckInterval: Duration = .milliseconds(100)

    /// Milliseconds still to play by the reference's clock.
    package func queuedMilliseconds(at now: Instant) -> Int {
        if isPaused, reference.offset < queue.end {
            let waiting = publishedEnd?.distance(from: queue.entry(at: reference.offset).timestamp) ?? 0
            return max(0, Int(waiting) / MediaTime.ticksPerMillisecond)
        }
        let end = reference.offset < queue.end ? publishedEnd.flatMap { reference.clock?.instant(of: $0) } : reference.playedOut
        return max(0, Int((end.map { $0 - now } ?? .zero).inMilliseconds))
    }

    mutating func enqueue(_ report: Room.PlayoutQueueReport) {
        if sid != nil { reports.append(report) }
    }

    /// A frame was appended when everything before it had been released.
    mutating func recordAppend(clockContinues: Bool, _ time: MediaTime, _ offset: Int) {
        if clockContinues {
            if hasReportedDrained { enqueue(.refilled(epoch: epoch)) }
            hasReportedDrained = false
        } else {
            clockStart = offset
            reportStarted(at: time, hadDrained: true)
        }
    }

    /// The reference has a new clock.
    mutating func reportStarted(at time: MediaTime, hadDrained: Bool) {
        guard let playsAt = reference.clock?.instant(of: time) else { return }
        if hadDrained, !hasReportedDrained, let end = reference.endOfOutput { enqueue(.drained(epoch: epoch, end: end)) }
        hasReportedDrained = false
        enqueue(.started(epoch: epoch, at: time, playsAt: playsAt))
    }

    /// Repeated while the clock runs, so that the room's images are not old.
    private mutating func reportReceived(at now: Instant) {
        guard !hasReportedDrained, now >= receivedReportAt, let publishedEnd, !isPaused || publishedEnd != reportedEnd else {
            return
        }
        (receivedReportAt, reportedEnd) = (now + Limits.aheadReceivedInterval, publishedEnd)
        enqueue(.received(epoch: epoch, end: publishedEnd))
    }

    /// Reported when little is left to play, not at once: a publisher that continues in time has not underrun.
    private mutating func reportDrained(at now: Instant) {
        guard !hasReportedDrained, reference.offset == queue.end, reference.playedOut < now + Limits.aheadDrainedNotice,
            let end = reference.endOfOutput
        else { return }
        hasReportedDrained = true
        enqueue(.drained(epoch: epoch, end: end))
    }
}
