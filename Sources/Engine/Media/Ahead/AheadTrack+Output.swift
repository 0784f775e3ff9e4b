package import Wire

/// What is let out, and what is kept of it.
extension AheadTrack {
    /// One message to a subscriber, as it was written to a buffer.
    package struct Output: Sendable, Hashable {
        package let bytes: Int
        package let frames: Int
    }

    /// Moves the reference to where it is now.
    ///
    /// - Parameter onlyIfUrgent: a look between two of those that come by the clock; what is not urgent waits for more to go with it.
    package mutating func releaseReference(at now: Instant, onlyIfUrgent: Bool) {
        guard !isPaused, !onlyIfUrgent || reference.isUrgent(at: now) else { return }
        while let batch = reference.take(from: queue, upTo: queue.end, frameTicks: frameTicks, at: now) { waitingFrames -= batch.frames }
    }

    /// The next header of what the reference has let out, each once: what a meter is to see when it plays, not when it was published.
    package mutating func nextReleasedHeader() -> FrameHeader? {
        guard sid != nil, metered < reference.offset else { return nil }
        defer { (newestMetered, metered) = (metered, queue.next(after: metered)) }
        return queue.header(at: metered)
    }

    /// Shows the frame whose header that was, and when it plays. It is there during the call only.
    package func withReleasedFrame(_ body: (_ frame: UnsafeRawBufferPointer, _ playsAt: Instant) -> Void) {
        guard let clock = reference.clock, newestMetered >= queue.start, newestMetered < metered else { return }
        let playsAt = clock.instant(of: queue.entry(at: newestMetered).timestamp)
        queue.forEachFrame(in: newestMetered..<metered) { body($0, playsAt) }
    }

    /// Whether something is to leave for a subscriber now.
    ///
    /// Mutating, so that the track is looked at where it is: a copy costs reference counts.
    package mutating func isDue(forSubscriber index: Int, at now: Instant, onlyIfUrgent: Bool) -> Bool {
        !isPaused && subscribers[index].cursor.isDue(in: queue, at: now) && (!onlyIfUrgent || subscribers[index].cursor.isUrgent(at: now))
    }

    /// Writes the next message that is due for a subscriber, and counts it as let out; nil while none is.
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
            subscribers[index].cursor.keepSilence(before: queue.entry(at: offset).timestamp, of: clock)
        }
        let limit = offset < clockStart ? clockStart : queue.end
        return subscribers[index].cursor.take(from: queue, upTo: limit, frameTicks: frameTicks, at: now)
    }

    /// How many frames a subscriber has lost since the last call.
    package mutating func takeSkippedFrames(ofSubscriber index: Int) -> Int {
        defer { subscribers[index].skippedFrames = 0 }
        return subscribers[index].skippedFrames
    }

    /// Forgets what nobody will want any more.
    mutating func forgetOld(at now: Instant) {
        var slowest = reference.offset
        for subscriber in subscribers { slowest = min(slowest, subscriber.cursor.offset) }
        if slowest == queue.end, now - reference.playedOut > Limits.aheadKeptSpan {
            if queue.start < queue.end { queue.release() }
            return
        }
        while queue.start < reference.offset {
            let entry = queue.entry(at: queue.start)
            if reference.offset - queue.start > Limits.aheadKeptBytesMax {
                for index in subscribers.indices where subscribers[index].cursor.offset == queue.start {
                    subscribers[index].cursor.skip(to: entry.next)
                    subscribers[index].skippedFrames += 1
                }
            } else {
                guard queue.start < slowest, isOld(entry.timestamp) else { return }
            }
            queue.forget(before: entry.next)
        }
    }

    private func isOld(_ time: MediaTime) -> Bool {
        guard let end = reference.endOfOutput else { return true }
        return isForgotten(time, age: Int(end.distance(from: time)))
    }
}
